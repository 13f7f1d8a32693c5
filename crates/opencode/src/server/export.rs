//! A whole session in the pieces that a share host takes.

use std::collections::BTreeSet;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    error::Error,
    server::{
        Connection,
        client::{EngineClient, LARGEST_SESSION, Session, json},
    },
    wire::Providers,
};

#[derive(Deserialize)]
struct ExportedSession {
    info: Value,
    parts: Vec<Value>,
}

impl Connection {
    /// Returns a session as the engine itself would share it: the session, its messages and their parts, what it
    /// changed, and the models that were asked.
    pub async fn export(&self, session: &Session) -> Result<Vec<Value>, Error> {
        let client = self.client();
        let path = format!("/session/{}", session.id);
        let info: Value = client.fetch(&path, session, "show a session").await?;
        let diff: Value =
            client.fetch(&format!("{path}/diff"), session, "show what a session changed").await?;
        let messages: Vec<ExportedSession> =
            client.fetch(&format!("{path}/message"), session, "show its messages").await?;
        let models = client.models_asked(session, &messages).await?;
        let item = |kind: &str, data: Value| json!({ "type": kind, "data": data });
        let mut items = vec![item("session", info)];
        for ExportedSession { info, parts } in messages {
            items.push(item("message", info));
            items.extend(parts.into_iter().map(|part| item("part", part)));
        }
        items.extend([item("session_diff", diff), item("model", models.into())]);
        Ok(items)
    }
}

impl EngineClient {
    async fn fetch<T: DeserializeOwned>(
        &self,
        path: &str,
        session: &Session,
        deed: &'static str,
    ) -> Result<T, Error> {
        let request = self.client.get(self.there(path, &session.directory)).at_most(LARGEST_SESSION);
        json(self.send(request).await, deed)
    }

    /// Returns the models that the messages were for.
    async fn models_asked(
        &self,
        session: &Session,
        messages: &[ExportedSession],
    ) -> Result<Vec<Value>, Error> {
        let name = |message: &ExportedSession| {
            let model = message.info.get("model")?;
            Some((model.get("providerID")?.as_str()?.to_owned(), model.get("modelID")?.as_str()?.to_owned()))
        };
        let asked: BTreeSet<_> = messages.iter().filter_map(name).collect();
        let known: Providers = self.fetch("/config/providers", session, "list its models").await?;
        let model = |(provider, model): &(String, String)| {
            known.providers.iter().find(|known| known.id == *provider)?.models.get(model).cloned()
        };
        Ok(asked.iter().filter_map(model).collect())
    }
}
