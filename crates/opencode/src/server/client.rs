//! The routes of the engine's HTTP interface that we use.
//!
//! Most of it is per folder, and a request without the right one meets another instance: permissions are not found there,
//! sessions look idle. So everything here takes the folder, or the session that knows it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use data_encoding::BASE64;
use fro_core::{
    Secret,
    conversation::heard::{Ask, AskKind},
};
use fro_http::{Answer, Client, ClientSettings, Incoming, Request, Retry};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::{
    error::Error,
    people::HumanReply,
    wire::{self, Agent, Health, Providers, SessionInfo},
};

/// The name that the engine expects beside its password.
const USER: &str = "opencode";

/// How long an answer may take. The first request of a folder loads its plugins.
const PATIENCE: Duration = Duration::from_mins(2);

/// The pause before a question is asked again whose connection broke.
const AGAIN: Duration = Duration::from_millis(100);

/// Bytes of an answer. The engine is the agent's: it may say whatever it likes, as long as it likes.
const LARGEST: usize = 16 << 20;

/// Bytes of a session, which may be long, with the outputs of all its tools and the files that came with it.
pub(super) const LARGEST_SESSION: usize = 64 << 20;

/// What the model is told when it asks for something that only a person could allow.
const REFUSED: &str = "Somebody who decides here said no, or nobody said anything in time. Go on without it.";
const NOBODY: &str = "Nobody is here to allow this. Go on without it.";

/// A session and the folder it works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The engine's id of it.
    pub id: String,
    /// Its folder.
    pub directory: PathBuf,
}

/// What is said to the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The words.
    pub text: String,
    /// What goes with them.
    pub files: Vec<File>,
    /// The exact name of a primary agent; the engine's default one otherwise.
    pub agent: Option<String>,
    /// A model; the agent's own otherwise.
    pub model: Option<ModelName>,
}

impl Message {
    /// Says this to the default agent with its own model.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), files: Vec::new(), agent: None, model: None }
    }
}

/// A file that is shown to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What the words call it.
    pub name: String,
    /// Its type. The engine takes images, PDF and plain text.
    pub mime: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl File {
    fn part(&self) -> Value {
        let url = format!("data:{};base64,{}", self.mime, BASE64.encode(&self.bytes));
        json!({ "type": "file", "mime": self.mime, "filename": self.name, "url": url })
    }
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    /// The provider's id.
    pub provider: String,
    /// The model's id; it may have slashes in it.
    pub model: String,
}

impl ModelName {
    /// Reads `provider/model`.
    pub fn parse(name: &str) -> Option<Self> {
        let (provider, model) = name.split_once('/')?;
        let whole = !provider.is_empty() && !model.is_empty();
        whole.then(|| Self { provider: provider.to_owned(), model: model.to_owned() })
    }
}

/// Speaks with one server. Clones share their connections.
#[derive(Debug, Clone)]
pub(crate) struct EngineClient {
    pub(super) client: Client,
    /// For what is asked in a loop anyway: a server that starts is not there yet, and that is no news.
    once: Client,
    base: String,
    password: Secret,
    directories: Arc<Mutex<HashSet<PathBuf>>>,
    agents: Asked<Agent>,
    models: Asked<ModelName>,
}

/// What was asked for, of each folder. An engine's configuration does not change, so it is asked once.
type Asked<T> = Arc<Mutex<HashMap<PathBuf, Vec<T>>>>;

impl EngineClient {
    pub(crate) fn new(port: u16, password: Secret) -> Result<Self, Error> {
        let retry = Retry { failing: vec![AGAIN; 2], ..Retry::never() };
        let settings = ClientSettings { timeout: PATIENCE, max_body: LARGEST, ..ClientSettings::loopback() };
        let once = Client::new(settings.clone())?;
        let client = Client::new(ClientSettings { retry, ..settings })?;
        let base = format!("http://127.0.0.1:{port}");
        let (directories, agents, models) = (Arc::default(), Arc::default(), Arc::default());
        Ok(Self { client, once, base, password, directories, agents, models })
    }

    /// Every folder that something was said in.
    pub(crate) fn directories(&self) -> HashSet<PathBuf> {
        self.directories.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) async fn health(&self, patience: Duration) -> Result<String, Error> {
        let request = self.once.get(format!("{}/global/health", self.base)).timeout(patience);
        let health: Health = json(self.send(request).await, "tell its version")?;
        Ok(health.version)
    }

    pub(crate) async fn listen(&self) -> Result<Incoming, Error> {
        let request = self.once.get(format!("{}/global/event", self.base)).basic(USER, &self.password);
        request.stream().await.map_err(|source| Error::Engine { deed: "open its stream of events", source })
    }

    /// Lists the agents of a folder.
    pub(crate) async fn agents(&self, directory: &Path) -> Result<Vec<Agent>, Error> {
        once(&self.agents, directory, async {
            let request = self.client.get(self.there("/agent", directory));
            json(self.send(request).await, "list its agents")
        })
        .await
    }

    /// Lists the models of a folder.
    pub(crate) async fn models(&self, directory: &Path) -> Result<Vec<ModelName>, Error> {
        once(&self.models, directory, async {
            let request = self.client.get(self.there("/config/providers", directory));
            let known: Providers = json(self.send(request).await, "list its models")?;
            Ok(known.names().collect())
        })
        .await
    }

    /// Lets the engine start the servers of tools of a folder, and returns when all have answered or failed.
    pub(crate) async fn start_tools(&self, directory: &Path) -> Result<(), Error> {
        let answer = self.send(self.client.get(self.there("/mcp", directory))).await;
        answer.map(drop).map_err(|source| Error::Engine { deed: "start its servers of tools", source })
    }

    pub(crate) async fn create_session(&self, directory: &Path, title: &str) -> Result<Session, Error> {
        let request = self.client.post(self.there("/session", directory)).json(&json!({ "title": title }));
        let info: SessionInfo = json(self.send(request).await, "begin a session")?;
        Ok(Session { id: info.id, directory: directory.to_owned() })
    }

    pub(crate) async fn fork(&self, session: &Session) -> Result<Session, Error> {
        let path = format!("/session/{}/fork", session.id);
        let request = self.client.post(self.there(&path, &session.directory)).json(&json!({}));
        let info: SessionInfo = json(self.send(request).await, "copy a session")?;
        Ok(Session { id: info.id, directory: session.directory.clone() })
    }

    pub(crate) async fn prompt(&self, session: &Session, message: &Message) -> Result<(), Error> {
        let words = json!({ "type": "text", "text": message.text });
        let parts: Vec<Value> = std::iter::once(words).chain(message.files.iter().map(File::part)).collect();
        let mut body = json!({ "parts": parts });
        if let Some(agent) = &message.agent {
            body["agent"] = json!(agent);
        }
        if let Some(ModelName { provider, model }) = &message.model {
            body["model"] = json!({ "providerID": provider, "modelID": model });
        }
        self.directories.lock().unwrap_or_else(PoisonError::into_inner).insert(session.directory.clone());
        let path = format!("/session/{}/prompt_async", session.id);
        self.post(&path, &session.directory, &body, "take the prompt").await
    }

    pub(crate) async fn note(&self, session: &Session, text: &str) -> Result<(), Error> {
        let body = json!({ "noReply": true, "parts": [{ "type": "text", "text": text }] });
        let path = format!("/session/{}/prompt_async", session.id);
        self.post(&path, &session.directory, &body, "take the note").await
    }

    /// Marks a session as one that is not continued.
    pub(crate) async fn close_session(&self, session: &Session) -> Result<(), Error> {
        let url = self.there(&format!("/session/{}", session.id), &session.directory);
        let body = json!({ "time": { "archived": Timestamp::now().as_millisecond() } });
        let answer = self.send(self.client.patch(url).json(&body)).await;
        answer.map(drop).map_err(|source| Error::Engine { deed: "put a session away", source })
    }

    pub(crate) async fn abort(&self, session: &Session) -> Result<(), Error> {
        let path = format!("/session/{}/abort", session.id);
        self.post(&path, &session.directory, &json!({}), "abort the session").await
    }

    /// Turns down a request for which nobody is there. With a reason the model goes on; a question can only be dismissed.
    pub(crate) async fn refuse(&self, directory: &Path, ask: &Ask) -> Result<(), Error> {
        let (path, body) = match ask.kind {
            AskKind::Permission => {
                (format!("/permission/{}/reply", ask.id), json!({ "reply": "reject", "message": NOBODY }))
            }
            AskKind::Question => (format!("/question/{}/reject", ask.id), json!({})),
        };
        self.post(&path, directory, &body, "take the refusal").await
    }

    /// Takes people's word to what asked for it. What does not answer the request is a no.
    pub(crate) async fn answer(&self, directory: &Path, ask: &Ask, word: HumanReply) -> Result<(), Error> {
        let (path, body) = match (ask.kind, word) {
            (AskKind::Permission, HumanReply::Once) => ("permission", json!({ "reply": "once" })),
            (AskKind::Permission, HumanReply::Always) => ("permission", json!({ "reply": "always" })),
            (AskKind::Permission, HumanReply::No | HumanReply::Chosen(_)) => {
                ("permission", json!({ "reply": "reject", "message": REFUSED }))
            }
            (AskKind::Question, HumanReply::Chosen(choice)) => ("question", json!({ "answers": [[choice]] })),
            (AskKind::Question, HumanReply::Once | HumanReply::Always | HumanReply::No) => {
                return self.refuse(directory, ask).await;
            }
        };
        self.post(&format!("/{path}/{}/reply", ask.id), directory, &body, "take an answer").await
    }

    pub(crate) async fn messages(&self, session: &Session) -> Result<Vec<wire::WireMessage>, Error> {
        json(self.said_in(session).await, "show its messages")
    }

    /// Removes the files that came with a session's messages, and what the engine wrote out of them.
    pub(crate) async fn forget_files(&self, session: &Session) -> Result<(), Error> {
        let messages: Vec<wire::WithFiles> = json(self.said_in(session).await, "show its messages")?;
        for (message, part) in messages.iter().flat_map(wire::WithFiles::of_files) {
            let path = format!("/session/{}/message/{message}/part/{part}", session.id);
            let deleted = self.send(self.client.delete(self.there(&path, &session.directory))).await;
            deleted.map_err(|source| Error::Engine { deed: "forget a file", source })?;
        }
        Ok(())
    }

    /// Returns the sessions of a folder that work or wait.
    pub(crate) async fn busy(&self, directory: &Path) -> Result<Vec<Session>, Error> {
        let request = self.client.get(self.there("/session/status", directory));
        #[expect(
            clippy::zero_sized_map_values,
            reason = "the engine sends a map, of which the keys are wanted"
        )]
        let busy: BTreeMap<String, IgnoredAny> = json(self.send(request).await, "tell its status")?;
        Ok(busy.into_keys().map(|id| Session { id, directory: directory.to_owned() }).collect())
    }

    /// Returns everything in a folder that waits for a person, with the session that asked.
    pub(crate) async fn asked(&self, directory: &Path) -> Vec<(String, Ask)> {
        let mut asked = Vec::new();
        for (path, kind) in [("/permission", AskKind::Permission), ("/question", AskKind::Question)] {
            let answer = self.send(self.client.get(self.there(path, directory))).await;
            // The list of permissions is broken while a web request waits in it. The events tell of them all the same.
            let waiting: Vec<wire::Request> = json(answer, "list what waits").unwrap_or_default();
            asked.extend(waiting.into_iter().map(|request| (request.session.clone(), request.ask(kind))));
        }
        asked
    }

    async fn said_in(&self, session: &Session) -> Result<Answer, fro_http::Error> {
        let path = format!("/session/{}/message", session.id);
        let request = self.client.get(self.there(&path, &session.directory));
        self.send(request.at_most(LARGEST_SESSION)).await
    }

    async fn post(
        &self,
        path: &str,
        directory: &Path,
        body: &Value,
        deed: &'static str,
    ) -> Result<(), Error> {
        let request = self.client.post(self.there(path, directory)).json(body);
        self.send(request).await.map(drop).map_err(|source| Error::Engine { deed, source })
    }

    pub(super) async fn send(&self, request: Request) -> Result<Answer, fro_http::Error> {
        request.basic(USER, &self.password).send().await
    }

    pub(super) fn there(&self, path: &str, directory: &Path) -> String {
        format!("{}{path}?directory={}", self.base, escaped(directory))
    }
}

pub(super) fn json<T: serde::de::DeserializeOwned>(
    answer: Result<Answer, fro_http::Error>,
    deed: &'static str,
) -> Result<T, Error> {
    answer.and_then(|answer| answer.json()).map_err(|source| Error::Engine { deed, source })
}

/// Asks for something of a folder, unless it is known already.
async fn once<T: Clone>(
    known: &Asked<T>,
    directory: &Path,
    ask: impl Future<Output = Result<Vec<T>, Error>>,
) -> Result<Vec<T>, Error> {
    let earlier = known.lock().unwrap_or_else(PoisonError::into_inner).get(directory).cloned();
    if let Some(earlier) = earlier {
        return Ok(earlier);
    }
    let answer = ask.await?;
    known.lock().unwrap_or_else(PoisonError::into_inner).insert(directory.to_owned(), answer.clone());
    Ok(answer)
}

/// What may stand in a query as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn escaped(path: &Path) -> String {
    percent_encode(path.as_os_str().as_encoded_bytes(), PLAIN).to_string()
}

#[cfg(test)]
mod tests {
    use std::{
        error::Error as _,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// Answers everything with lists in a list, up to 256 MiB, and counts what is taken of them.
    async fn talkative(taken: Arc<AtomicUsize>) -> EngineClient {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let piece = "[],".repeat(1 << 18);
            while let Ok((mut stream, _)) = listener.accept().await {
                drop(stream.read(&mut [0; 4096]).await);
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n[";
                drop(stream.write_all(head.as_bytes()).await);
                while taken.load(Ordering::Relaxed) < 256 << 20
                    && stream.write_all(piece.as_bytes()).await.is_ok()
                {
                    taken.fetch_add(piece.len(), Ordering::Relaxed);
                }
            }
        });
        EngineClient::new(port, Secret::new("x".to_owned())).unwrap()
    }

    #[tokio::test]
    async fn an_engine_that_says_too_much_is_not_heard_to_the_end() {
        let taken = Arc::new(AtomicUsize::new(0));
        let engine = talkative(Arc::clone(&taken)).await;

        let refused = engine.busy(Path::new("/garden")).await.unwrap_err();

        assert_eq!(refused.to_string(), "the engine did not tell its status");
        let why = refused.source().unwrap().to_string();
        assert!(why.ends_with("the answer is larger than 16777216 bytes"), "{why}");
        let taken = taken.load(Ordering::Relaxed);
        assert!(taken < 48 << 20, "{} MiB were taken", taken >> 20);
    }

    #[test]
    fn a_folder_survives_the_query() {
        assert_eq!(escaped(Path::new("/my repos/50% ü&b")), "/my%20repos/50%25%20%C3%BC%26b");
    }

    #[test]
    fn a_model_may_have_slashes() {
        let name =
            |provider: &str, model: &str| Some(ModelName { provider: provider.into(), model: model.into() });
        assert_eq!(ModelName::parse("scripted/m1"), name("scripted", "m1"));
        assert_eq!(ModelName::parse("openrouter/meta/llama"), name("openrouter", "meta/llama"));
        assert_eq!(
            (ModelName::parse("m1"), ModelName::parse("/m1"), ModelName::parse("x/")),
            (None, None, None)
        );
    }
}
