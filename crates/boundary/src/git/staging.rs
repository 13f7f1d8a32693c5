//! The door to the store: git over HTTP on a loopback port, which the agent's git takes for GitHub.
//!
//! Fetches are served from the store. A push goes through the store's hook, and so to GitHub or nowhere.

use std::{
    ffi::{OsStr, OsString},
    io,
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use fro_core::{Fault, Redactor, RepoName, Secret};
use futures::future::BoxFuture;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderName, HeaderValue},
    http::request::Parts,
};
use tokio::{
    net::{TcpListener, UnixListener},
    sync::Semaphore,
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    accept::SocketListener,
    audit::Audit,
    confined::{Bounds, ConfinedTask, Confinement},
    git::{
        Git, GitError, Store,
        command::complaint,
        gatekeeper::{self, Gatekeeper, Record},
        rules::{BranchState, Rules},
        settings,
    },
    serve::{Body, serve},
    wall::{Address, Enclosure},
};

/// The largest push: more is no patch but a delivery.
const LARGEST: usize = 32 << 20;

/// Requests at a time; each may bring the largest push and take the largest answer, and both are held.
const AT_ONCE: usize = 4;

/// What git's server may use up: a push waits for GitHub, and a fetch may be of a large repository.
const BOUNDS: Bounds =
    Bounds { time: Duration::from_mins(5), memory: 4 << 30, file: 512 << 20, output: 512 << 20 };

/// Gets the credential for a push, at the moment that one is needed.
pub type Credential = Arc<dyn Fn() -> BoxFuture<'static, Result<Secret, Fault>> + Send + Sync>;

/// What became of one push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Push {
    /// The push passed and is on GitHub.
    Passed {
        /// The branch.
        branch: String,
        /// Its new commit.
        commit: String,
    },
    /// The push was refused, by the harness or by GitHub.
    Refused {
        /// Why.
        why: String,
    },
}

/// Whether the agent may push.
#[derive(Clone)]
pub enum Pushing {
    /// It may, by these rules and with this credential.
    Open {
        /// What may be pushed.
        rules: Rules,
        /// GitHub's address, the only one that is shown the credential.
        server: String,
        /// What opens GitHub.
        credential: Credential,
        /// Knows what must not be published.
        redactor: Arc<Redactor>,
    },
    /// Pushes are refused, for this reason.
    Closed(String),
}

/// The open door; dropping it closes the port and cuts every connection.
#[derive(Debug)]
pub struct Staging {
    address: SocketAddr,
    record: Record,
    _accepting: AbortOnDropHandle<()>,
    _deciding: Option<AbortOnDropHandle<()>>,
}

struct GitEndpoint {
    git: Git,
    project: PathBuf,
    hooks: PathBuf,
    /// What git's server reads besides the store: borrowed objects, and the hook with its program.
    read: Vec<PathBuf>,
    /// Where the hook asks.
    socket: PathBuf,
    record: Record,
    repo: RepoName,
    /// Why nothing may be pushed, if nothing may.
    closed: Option<String>,
    room: Semaphore,
    audit: Audit,
}

impl Store {
    /// Opens the door to the store. `hook` is the command line that leads to [`receive`](crate::receive).
    pub async fn open_door(
        &self,
        repo: &RepoName,
        hook: &[OsString],
        pushing: Pushing,
    ) -> Result<Staging, GitError> {
        let hooks = self.folder.path().join("hooks");
        let record = Record::default();
        let (closed, deciding) = match pushing {
            Pushing::Closed(why) => (Some(why), None),
            Pushing::Open { rules, server, credential, redactor } => {
                let reader = self.reader(self.folder.path().join("pushes"));
                let record = record.clone();
                let gatekeeper = Gatekeeper { reader, rules, server, credential, redactor, record };
                (None, Some(self.keep_gate(gatekeeper, &hooks, hook).await?))
            }
        };
        let ours = [
            ("receive", "fsckObjects", "true"),
            ("receive", "denyDeletes", "true"),
            ("receive", "denyNonFastForwards", "true"),
            ("receive", "maxInputSize", &LARGEST.to_string()),
            ("transfer", "hideRefs", "refs/fro-bot"),
        ];
        settings::add(&self.repository, &ours)?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(GitError::Start)?;
        let address = listener.local_addr().map_err(GitError::Start)?;
        let (git, project) = (self.git.clone(), self.folder.path().to_owned());
        let program = hook.first().map(PathBuf::from);
        let read = self.objects().into_iter().chain(git.prefix()).chain(program).chain([hooks.clone()]);
        let door = Arc::new(GitEndpoint {
            read: read.collect(),
            socket: self.socket(),
            git,
            project,
            hooks,
            record: record.clone(),
            repo: repo.clone(),
            closed,
            room: Semaphore::new(AT_ONCE),
            audit: Audit::new("git"),
        });
        let accepting = tokio::spawn(serve(SocketListener::Tcp(listener), move |request| {
            let door = Arc::clone(&door);
            async move { door.answer(request).await }
        }));
        let accepting = AbortOnDropHandle::new(accepting);
        Ok(Staging { address, record, _accepting: accepting, _deciding: deciding })
    }

    /// Returns where the hook asks.
    fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    /// Lets somebody decide on each push, whom git's hook asks.
    async fn keep_gate(
        &self,
        gatekeeper: Gatekeeper,
        hooks: &Path,
        hook: &[OsString],
    ) -> Result<AbortOnDropHandle<()>, GitError> {
        let socket = self.socket();
        write_hook(hooks, hook, &socket).map_err(GitError::prepare(hooks))?;
        if let BranchState::Already = gatekeeper.rules.stands {
            // A push says what it found there, and it found the tip.
            let name = format!("refs/heads/{}", gatekeeper.rules.branch);
            self.git.run(&self.repository, &["update-ref", &name, self.tip()]).await?;
        }
        let listener = UnixListener::bind(&socket).map_err(GitError::prepare(&socket))?;
        let deciding = tokio::spawn(gatekeeper::serve(listener, Arc::new(gatekeeper)));
        Ok(AbortOnDropHandle::new(deciding))
    }
}

impl Staging {
    /// Returns where the agent's git has to go.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the settings that lead the agent's git there, as variables.
    ///
    /// The remote keeps GitHub's name, without which `gh` would not know it; only the way there is another.
    pub fn environment(&self, server: &str) -> Vec<(OsString, OsString)> {
        let host = host(server);
        let settings = [
            (format!("url.http://{host}/.insteadOf"), format!("https://{host}/")),
            (format!("url.http://{host}/.insteadOf"), format!("git@{host}:")),
            (format!("http.http://{host}/.proxy"), format!("http://{}", self.address)),
        ];
        let count = settings.len().to_string();
        let each = settings.into_iter().enumerate().flat_map(|(n, (key, value))| {
            let pair = [(format!("GIT_CONFIG_KEY_{n}"), key), (format!("GIT_CONFIG_VALUE_{n}"), value)];
            pair.map(|(name, value)| (name.into(), value.into()))
        });
        [("GIT_CONFIG_COUNT".into(), count.into())].into_iter().chain(each).collect()
    }

    /// Returns what became of each push so far, oldest first.
    pub fn pushes(&self) -> Vec<Push> {
        self.record.all()
    }

    /// Waits for a push that is under way, and takes no more.
    pub async fn close(&self) {
        self.record.close().await;
    }
}

/// Returns the host, and the port if there is one, of GitHub's address.
fn host(server: &str) -> &str {
    server.split_once("://").map_or(server, |(_, rest)| rest).trim_end_matches('/')
}

fn write_hook(hooks: &Path, hook: &[OsString], socket: &Path) -> io::Result<()> {
    let quoted = |word: &OsStr| format!(" '{}'", word.to_string_lossy().replace('\'', r"'\''"));
    let words: String =
        hook.iter().map(OsString::as_os_str).chain([socket.as_os_str()]).map(quoted).collect();
    let file = hooks.join("pre-receive");
    fs_err::create_dir_all(hooks)?;
    fs_err::write(&file, format!("#!/bin/sh\nexec{words} \"$GIT_QUARANTINE_PATH\"\n"))?;
    fs_err::set_permissions(file, std::fs::Permissions::from_mode(0o700))
}

impl GitEndpoint {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let line = format!("{} {}", head.method, head.uri.path());
        let response = match self.serve(&head, body).await {
            Ok(response) => response,
            Err(GitRefusal(status, why)) => said(status, "text/plain", format!("fro-bot: {why}\n").into()),
        };
        self.audit.note(&format!("{line}: {}", response.status().as_u16()));
        response
    }

    async fn serve(&self, head: &Parts, body: Incoming) -> Result<Response<Body>, GitRefusal> {
        let place = self.place(head.uri.path())?;
        let query = head.uri.query().unwrap_or_default();
        let pushes = place == "git-receive-pack" || query == "service=git-receive-pack";
        let fetches = place == "git-upload-pack" || query == "service=git-upload-pack";
        match (&self.closed, pushes, fetches) {
            (Some(why), true, _) => {
                self.record.add(Push::Refused { why: why.clone() });
                return Err(GitRefusal(403, why.clone()));
            }
            (None, true, _) | (_, _, true) => {}
            _ => return Err(GitRefusal(404, "there is only git here".to_owned())),
        }
        let _room = self.room.acquire().await;
        let body = take(body).await.map_err(|_| GitRefusal(400, "the request broke off".to_owned()))?;
        let Some(body) = body else { return Ok(self.too_large()) };
        let said = self.ask_git(head, place, &body).await;
        said.map_err(|error| GitRefusal(500, error.to_string()))
    }

    /// Refuses a push in git's own form, which is the only one that its client shows.
    fn too_large(&self) -> Response<Body> {
        let why = format!("the push has more than {} MiB; push no large files", LARGEST >> 20);
        self.record.add(Push::Refused { why: why.clone() });
        let line = format!("\u{3}fro-bot: {why}\n");
        let told = format!("{:04x}{line}0000", line.len() + 4);
        said(200, "application/x-git-receive-pack-result", told.into())
    }

    /// Returns which of git's three places is asked for, if it is one of this repository.
    fn place<'a>(&self, path: &'a str) -> Result<&'a str, GitRefusal> {
        let elsewhere = || GitRefusal(404, format!("only {} is here", self.repo));
        let mut parts = path.trim_start_matches('/').splitn(3, '/');
        let (owner, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let name = name.strip_suffix(".git").unwrap_or(name);
        let same =
            owner.eq_ignore_ascii_case(self.repo.owner()) && name.eq_ignore_ascii_case(self.repo.name());
        let place = parts.next().filter(|_| same).ok_or_else(elsewhere)?;
        let known = ["info/refs", "git-upload-pack", "git-receive-pack"];
        known.contains(&place).then_some(place).ok_or_else(elsewhere)
    }

    /// Asks git's own server, which is a CGI program. It unpacks what the agent sends, so it is confined to the store, of
    /// which it writes objects and refs: a git that has the credential reads the settings there.
    async fn ask_git(&self, head: &Parts, place: &str, body: &Bytes) -> Result<Response<Body>, GitError> {
        let input = tempfile::Builder::new().prefix("request-").tempfile_in(&self.project);
        let input = input.map_err(GitError::prepare(&self.project))?;
        fs_err::write(input.path(), body).map_err(GitError::prepare(input.path()))?;
        let mut command = Git::words_of_ours();
        let hooks = format!("core.hooksPath={}", self.hooks.display());
        command.extend(["-c", &hooks, "http-backend"].map(OsString::from));
        let store = self.project.join("store.git");
        let errand = ConfinedTask {
            command,
            environment: self.variables(head, place, body.len()),
            folder: store.clone(),
            write: ["objects", "refs"].map(|part| store.join(part)).into(),
            read: self.read.iter().cloned().chain([store]).collect(),
            connect: vec![Address::Unix(self.socket.clone())],
            input: Some(input.path().to_owned()),
            bounds: BOUNDS,
        };
        let confinement = Confinement { enclosure: Enclosure::Open, ..self.git.confinement.clone() };
        let name = || "http-backend".to_owned();
        match confinement.run(errand).await {
            Ok(said) if said.status.success() => {
                as_response(said.output).ok_or_else(|| GitError::unread("http-backend"))
            }
            Ok(said) => Err(GitError::Failed { command: name(), said: complaint(&said.complaint) }),
            Err(overrun) => Err(GitError::Overrun { command: name(), why: overrun.to_string() }),
        }
    }

    /// Returns the whole environment of git's server.
    fn variables(&self, head: &Parts, place: &str, length: usize) -> Vec<(OsString, OsString)> {
        let header =
            |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (path, length) = (format!("/store.git/{place}"), length.to_string());
        let cgi = [
            ("GIT_HTTP_EXPORT_ALL", "1"),
            ("PATH_INFO", &path),
            ("REQUEST_METHOD", head.method.as_str()),
            ("QUERY_STRING", head.uri.query().unwrap_or_default()),
            ("CONTENT_TYPE", header("content-type")),
            ("CONTENT_LENGTH", &length),
            ("HTTP_CONTENT_ENCODING", header("content-encoding")),
            ("GIT_PROTOCOL", header("git-protocol")),
            ("REMOTE_USER", "agent"),
        ];
        let cgi = cgi.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let root = (OsString::from("GIT_PROJECT_ROOT"), OsString::from(&self.project));
        self.git.bare_environment().into_iter().chain(cgi).chain([root]).collect()
    }
}

/// Takes a body in. One that is too large is heard to its end and forgotten: who is cut off while speaking hears no
/// reason.
async fn take(mut body: Incoming) -> Result<Option<Bytes>, hyper::Error> {
    let (mut kept, mut size) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame?.into_data() else { continue };
        size += piece.len();
        if size <= LARGEST {
            kept.extend_from_slice(&piece);
        } else {
            kept = Vec::new();
        }
    }
    Ok((size <= LARGEST).then(|| kept.into()))
}

/// A status and why.
struct GitRefusal(u16, String);

/// Reads the answer of a CGI program: header lines, an empty one, the body.
fn as_response(told: Vec<u8>) -> Option<Response<Body>> {
    let end = told.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let mut head = Bytes::from(told);
    let body = head.split_off(end + 4);
    let mut response = said(200, "text/plain", body);
    for line in String::from_utf8_lossy(&head).lines().filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(": ")?;
        if name == "Status" {
            *response.status_mut() = value.get(..3)?.parse().ok()?;
        } else {
            response
                .headers_mut()
                .insert(name.parse::<HeaderName>().ok()?, value.parse::<HeaderValue>().ok()?);
        }
    }
    Some(response)
}

fn said(status: u16, kind: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Full::new(body).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
