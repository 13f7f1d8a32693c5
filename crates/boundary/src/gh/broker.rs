//! The broker itself: a unix socket that passes `gh`'s questions on with the token, and writes down every call.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use bytes::Bytes;
use fro_core::{RepoName, Secret};
use fro_http::Road;
use http_body_util::{BodyExt as _, Limited};
use hyper::{Request, Response, body::Incoming, header::HOST};
use serde_json::json;
use tokio::net::UnixListener;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    gh::policy::{Asked, Passed, Refusal, decide},
    serve::{Body, Listener, serve, stream_back, told},
};

/// The largest request of a client that only asks.
const LARGEST: usize = 1 << 20;

/// What a request may say besides its body; others could override its method or its credential.
const PASSED: [&str; 6] =
    ["accept", "content-type", "graphql-features", "if-none-match", "user-agent", "x-github-api-version"];

const RETURNED: [&str; 10] = [
    "content-type",
    "etag",
    "link",
    "location",
    "retry-after",
    "x-github-media-type",
    "x-github-request-id",
    "x-oauth-scopes",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
];

/// Where GitHub is, which repository the run is about, and what opens it.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// The REST API.
    pub api: String,
    /// The GraphQL API.
    pub graphql: String,
    /// The repository that may be read.
    pub repo: RepoName,
    /// What is sent in place of `gh`'s placeholder.
    pub token: Secret,
}

/// How often `gh` asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GhCalls {
    /// Requests that were passed on.
    pub passed: u32,
    /// Requests that were refused here.
    pub refused: u32,
}

/// A running broker; dropping it closes the socket and cuts every connection.
#[derive(Debug)]
pub struct GhBroker {
    socket: PathBuf,
    shared: Arc<Shared>,
    _accepting: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct Shared {
    upstream: Upstream,
    road: Road,
    passed: AtomicU32,
    refused: AtomicU32,
}

impl GhBroker {
    /// Opens the socket, which must not lie where the engine can write.
    pub fn open(socket: &Path, upstream: Upstream, road: Road) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let shared =
            Arc::new(Shared { upstream, road, passed: AtomicU32::new(0), refused: AtomicU32::new(0) });
        let answering = Arc::clone(&shared);
        let accepting = tokio::spawn(serve(Listener::Unix(listener), move |request| {
            let shared = Arc::clone(&answering);
            async move { shared.answer(request).await }
        }));
        Ok(Self { socket: socket.to_owned(), shared, _accepting: AbortOnDropHandle::new(accepting) })
    }

    /// Returns the socket's path.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Returns how often it was asked so far.
    pub fn calls(&self) -> GhCalls {
        let count = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        GhCalls { passed: count(&self.shared.passed), refused: count(&self.shared.refused) }
    }
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let line = format!("{} {}", request.method(), request.uri().path());
        let (response, what) = match self.pass_on(request).await {
            Ok((response, what)) => {
                self.passed.fetch_add(1, Ordering::Relaxed);
                (response, what)
            }
            Err(Failure::Refused(refusal)) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                (excuse(403, &refusal.to_string()), format!("refused: {refusal}"))
            }
            Err(Failure::Upstream(error)) => (excuse(502, &error.to_string()), error.to_string()),
        };
        tracing::info!(gh.status = response.status().as_u16(), "gh: {line}: {what}");
        response
    }

    async fn pass_on(&self, request: Request<Incoming>) -> Result<(Response<Body>, String), Failure> {
        let (head, body) = request.into_parts();
        let body = Limited::new(body, LARGEST).collect().await;
        let body = body.map_err(|_| Refusal::Unclear("the body is too large"))?.to_bytes();
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(HOST.as_str()).unwrap_or_default();
        let (path, query) = (head.uri.path(), head.uri.query());
        let asked = Asked { method: head.method.as_str(), host, path, query, body: &body };
        let passed = decide(&asked, &self.upstream.repo)?;
        let (request, what) = match passed {
            Passed::Rest(target) => {
                (self.road.get(format!("{}{target}", self.upstream.api.trim_end_matches('/'))), target)
            }
            Passed::GraphQl(body, asks) => {
                (self.road.post(&self.upstream.graphql).body(Bytes::from(body.to_string())), asks)
            }
        };
        let said = PASSED.iter().filter_map(|name| Some((name, text(name)?)));
        let request = said.fold(request, |request, (name, value)| request.header(name, value));
        let answer = request.bearer(&self.upstream.token).relay().await?;
        Ok((stream_back(answer, &RETURNED, |_| {}), what))
    }
}

/// Says why not, in a form that `gh` shows.
fn excuse(status: u16, what: &str) -> Response<Body> {
    let message = format!("fro-bot: {what}");
    told(status, &json!({ "message": message, "errors": [{ "type": "FORBIDDEN", "message": message }] }))
}

/// Why there is no answer of GitHub's.
enum Failure {
    Refused(Refusal),
    Upstream(fro_http::Error),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<fro_http::Error> for Failure {
    fn from(error: fro_http::Error) -> Self {
        Self::Upstream(error)
    }
}
