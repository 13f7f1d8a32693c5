//! The proxy itself: a loopback server that passes turns of a model on, with the key, and streams the answers back.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use fro_http::Road;
use http_body_util::{BodyExt as _, Limited};
use hyper::{Method, Request, Response, body::Incoming};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    models::{
        Plan, Spent,
        dialect::KeyPlace,
        meter::{Listening, Meter},
        request::{Admitted, Refusal},
    },
    serve::{Body, Listener, serve, stream_back, told},
};

/// How long a model may think before its answer begins.
const PATIENCE: Duration = Duration::from_mins(15);

/// The largest request that is passed on: a long conversation with pictures.
const LARGEST: usize = 64 << 20;

/// What a request may say besides its body; what is not here could be a credential or change where it goes.
const PASSED: [&str; 14] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "copilot-integration-id",
    "editor-version",
    "http-referer",
    "openai-beta",
    "openai-intent",
    "user-agent",
    "x-goog-api-client",
    "x-initiator",
    "x-session-id",
    "x-title",
];

/// What an answer may say besides its body: when to come again, and how to ask the provider about it.
const RETURNED: [&str; 8] = [
    "anthropic-ratelimit-requests-reset",
    "cache-control",
    "content-type",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-ratelimit-reset-requests",
    "x-request-id",
];

/// A running proxy; dropping it closes the port and cuts every connection.
#[derive(Debug)]
pub struct ModelProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    _accepting: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct Shared {
    plan: Plan,
    road: Road,
    meter: Arc<Meter>,
}

impl ModelProxy {
    /// Opens a free loopback port. Answers that cost more than `max_cost` dollars in all are the last ones.
    pub async fn open(plan: Plan, road: Road, max_cost: Option<f64>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { plan, road, meter: Arc::new(Meter::new(max_cost)) });
        let answering = Arc::clone(&shared);
        let accepting = tokio::spawn(serve(Listener::Tcp(listener), move |request| {
            let shared = Arc::clone(&answering);
            async move { shared.answer(request).await }
        }));
        Ok(Self { address, shared, _accepting: AbortOnDropHandle::new(accepting) })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the configuration that brings the engine here; no key is in it.
    pub fn engine_config(&self) -> Value {
        self.shared.plan.engine_config(&format!("http://{}", self.address))
    }

    /// Returns what was asked of the models so far.
    pub fn spent(&self) -> Spent {
        self.shared.meter.spent()
    }
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        match self.pass_on(request).await {
            Ok(response) => response,
            Err(Failure::Refused(refusal)) => {
                self.meter.refused();
                tracing::warn!("the model proxy refused a request: {refusal}");
                excuse(refusal.status(), refusal.code(), &refusal.to_string())
            }
            Err(Failure::Upstream(error)) => {
                tracing::warn!("the model proxy got no answer: {error}");
                excuse(502, "run_upstream", &error.to_string())
            }
        }
    }

    async fn pass_on(&self, request: Request<Incoming>) -> Result<Response<Body>, Failure> {
        if request.method() != Method::POST {
            return Err(Refusal::Method.into());
        }
        if let Some(limit) = self.meter.reached() {
            return Err(Refusal::Budget(limit.to_string()).into());
        }
        let (head, body) = request.into_parts();
        let body =
            Limited::new(body, LARGEST).collect().await.map_err(|_| Refusal::TooLarge(LARGEST))?.to_bytes();
        let admitted = self.plan.admit(head.uri.path(), head.uri.query(), &body)?;
        let said = PASSED.iter().filter_map(|name| Some((*name, head.headers.get(*name)?.to_str().ok()?)));
        let size = body.len();
        let request = self.request(&admitted, said, body);
        let price = admitted.route.prices.get(&admitted.model).copied();
        let answer = request.timeout(PATIENCE).relay().await?;
        // A refusal of the provider's costs nothing.
        let mut listening = (answer.status() < 300).then(|| Listening::new(&self.meter, price, size));
        Ok(stream_back(answer, &RETURNED, move |piece| {
            if let Some(listening) = &mut listening {
                listening.hear(piece);
            }
        }))
    }

    fn request<'a>(
        &self,
        admitted: &Admitted<'_>,
        said: impl Iterator<Item = (&'a str, &'a str)>,
        body: Bytes,
    ) -> fro_http::Request {
        let request = self.road.post(&admitted.url).body(body);
        let request = said.fold(request, |request, (name, value)| request.header(name, value));
        let headers = &admitted.route.headers;
        let request = headers.iter().fold(request, |request, (name, value)| request.credential(name, value));
        match (&admitted.route.key, admitted.route.dialect.key_place()) {
            (None, _) => request,
            (Some(key), KeyPlace::Bearer) => request.bearer(key),
            (Some(key), KeyPlace::Header(name)) => request.credential(name, key),
        }
    }
}

/// Says something in the proxy's own name, in a form that the engine shows.
fn excuse(status: u16, code: &str, what: &str) -> Response<Body> {
    let error = json!({ "type": "fro_bot", "code": code, "message": format!("fro-bot: {what}") });
    told(status, &json!({ "type": "error", "error": error }))
}

/// Why there is no answer of a model.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum Failure {
    Refused(#[from] Refusal),
    Upstream(#[from] fro_http::Error),
}
