//! The broker itself: a unix socket that passes `gh`'s questions on with the token, and writes down every call.

mod take_over;

use std::{
    collections::BTreeSet,
    fmt, io,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use bytes::Bytes;
use fro_core::{RepoName, Secret};
use fro_http::{Client, Incoming as Answer};
use hyper::{
    Request, Response,
    body::Incoming,
    header::{HOST, HeaderValue, LINK},
};
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    accept::SocketListener,
    audit::Audit,
    echo::Needles,
    gh::{
        answer::{leave_public, prune},
        archive,
        deed::Deeds,
        graphql::GraphqlQuestion,
        known_ids::KnownIds,
        policy::{GhRefusal, GhRequest, GhScope, Kind, PassedRequest, decide, is_github_s_own},
    },
    intake::Intake,
    serve::{Body, Passing, respond_with, send_back, serve, stream_back},
};

/// The largest request of a client that only asks.
const LARGEST: usize = 1 << 20;

/// How much of all requests is in memory at once.
const AT_ONCE: usize = 16 << 20;

/// The longest answer in JSON, which is read before it is passed on.
const LONGEST_JSON: usize = 32 << 20;

/// The longest other answer: a diff, a file, a log.
const LONGEST: usize = 64 << 20;

/// What a request may say besides its body; others could override its method or its credential.
const PASSED: [&str; 6] =
    ["accept", "content-type", "graphql-features", "if-none-match", "user-agent", "x-github-api-version"];

const RETURNED: [&str; 9] = [
    "content-type",
    "etag",
    "link",
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
    /// What else must not be in an answer, such as a log that tells it.
    pub secrets: Vec<Secret>,
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
    shared: Arc<BrokerState>,
    _accepting: AbortOnDropHandle<()>,
}

struct BrokerState {
    upstream: Upstream,
    client: Client,
    deeds: Deeds,
    known_ids: KnownIds,
    /// The repository's number, once it was needed.
    id: OnceLock<u64>,
    without: Needles,
    intake: Intake,
    audit: Audit,
    passed: AtomicU32,
    done: AtomicU32,
    refused: AtomicU32,
}

impl GhBroker {
    /// Opens the socket, which must not lie where the engine can write.
    pub fn open(socket: &Path, upstream: Upstream, client: Client, deeds: Deeds) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let [passed, done, refused] = [0; 3].map(AtomicU32::new);
        let without = Needles::learn(upstream.secrets.iter().chain([&upstream.token]));
        let shared = Arc::new(BrokerState {
            upstream,
            client,
            deeds,
            known_ids: KnownIds::default(),
            id: OnceLock::new(),
            without,
            intake: Intake::new(LARGEST, AT_ONCE),
            audit: Audit::new("gh"),
            passed,
            done,
            refused,
        });
        let answering = Arc::clone(&shared);
        let accepting = tokio::spawn(serve(SocketListener::Unix(listener), move |request| {
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
        let BrokerState { passed, done, refused, .. } = &*self.shared;
        GhCalls { passed: count(passed), done: count(done), refused: count(refused) }
    }
}

impl BrokerState {
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
            Err(GhFailure::Refused(refusal)) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                (excuse(refused_with, &refusal.to_string()), format!("refused: {refusal}"))
            }
            Err(failure @ (GhFailure::Upstream(_) | GhFailure::Encoded)) => {
                (excuse(502, &failure.to_string()), failure.to_string())
            }
        };
        self.audit.note(&format!("{line}: {what}"));
        response
    }

    async fn pass_on(&self, request: Request<Incoming>) -> Result<Answered<'_>, GhFailure> {
        let (head, body) = request.into_parts();
        let body = self.intake.take(body).await;
        let (body, _room) = body.map_err(|_| GhRefusal::Unclear("the body is too large"))?;
        let id = if head.uri.path().contains("/repositories/") { self.own_id().await } else { None };
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(HOST.as_str()).unwrap_or_default();
        let (path, query) = (head.uri.path(), head.uri.query());
        let asked = GhRequest { method: head.method.as_str(), host, path, query, body: &body };
        let Upstream { server, repo, api, graphql, token, .. } = &self.upstream;
        let (request, what, kind) =
            match decide(&asked, GhScope { server, repo, id, known_ids: &self.known_ids })? {
                PassedRequest::Deed(wish) => return self.take_over(&wish).await,
                PassedRequest::Rest(target, kind) => (
                    self.client.get(format!("{}{target}", api.trim_end_matches('/'))),
                    target,
                    Heard::Rest(kind),
                ),
                PassedRequest::GraphQl(GraphqlQuestion { body, asks, beyond }) => (
                    self.client.post(graphql).body(Bytes::from(body.to_string())),
                    asks,
                    Heard::GraphQl(beyond),
                ),
            };
        let said = PASSED.iter().filter_map(|name| Some((name, text(name)?)));
        let request = said.fold(request, |request, (name, value)| request.header(name, value));
        let answer = request.bearer(token).relay().await?;
        Ok((self.pass_back(answer, kind).await?, what, &self.passed))
    }
}

/// What is known of an answer before it comes.
enum Heard {
    Rest(Kind),
    GraphQl(BTreeSet<String>),
}

impl BrokerState {
    async fn pass_back(&self, answer: Answer, heard: Heard) -> Result<Response<Body>, GhFailure> {
        if answer.header("content-encoding").is_some_and(|encoding| encoding != "identity") {
            return Err(GhFailure::Encoded);
        }
        let to_elsewhere = (300..400).contains(&answer.status()).then(|| answer.header("location")).flatten();
        let mut response = match (to_elsewhere.map(str::to_owned), &heard) {
            (Some(place), Heard::Rest(Kind::Log)) => self.log(&place).await?,
            _ if answer.header("content-type").is_some_and(is_json) => self.json(answer, &heard).await?,
            _ => stream_back(answer, self.passing(LONGEST), |_| {}),
        };
        // The next page is asked of the API as `gh` knows it.
        let next = response.headers().get(LINK).and_then(|links| links.to_str().ok());
        let next =
            next.map(|links| links.replace(self.upstream.api.trim_end_matches('/'), &self.public_api()));
        if let Some(next) = next.and_then(|links| HeaderValue::try_from(links).ok()) {
            response.headers_mut().insert(LINK, next);
        }
        Ok(response)
    }

    /// Reads an answer to its end, prunes it, and learns the ids of what lies here.
    async fn json(&self, answer: Answer, heard: &Heard) -> Result<Response<Body>, GhFailure> {
        let (mut bytes, answer) = to_the_end(answer, LONGEST_JSON).await?;
        if let Ok(mut said) = serde_json::from_slice::<Value>(&bytes) {
            match heard {
                Heard::GraphQl(beyond) => self.known_ids.learn(&said, beyond),
                Heard::Rest(kind) => {
                    if *kind == Kind::Owner {
                        leave_public(&mut said);
                    }
                    if prune(&mut said, &self.upstream.repo) || *kind == Kind::Owner {
                        bytes = said.to_string().into_bytes();
                    }
                    bytes = self.as_gh_knows_it(bytes);
                    if *kind == Kind::Things {
                        self.known_ids.learn_things(&said);
                    }
                }
            }
        }
        Ok(send_back(&answer, &self.passing(LONGEST_JSON), &bytes))
    }

    /// Fetches a log from where GitHub says that it is, without the token.
    async fn log(&self, place: &str) -> Result<Response<Body>, GhFailure> {
        let is_covered = place.starts_with("https://") || self.upstream.api.starts_with("http://");
        if !is_covered {
            return Err(GhRefusal::Unclear("GitHub keeps the log where nobody should look").into());
        }
        let answer = self.client.get(place).relay().await?;
        if answer.header("content-encoding").is_some_and(|encoding| encoding != "identity") {
            return Err(GhFailure::Encoded);
        }
        let passing = Passing { headers: &["content-type"], ..self.passing(LONGEST) };
        let (bytes, answer) = to_the_end(answer, LONGEST).await?;
        if !archive::is_archive(&bytes) {
            return Ok(send_back(&answer, &passing, &bytes));
        }
        let clean = archive::clean(&bytes, &self.without, LONGEST);
        let clean = clean.map_err(|_| GhRefusal::Unclear("the archive of logs cannot be read"))?;
        Ok(send_back(&answer, &passing, &clean))
    }

    /// Names the API in an answer as `gh` knows it: `gh run view` asks for jobs at the address that their run tells.
    fn as_gh_knows_it(&self, bytes: Vec<u8>) -> Vec<u8> {
        let (api, public) = (self.upstream.api.trim_end_matches('/'), self.public_api());
        match String::from_utf8(bytes) {
            Ok(text) if api != public => {
                text.replace(&format!("\"{api}/"), &format!("\"{public}/")).into_bytes()
            }
            Ok(text) => text.into_bytes(),
            Err(other) => other.into_bytes(),
        }
    }

    fn passing(&self, most: usize) -> Passing {
        Passing { headers: &RETURNED, without: self.without.clone(), most }
    }

    /// Returns the API as `gh` knows it.
    fn public_api(&self) -> String {
        let server = &self.upstream.server;
        if is_github_s_own(server) {
            format!("https://api.{server}")
        } else {
            format!("https://{server}/api/v3")
        }
    }

    /// Asks GitHub for the repository's number, once.
    async fn own_id(&self) -> Option<u64> {
        if let Some(id) = self.id.get() {
            return Some(*id);
        }
        let url = format!("{}/repos/{}", self.upstream.api.trim_end_matches('/'), self.upstream.repo);
        let answer = self.client.get(url).bearer(&self.upstream.token).relay().await.ok()?;
        let bytes = to_the_end(answer, LARGEST).await.ok()?.0;
        let id = serde_json::from_slice::<Value>(&bytes).ok()?["id"].as_u64()?;
        Some(*self.id.get_or_init(|| id))
    }
}

/// Reads an answer to its end, if that is not too far.
async fn to_the_end(mut answer: Answer, most: usize) -> Result<(Vec<u8>, Answer), GhFailure> {
    let mut bytes = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > most {
            return Err(GhRefusal::Unclear("GitHub says too much of it").into());
        }
    }
    Ok((bytes, answer))
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind.ends_with("/json") || kind.ends_with("+json")
}

/// Says why not, in a form that `gh` shows.
fn excuse(status: u16, what: &str) -> Response<Body> {
    let message = format!("fro-bot: {what}");
    respond_with(
        status,
        &json!({ "message": message, "errors": [{ "type": "FORBIDDEN", "message": message }] }),
    )
}

/// An answer, what it is for the log, and where it counts.
type Answered<'a> = (Response<Body>, String, &'a AtomicU32);

/// Why there is no answer of GitHub's.
#[derive(Debug, thiserror::Error)]
enum GhFailure {
    #[error(transparent)]
    Refused(#[from] GhRefusal),
    #[error(transparent)]
    Upstream(#[from] fro_http::Error),
    /// The token could be in it unseen.
    #[error("GitHub answers in an encoding that it was not asked for")]
    Encoded,
}
