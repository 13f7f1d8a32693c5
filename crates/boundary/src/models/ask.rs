//! A question of the harness's own to one of the models: one turn without tools, counted like every other.

use std::time::Duration;

use fro_core::Bounded;
use serde_json::{Value, json};

use crate::models::{
    ModelProxy,
    dialect::Dialect,
    meter::{Arrival, Estimate, Listening},
    proxy::{ModelFailure, ProxyState},
    request::ModelRefusal,
};

/// How long an answer may take: somebody waits, and it is one word.
const PATIENCE: Duration = Duration::from_mins(1);

/// The most tokens that an answer may have where a provider wants to know: models that think need some for that.
const MOST_TOKENS: u32 = 2_048;

/// The largest answer that is read.
const LARGEST: usize = 1 << 20;

impl ModelProxy {
    /// Returns one of the models, by its name with the provider's.
    pub fn any_model(&self) -> String {
        let mut routes = self.shared.plan.routes.iter();
        let named = routes.find_map(|(id, route)| Some(format!("{id}/{}", route.models.first()?)));
        named.unwrap_or_default()
    }

    /// Asks a model, by its name with the provider's, what `task` says about `words`; the error says why it did not answer.
    pub async fn ask(&self, model: &str, task: &str, words: &str) -> Result<String, String> {
        self.shared.ask(model, task, words).await.map_err(|failure| failure.to_string())
    }
}

impl ProxyState {
    pub(super) async fn ask(&self, name: &str, task: &str, words: &str) -> Result<String, ModelFailure> {
        let unknown = || ModelRefusal::Model(Bounded::text(name, 100).value().to_owned());
        let (id, model) = name.split_once('/').ok_or_else(unknown)?;
        let route = self.plan.routes.get(id).ok_or_else(unknown)?;
        let (path, query, body) = turn(route.dialect, route.known_as(model), task, words);
        let body = body.to_string();
        let admitted = self.plan.admit(&format!("{id}/{path}"), query, body.as_bytes())?;
        let reservation = self.meter.reserve(Estimate::from_request(&admitted)).await;
        let reservation = reservation.map_err(|limit| ModelRefusal::Budget(limit.to_string()))?;
        let request = match route.dialect {
            Dialect::Messages => self.request(admitted).header("anthropic-version", "2023-06-01"),
            Dialect::Chat | Dialect::Responses | Dialect::Azure | Dialect::Google => self.request(admitted),
        };
        let answer = match request.timeout(PATIENCE).at_most(LARGEST).send().await {
            Ok(answer) => answer,
            Err(error) => {
                reservation.return_if_refused(&error);
                return Err(error.into());
            }
        };
        let mut listening = Listening::new(reservation, Arrival::Whole);
        listening.hear(answer.bytes());
        listening.hear(b"");
        Ok(said(&answer.json()?))
    }
}

/// Returns the path, the query and the body of a turn.
fn turn(dialect: Dialect, model: &str, task: &str, words: &str) -> (String, Option<&'static str>, Value) {
    let user = json!([{ "role": "user", "content": words }]);
    match dialect {
        Dialect::Chat => {
            let messages = json!([{ "role": "system", "content": task }, user[0]]);
            ("chat/completions".to_owned(), None, json!({ "model": model, "messages": messages }))
        }
        Dialect::Messages => {
            let body = json!({ "model": model, "system": task, "messages": user, "max_tokens": MOST_TOKENS });
            ("messages".to_owned(), None, body)
        }
        Dialect::Responses | Dialect::Azure => {
            let body = json!({ "model": model, "instructions": task, "input": words, "store": false });
            let query = (dialect == Dialect::Azure).then_some("api-version=v1");
            ("responses".to_owned(), query, body)
        }
        Dialect::Google => {
            let parts = |text: &str| json!({ "parts": [{ "text": text }] });
            let mut contents = parts(words);
            contents["role"] = json!("user");
            let body = json!({ "systemInstruction": parts(task), "contents": [contents] });
            (format!("models/{model}:generateContent"), None, body)
        }
    }
}

/// Returns the text of an answer, in whatever dialect; what the model thought is not what it said.
fn said(answer: &Value) -> String {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    if let Some(text) = answer.pointer("/choices/0/message/content").and_then(Value::as_str) {
        return text.to_owned();
    }
    let google = list(&answer["candidates"][0]["content"]["parts"]);
    let messages = list(&answer["content"]);
    let responses = list(&answer["output"]).into_iter().flat_map(|item| list(&item["content"]));
    let parts = google.into_iter().chain(messages).chain(responses);
    let spoken = parts.filter(|part| part["thought"] != true);
    spoken.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
}
