//! An S3 server of somebody else's making (`s3s-fs`, which checks signatures) in this process, with switches for faults.
//!
//! It knows nothing of ours, so that the tests of other crates can have it too.

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{Request, Response, body::Incoming, header::HeaderMap, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use s3s::{
    Body,
    auth::SimpleAuth,
    service::{S3Service, S3ServiceBuilder},
};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot};

pub(crate) const BUCKET: &str = "memories";
pub(crate) const KEY: &str = "AKIAGARDENGARDEN";
pub(crate) const SECRET: &str = "a-secret-that-only-the-garden-knows";

/// A bucket on a port of this machine.
pub(crate) struct Bucket {
    /// Its server ends when this is dropped.
    _open: oneshot::Sender<()>,
    endpoint: String,
    folder: Arc<TempDir>,
    state: Arc<ServerState>,
}

/// What goes wrong, and what was asked.
#[derive(Default)]
struct ServerState {
    fault: Mutex<Option<(String, Fault)>>,
    seen: Mutex<Vec<ExcerptSource>>,
    /// The server keeps content and tag in two files, compares first and writes then; S3 does all at once.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// A way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server answers with this status and does nothing.
    Status(u16),
    /// The server never answers.
    Hang,
    /// The server does what it is asked, but its answer ends in the middle.
    Cut,
    /// The server does what it is asked, and its answer is lost.
    Lose,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct ExcerptSource {
    pub(crate) line: String,
    pub(crate) headers: HeaderMap,
}

impl Bucket {
    pub(crate) fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
        Self::on(Arc::new(folder), ServerState::default())
    }

    /// Opens the same bucket on another port, where other things go wrong.
    pub(crate) fn another_door(&self) -> Self {
        let state = ServerState { turn: Arc::clone(&self.state.turn), ..ServerState::default() };
        Self::on(Arc::clone(&self.folder), state)
    }

    fn on(folder: Arc<TempDir>, state: ServerState) -> Self {
        let service = {
            let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(folder.path()).unwrap());
            builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
            builder.build()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(state);
        runtime.spawn(serve(listener, service, Arc::clone(&state)));
        let (open, closed) = oneshot::channel();
        thread::spawn(move || runtime.block_on(closed).ok());
        Self { _open: open, endpoint, folder, state }
    }

    /// Returns where it answers.
    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Fails every request whose line begins like this, until `mend`.
    pub(crate) fn fail(&self, line: &str, fault: Fault) {
        *self.state.fault.lock().unwrap() = Some((line.to_owned(), fault));
    }

    pub(crate) fn mend(&self) {
        *self.state.fault.lock().unwrap() = None;
    }

    /// Returns what was asked so far and forgets it.
    pub(crate) fn seen(&self) -> Vec<ExcerptSource> {
        std::mem::take(&mut *self.state.seen.lock().unwrap())
    }

    /// Waits until a request of this method for a path that ends like this has come.
    pub(crate) async fn wait_for(&self, method: &str, end: &str) {
        let is_it = |seen: &ExcerptSource| seen.line.starts_with(method) && seen.line.ends_with(end);
        let come = async {
            while !self.state.seen.lock().unwrap().iter().any(is_it) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(10), come).await.unwrap();
    }

    /// Returns where the objects under a prefix lie.
    pub(crate) fn files(&self, prefix: &str) -> PathBuf {
        self.folder.path().join(BUCKET).join(prefix)
    }
}

/// Returns every file below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

async fn serve(listener: std::net::TcpListener, service: S3Service, state: Arc<ServerState>) {
    let listener = TcpListener::from_std(listener).unwrap();
    loop {
        let Ok((socket, _)) = listener.accept().await else { return };
        let (service, state) = (service.clone(), Arc::clone(&state));
        let answer = service_fn(move |request| answer(service.clone(), Arc::clone(&state), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), answer));
    }
}

/// Answers, or fails as it was told.
async fn answer(
    service: S3Service,
    state: Arc<ServerState>,
    request: Request<Incoming>,
) -> Result<Response<Body>, std::io::Error> {
    let line = format!("{} {}", request.method(), request.uri().path_and_query().unwrap());
    let seen = ExcerptSource { line: line.clone(), headers: request.headers().clone() };
    state.seen.lock().unwrap().push(seen);
    let _turn = if line.contains("/head.") { Some(state.turn.lock().await) } else { None };
    let fault = state.fault.lock().unwrap().clone();
    let fault = fault.filter(|(part, _)| part.split(' ').all(|word| line.contains(word)));
    match fault.map(|(_, fault)| fault) {
        Some(Fault::Status(status)) => {
            // The body is read first: a server that closes early looks like a broken connection.
            drop(request.into_body().collect().await);
            Ok(Response::builder().status(status).body(Body::empty()).unwrap())
        }
        Some(Fault::Hang) => std::future::pending::<Result<_, _>>().await,
        Some(Fault::Cut) => Ok(cut(perform(&service, request).await).await),
        Some(Fault::Lose) => {
            drop(perform(&service, request).await);
            Err(std::io::Error::other("the answer is lost"))
        }
        None => Ok(perform(&service, request).await),
    }
}

async fn perform(service: &S3Service, request: Request<Incoming>) -> Response<Body> {
    service
        .call(request.map(Body::from))
        .await
        .unwrap_or_else(|_| Response::builder().status(500).body(Body::empty()).unwrap())
}

/// Promises the whole body and sends half of it.
async fn cut(response: Response<Body>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let body: Bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let promised = body.len().max(2);
    parts.headers.insert("content-length", promised.into());
    let half = body.slice(..body.len() / 2);
    let pieces = futures::stream::iter([Ok::<_, Infallible>(hyper::body::Frame::data(half))]);
    Response::from_parts(parts, Body::http_body_unsync(http_body_util::StreamBody::new(pieces)))
}
