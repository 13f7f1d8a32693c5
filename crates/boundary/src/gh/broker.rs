//! The broker itself: a unix socket that passes `gh`'s questions on with the token, and writes down every call.

use std::{
    fmt, io,
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
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    audit::Audit,
    gh::{
        deed::{About, Deeds, Reply, Wish},
        policy::{Asked, Bounds, Passed, Refusal, decide},
        seen::Seen,
    },
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
    /// The host that people know GitHub by, such as `github.com`; `gh` takes its API's address from it.
    pub server: String,
    /// The repository that may be read.
    pub repo: RepoName,
    /// The issue, pull request or discussion that may be spoken on.
    pub subject: Option<u64>,
    /// What is sent in place of `gh`'s placeholder.
    pub token: Secret,
}

/// How often `gh` asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GhCalls {
    /// Requests that were passed on.
    pub passed: u32,
    /// Deeds that the harness took over.
    pub done: u32,
    /// Requests that were refused here.
    pub refused: u32,
}

impl fmt::Display for GhCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.passed, "passed"), (self.done, "taken over"), (self.refused, "refused")];
        let some = counts.iter().filter(|(count, _)| *count > 0);
        f.write_str(&some.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", "))
    }
}

/// A running broker; dropping it closes the socket and cuts every connection.
pub struct GhBroker {
    socket: PathBuf,
    shared: Arc<Shared>,
    _accepting: AbortOnDropHandle<()>,
}

struct Shared {
    upstream: Upstream,
    road: Road,
    deeds: Deeds,
    seen: Seen,
    audit: Audit,
    passed: AtomicU32,
    done: AtomicU32,
    refused: AtomicU32,
}

impl GhBroker {
    /// Opens the socket, which must not lie where the engine can write.
    pub fn open(socket: &Path, upstream: Upstream, road: Road, deeds: Deeds) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let [passed, done, refused] = [0; 3].map(AtomicU32::new);
        let shared = Arc::new(Shared {
            upstream,
            road,
            deeds,
            seen: Seen::default(),
            audit: Audit::of("gh"),
            passed,
            done,
            refused,
        });
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
        let Shared { passed, done, refused, .. } = &*self.shared;
        GhCalls { passed: count(passed), done: count(done), refused: count(refused) }
    }
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let line = format!("{} {}", request.method(), request.uri().path());
        // GraphQL says no with a yes, and `gh` shows the reason only then.
        let refused_with =
            if matches!(request.uri().path(), "/graphql" | "/api/graphql") { 200 } else { 403 };
        let (response, what) = match self.pass_on(request).await {
            Ok((response, what, counter)) => {
                counter.fetch_add(1, Ordering::Relaxed);
                (response, what)
            }
            Err(Failure::Refused(refusal)) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                (excuse(refused_with, &refusal.to_string()), format!("refused: {refusal}"))
            }
            Err(Failure::Upstream(error)) => (excuse(502, &error.to_string()), error.to_string()),
        };
        self.audit.note(&format!("{line}: {what}"));
        response
    }

    async fn pass_on(&self, request: Request<Incoming>) -> Result<Answered<'_>, Failure> {
        let (head, body) = request.into_parts();
        let body = Limited::new(body, LARGEST).collect().await;
        let body = body.map_err(|_| Refusal::Unclear("the body is too large"))?.to_bytes();
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(HOST.as_str()).unwrap_or_default();
        let (path, query) = (head.uri.path(), head.uri.query());
        let asked = Asked { method: head.method.as_str(), host, path, query, body: &body };
        let Upstream { server, repo, .. } = &self.upstream;
        let passed = decide(&asked, Bounds { server, repo, seen: &self.seen })?;
        let (request, what) = match passed {
            Passed::Deed(wish) => return self.take_over(&wish).await,
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
        let ear = self.seen.ear(answer.header("content-type").unwrap_or_default());
        Ok((stream_back(answer, &RETURNED, ear), what, &self.passed))
    }
}

impl Shared {
    /// Has the harness do what `gh` asks for, and answers in GitHub's place.
    async fn take_over(&self, wish: &Wish) -> Result<Answered<'_>, Failure> {
        self.see_what_it_is_about(&wish.about).await?;
        let done = (self.deeds)(wish.deed.clone()).await.map_err(Refusal::Undone)?;
        let status = match &wish.reply {
            Reply::Rest => 201,
            Reply::GraphQl(..) => 200,
        };
        Ok((told(status, &wish.answer(&done)), format!("taken over: {}", done.url), &self.done))
    }

    /// Refuses to speak on anything but the run's own subject.
    async fn see_what_it_is_about(&self, about: &About) -> Result<(), Failure> {
        let (repo, subject) = (&self.upstream.repo, self.upstream.subject);
        let own = subject.map_or("nothing that can be spoken on".to_owned(), |number| format!("#{number}"));
        let named = match about {
            About::Repository => return Ok(()),
            About::Number(number) => Some(*number),
            About::Node(id) => self.number_of(id, repo).await?,
        };
        match named {
            Some(_) if named == subject => Ok(()),
            _ => Err(Refusal::OtherSubject(own).into()),
        }
    }

    /// Asks GitHub which number something of this repository has.
    async fn number_of(&self, id: &str, repo: &RepoName) -> Result<Option<u64>, Failure> {
        let question = json!({ "query": include_str!("number.graphql"), "variables": { "id": id } });
        let request = self.road.post(&self.upstream.graphql).idempotent().json(&question);
        let mut answer = request.bearer(&self.upstream.token).relay().await?;
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > LARGEST {
                return Err(Refusal::Unclear("GitHub says too much of it").into());
            }
        }
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if answer["data"].is_null() {
            return Err(Refusal::Unclear("GitHub does not say what it is about").into());
        }
        let node = &answer["data"]["node"];
        let is_here = node["repository"]["nameWithOwner"].as_str() == Some(&repo.to_string());
        Ok(node["number"].as_u64().filter(|_| is_here))
    }
}

/// Says why not, in a form that `gh` shows.
fn excuse(status: u16, what: &str) -> Response<Body> {
    let message = format!("fro-bot: {what}");
    told(status, &json!({ "message": message, "errors": [{ "type": "FORBIDDEN", "message": message }] }))
}

/// An answer, what it is for the log, and where it counts.
type Answered<'a> = (Response<Body>, String, &'a AtomicU32);

/// Why there is no answer of GitHub's.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum Failure {
    Refused(#[from] Refusal),
    Upstream(#[from] fro_http::Error),
}
