//! The proxy itself: `CONNECT` to a host of the list becomes a tunnel, plain HTTP to one is passed on.

use std::{
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use http_body_util::BodyExt as _;
use hyper::{
    Method, Request, Response, Uri,
    body::Incoming,
    client::conn::http1,
    ext::ReasonPhrase,
    header::{CONNECTION, HOST, HeaderName, HeaderValue, UPGRADE},
};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::AbortOnDropHandle,
};

use crate::{
    accept::SocketListener,
    audit::Audit,
    egress::{ResolvedHost, host::HostRoute},
    serve::{Body, respond_with, serve},
};

/// How long a host may take to answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// The most tunnels at once; each is two open files of the harness's.
const MOST_TUNNELS: usize = 128;

/// What of a request is for the proxy and for nobody else.
const FOR_THE_PROXY: [&str; 3] = ["proxy-authorization", "proxy-connection", "keep-alive"];

/// How often the agent's tools went out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EgressCalls {
    /// To a host of the list.
    pub passed: u32,
    /// To any other.
    pub refused: u32,
}

impl fmt::Display for EgressCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} refused", self.passed, self.refused)
    }
}

/// A running proxy; dropping it closes the port and cuts every connection.
#[derive(Debug)]
pub struct Egress {
    address: SocketAddr,
    shared: Arc<EgressState>,
    _tunnels: DropGuard,
    _accepting: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct EgressState {
    doors: Vec<ResolvedHost>,
    end: CancellationToken,
    tunnels: Arc<Semaphore>,
    audit: Audit,
    passed: AtomicU32,
    refused: AtomicU32,
}

/// Why a request does not go out.
#[derive(Debug, thiserror::Error)]
enum EgressRefusal {
    #[error("`{0}` is not on the list of hosts of this run (the input `network`)")]
    Unlisted(String),
    #[error("{0}")]
    Closed(String),
    #[error("there are {MOST_TUNNELS} connections already")]
    Crowded,
    #[error("the request does not say where to")]
    Unclear,
    #[error("`{0}` does not answer: {1}")]
    Silent(String, String),
}

impl Egress {
    /// Opens a free loopback port that leads to these hosts.
    pub async fn open(doors: Vec<ResolvedHost>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let end = CancellationToken::new();
        let [passed, refused] = [0; 2].map(AtomicU32::new);
        let shared = Arc::new(EgressState {
            doors,
            end: end.clone(),
            tunnels: Arc::new(Semaphore::new(MOST_TUNNELS)),
            audit: Audit::new("network"),
            passed,
            refused,
        });
        let answering = Arc::clone(&shared);
        let accepting = tokio::spawn(serve(SocketListener::Tcp(listener), move |request| {
            let shared = Arc::clone(&answering);
            async move { shared.answer(request).await }
        }));
        Ok(Self {
            address,
            shared,
            _tunnels: end.drop_guard(),
            _accepting: AbortOnDropHandle::new(accepting),
        })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns how often it was used so far.
    pub fn calls(&self) -> EgressCalls {
        let count = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        EgressCalls { passed: count(&self.shared.passed), refused: count(&self.shared.refused) }
    }
}

impl EgressState {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let line = format!("{} {}", request.method(), whither(request.uri()).unwrap_or_default());
        let is_tunnel = request.method() == Method::CONNECT;
        let answered = if is_tunnel { self.tunnel(request).await } else { self.pass_on(request).await };
        match answered {
            Ok(response) => {
                self.passed.fetch_add(1, Ordering::Relaxed);
                self.audit.note(&format!("{line}: passed"));
                response
            }
            Err(why) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                self.audit.note(&format!("{line}: refused: {why}"));
                excuse(&why)
            }
        }
    }

    /// Connects, and lets both sides speak once the client knows.
    async fn tunnel(&self, request: Request<Incoming>) -> Result<Response<Body>, EgressRefusal> {
        let place = Arc::clone(&self.tunnels).try_acquire_owned().map_err(|_| EgressRefusal::Crowded)?;
        let mut there = self.reach(request.uri(), None).await?;
        let end = self.end.clone();
        tokio::spawn(async move {
            let speak = async {
                let here = hyper::upgrade::on(request).await.map_err(io::Error::other)?;
                copy_bidirectional(&mut TokioIo::new(here), &mut there).await
            };
            // A tunnel that breaks is the business of its two ends.
            drop(end.run_until_cancelled(speak).await);
            drop(place);
        });
        Ok(Response::new(http_body_util::Empty::new().map_err(|never| match never {}).boxed_unsync()))
    }

    /// Asks in the client's place, as proxies do for addresses without TLS.
    async fn pass_on(&self, mut request: Request<Incoming>) -> Result<Response<Body>, EgressRefusal> {
        let place = request.uri().authority().cloned().ok_or(EgressRefusal::Unclear)?;
        let silent = |error: hyper::Error| EgressRefusal::Silent(place.to_string(), error.to_string());
        let there = self.reach(request.uri(), Some(80)).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(there)).await.map_err(silent)?;
        let end = self.end.clone();
        tokio::spawn(async move { drop(end.run_until_cancelled(connection).await) });
        let path = request.uri().path_and_query().cloned().ok_or(EgressRefusal::Unclear)?;
        *request.uri_mut() = path.into();
        let host = HeaderValue::from_str(place.as_str()).map_err(|_| EgressRefusal::Unclear)?;
        let headers = request.headers_mut();
        headers.insert(HOST, host);
        for name in FOR_THE_PROXY.map(HeaderName::from_static).into_iter().chain([CONNECTION, UPGRADE]) {
            headers.remove(name);
        }
        let response = sender.send_request(request).await.map_err(silent)?;
        Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
    }

    /// Connects to a host of the list, at the addresses that it had when the run began.
    async fn reach(&self, uri: &Uri, usual_port: Option<u16>) -> Result<TcpStream, EgressRefusal> {
        let (name, port) = (uri.host(), uri.port_u16().or(usual_port));
        let (Some(name), Some(port)) = (name, port) else { return Err(EgressRefusal::Unclear) };
        let unlisted = || EgressRefusal::Unlisted(format!("{name}:{port}"));
        let door = self.doors.iter().find(|door| door.host.is(name, port)).ok_or_else(unlisted)?;
        let way = door.leads.as_ref().map_err(|why| EgressRefusal::Closed(why.clone()))?;
        let silent = |what: String| EgressRefusal::Silent(door.host.to_string(), what);
        let reach = async {
            match way {
                HostRoute::Direct(addresses) => TcpStream::connect(addresses.as_slice()).await,
                HostRoute::CorporateProxy(tunnel) => tunnel.open(&door.host).await,
            }
        };
        match timeout(PATIENCE, reach).await {
            Ok(connected) => connected.map_err(|error| silent(error.to_string())),
            Err(_) => Err(silent(format!("not within {} s", PATIENCE.as_secs()))),
        }
    }
}

/// Returns the place that a request is for, as it is logged.
fn whither(uri: &Uri) -> Option<String> {
    Some(uri.authority()?.as_str().chars().take(100).collect())
}

/// Says why not. Many clients show only the line that an answer begins with, so that the reason stands there as well.
fn excuse(why: &EgressRefusal) -> Response<Body> {
    let status = match why {
        EgressRefusal::Unlisted(_) | EgressRefusal::Closed(_) => 403,
        EgressRefusal::Unclear => 400,
        EgressRefusal::Silent(..) => 502,
        EgressRefusal::Crowded => 503,
    };
    let message = format!("fro-bot: {why}");
    let mut response = respond_with(status, &json!({ "message": message }));
    if let Ok(reason) = ReasonPhrase::try_from(message.into_bytes()) {
        response.extensions_mut().insert(reason);
    }
    response
}
