//! A scripted language model behind an OpenAI-compatible `chat/completions`: it plays queued replies in order and records what it saw.

mod reply;
mod seen;
mod wire;

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::HeaderMap,
    middleware::from_fn_with_state,
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    faults::{self, Faults},
    model::wire::Call,
    server::{Port, Server},
};

pub use reply::Reply;
pub use seen::Seen;

/// How long [`Model::wait_for_calls`] waits: longer than any call of a working run, short enough for a test report.
const PATIENCE: Duration = Duration::from_mins(3);

/// A handle to one scripted model; its port closes when the last handle is dropped.
#[derive(Clone)]
pub struct Model {
    stage: Arc<Stage>,
    server: Arc<Server>,
}

/// What the handles and the request handler share.
pub(crate) struct Stage {
    play: Mutex<Play>,
    calls: watch::Sender<usize>,
}

#[derive(Default)]
struct Play {
    script: VecDeque<Reply>,
    seen: Vec<Seen>,
    unscripted: usize,
    key: Option<String>,
    aside: Option<String>,
    asides: Vec<Seen>,
}

impl Model {
    /// Starts a model with an empty script on a free loopback port.
    #[expect(clippy::expect_used, reason = "without a free loopback port nothing can be simulated")]
    pub async fn start() -> Self {
        Self::start_with(Faults::default()).await.expect("a loopback port can be opened")
    }

    /// Starts a model whose route these faults strike too.
    pub(crate) async fn start_with(faults: Faults) -> io::Result<Self> {
        let stage = Arc::new(Stage { play: Mutex::default(), calls: watch::Sender::new(0) });
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/models", get(list))
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn_with_state(faults, faults::inject))
            .with_state(Arc::clone(&stage));
        let server = Arc::new(Port::open(0).await?.serve(router));
        Ok(Self { stage, server })
    }

    /// The loopback port, the only one that an engine under test needs to reach.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// The base URL that an OpenAI-compatible client is given.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port())
    }

    /// The OpenCode configuration under which the engine's only model is this one.
    ///
    /// Title agent, sharing, snapshots and updates are off, so that every call is one of the script.
    pub fn provider(&self) -> Value {
        json!({
            "model": "scripted/m1",
            "enabled_providers": ["scripted"],
            "autoupdate": false,
            "share": "disabled",
            "snapshot": false,
            "agent": { "title": { "disable": true } },
            "provider": { "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Scripted",
                "options": { "baseURL": self.base_url(), "apiKey": "sk-scripted" },
                "models": { "m1": {
                    "name": "M1",
                    "attachment": true,
                    "tool_call": true,
                    "limit": { "context": 100_000, "output": 8_000 },
                    "cost": { "input": 1, "output": 2, "cache_read": 0.5, "cache_write": 0 },
                    "modalities": { "input": ["text", "image", "pdf"], "output": ["text"] },
                } },
            } },
        })
    }

    /// Queues a plain text answer.
    pub fn says(&self, text: impl Into<String>) {
        self.plays(Reply::text(text));
    }

    /// Queues one tool call.
    pub fn calls(&self, tool: &str, arguments: Value) {
        self.plays(Reply::tool(tool, arguments));
    }

    /// Queues a reply; each call that arrives takes the oldest one.
    pub fn plays(&self, reply: Reply) {
        self.stage.play().script.push_back(reply);
    }

    /// Refuses every call from now on whose bearer token is another one.
    pub fn accepts_only(&self, key: &str) {
        self.stage.play().key = Some(key.to_owned());
    }

    /// Answers calls that belong to no session by this text from now on: they take nothing from the script, and are
    /// recorded apart.
    pub fn answers_aside(&self, text: &str) {
        self.stage.play().aside = Some(text.to_owned());
    }

    /// Every call so far that was answered aside.
    pub fn asides(&self) -> Vec<Seen> {
        self.stage.play().asides.clone()
    }

    /// Every call so far, in order of arrival.
    pub fn seen(&self) -> Vec<Seen> {
        self.stage.play().seen.clone()
    }

    /// How many queued replies nobody asked for yet.
    pub fn unplayed(&self) -> usize {
        self.stage.play().script.len()
    }

    /// How many calls came when the script was empty; each was answered 500.
    pub fn unscripted(&self) -> usize {
        self.stage.play().unscripted
    }

    /// Returns once the model has been called `n` times in all.
    ///
    /// Panics after three minutes, with the calls that did come, so that a test which waits for nothing ends readably.
    pub async fn wait_for_calls(&self, n: usize) {
        let mut calls = self.stage.calls.subscribe();
        let waited = tokio::time::timeout(PATIENCE, calls.wait_for(|made| *made >= n)).await;
        assert!(
            waited.is_ok(),
            "the model was called {} times instead of {n}:\n{}",
            self.seen().len(),
            self.seen().iter().map(Seen::render).collect::<Vec<_>>().join("\n\n"),
        );
    }
}

impl Stage {
    /// Locks the play. One that a panicking closure left behind is still the truth about what was seen.
    fn play(&self) -> MutexGuard<'_, Play> {
        self.play.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a call that belongs to no session, if such are answered aside, and returns the answer.
    fn aside(&self, seen: &Seen) -> Option<String> {
        let mut play = self.play();
        let text = play.aside.clone().filter(|_| seen.session.is_none())?;
        play.asides.push(seen.clone());
        Some(text)
    }

    /// Records a call, and returns which one it is with the reply that the script has for it.
    fn note(&self, seen: &Seen) -> (usize, Option<Reply>) {
        let mut play = self.play();
        play.seen.push(seen.clone());
        let reply = play.script.pop_front();
        play.unscripted += usize::from(reply.is_none());
        let number = play.seen.len();
        self.calls.send_replace(number);
        (number, reply)
    }
}

/// Lists the one model, to whoever has the key.
async fn list(State(stage): State<Arc<Stage>>, headers: HeaderMap) -> Response {
    let seen = Seen::new(&headers, &Bytes::new());
    if stage.play().key.as_ref().is_some_and(|key| seen.key.as_ref() != Some(key)) {
        return wire::send(Reply::wrong_key(), &Call::note(&seen, 0));
    }
    Json(json!({ "object": "list", "data": [{ "id": "m1", "object": "model" }] })).into_response()
}

async fn complete(State(stage): State<Arc<Stage>>, headers: HeaderMap, body: Bytes) -> Response {
    let seen = Seen::new(&headers, &body);
    if stage.play().key.as_ref().is_some_and(|key| seen.key.as_ref() != Some(key)) {
        return wire::send(Reply::wrong_key(), &Call::note(&seen, 0));
    }
    if let Some(text) = stage.aside(&seen) {
        return wire::send(Reply::text(text), &Call::note(&seen, 0));
    }
    let (number, scripted) = stage.note(&seen);
    // Not under the stage's lock: a computed reply may itself ask the model what it has seen.
    let reply = scripted.map_or_else(Reply::unscripted, |reply| reply.resolved(&seen));
    wire::send(reply, &Call::note(&seen, number))
}
