//! The proxy itself: a loopback server that passes turns of a model on, with the key, and streams the answers back.

use std::{
    collections::BTreeSet,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use fro_core::Secret;
use fro_http::Client;
use hyper::{Method, Request, Response, body::Incoming};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    accept::SocketListener,
    echo::Needles,
    intake::{self, Intake, IntakeRefusal},
    models::{
        Plan, Spent,
        dialect::KeyPlace,
        headers,
        meter::{Arrival, Estimate, Listening, Meter},
        plan::Route,
        request::{Admitted, ModelRefusal},
        shape::SiftResult,
    },
    serve::{Body, Passing, respond_with, serve, stream_back},
};

/// How long a model may think before its answer begins.
const PATIENCE: Duration = Duration::from_mins(15);

/// The largest request that is passed on: a long conversation with pictures.
const LARGEST: usize = 48 << 20;

/// How much of all requests is in memory at once.
const AT_ONCE: usize = 64 << 20;

/// The longest answer; the longest that a model writes are a hundredth of it.
const LONGEST: usize = 256 << 20;

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
    pub(super) shared: Arc<ProxyState>,
    _accepting: AbortOnDropHandle<()>,
}

#[derive(Debug)]
pub(super) struct ProxyState {
    pub(super) plan: Plan,
    pub(super) client: Client,
    pub(super) meter: Arc<Meter>,
    intake: Intake,
    /// Names of fields that the log has told of.
    left_out: Mutex<BTreeSet<String>>,
}

impl ModelProxy {
    /// Opens a free loopback port. Answers that cost more than `max_cost` dollars in all are the last ones.
    pub async fn open(plan: Plan, client: Client, max_cost: Option<f64>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let meter = Arc::new(Meter::new(max_cost));
        let (intake, left_out) = (Intake::new(LARGEST, AT_ONCE), Mutex::default());
        let shared = Arc::new(ProxyState { plan, client, meter, intake, left_out });
        let answering = Arc::clone(&shared);
        let accepting = tokio::spawn(serve(SocketListener::Tcp(listener), move |request| {
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

    /// Returns a catalogue of just the configured models for the engine, if all of them are known.
    pub fn engine_catalogue(&self) -> Option<Value> {
        self.shared.plan.catalogue()
    }

    /// Returns what was asked of the models so far.
    pub fn spent(&self) -> Spent {
        self.shared.meter.spent()
    }
}

impl ProxyState {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        match self.pass_on(request).await {
            Ok(response) => response,
            Err(ModelFailure::Refused(refusal)) => {
                self.meter.refused();
                tracing::warn!("the model proxy refused a request: {refusal}");
                excuse(refusal.status(), refusal.code(), &refusal.to_string())
            }
            Err(failure @ (ModelFailure::Upstream(_) | ModelFailure::Encoded)) => {
                tracing::warn!("the model proxy got no answer: {failure}");
                excuse(502, "run_upstream", &failure.to_string())
            }
        }
    }

    async fn pass_on(&self, request: Request<Incoming>) -> Result<Response<Body>, ModelFailure> {
        if request.method() != Method::POST {
            return Err(ModelRefusal::Method.into());
        }
        let (head, body) = request.into_parts();
        let (body, _room) = self.intake.take(body).await.map_err(|why| match why {
            IntakeRefusal::TooLarge => ModelRefusal::TooLarge(LARGEST),
            IntakeRefusal::TooSlow => ModelRefusal::TooSlow(intake::PATIENCE.as_secs()),
        })?;
        let admitted = self.plan.admit(head.uri.path(), head.uri.query(), &body)?;
        drop(body);
        self.tell_what_was_left_out(&admitted.sifted);
        let reservation = self.meter.reserve(Estimate::from_request(&admitted)).await;
        let reservation = reservation.map_err(|limit| ModelRefusal::Budget(limit.to_string()))?;
        let route = admitted.route;
        let without = Needles::learn(route.key.iter().chain(route.headers.iter().map(|(_, value)| value)));
        let request = headers::passed(&head.headers, &route.headers)
            .fold(self.request(admitted), |request, (name, value)| request.header(name, &value));
        let answer = match request.timeout(PATIENCE).relay().await {
            Ok(answer) => answer,
            Err(error) => {
                reservation.return_if_refused(&error);
                return Err(error.into());
            }
        };
        if answer.header("content-encoding").is_some_and(|encoding| encoding != "identity") {
            return Err(ModelFailure::Encoded);
        }
        let passing = Passing { headers: &RETURNED, without, most: LONGEST };
        if answer.status() >= 300 {
            reservation.cancel();
            return Ok(stream_back(answer, passing, |_| {}));
        }
        let is_streamed =
            answer.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let coming = if is_streamed { Arrival::Streamed } else { Arrival::Whole };
        let mut listening = Listening::new(reservation, coming);
        Ok(stream_back(answer, passing, move |piece| listening.hear(piece)))
    }

    pub(super) fn request(&self, admitted: Admitted<'_>) -> fro_http::Request {
        let Admitted { route, url, body, .. } = admitted;
        Self::keyed(self.client.post(url).header("content-type", "application/json").body(body), route)
    }

    /// Adds what the provider knows us by.
    pub(super) fn keyed(request: fro_http::Request, route: &Route) -> fro_http::Request {
        let add =
            |request: fro_http::Request, (name, value): &(String, Secret)| request.credential(name, value);
        let request = route.headers.iter().fold(request, add);
        match (&route.key, route.dialect.key_place()) {
            (None, _) => request,
            (Some(key), KeyPlace::Bearer) => request.bearer(key),
            (Some(key), KeyPlace::Header(name)) => request.credential(name, key),
        }
    }

    /// Names a field once: there may be as many requests as there are turns.
    fn tell_what_was_left_out(&self, sifted: &SiftResult) {
        /// The engine sends a few; whoever sends more makes them up.
        const MOST: usize = 50;
        let mut told = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        for name in &sifted.left_out {
            if told.len() < MOST && told.insert(name.clone()) {
                tracing::warn!("the model proxy leaves the field `{}` out of requests", name.escape_debug());
            }
        }
    }
}

/// Says something in the proxy's own name, in a form that the engine shows.
fn excuse(status: u16, code: &str, what: &str) -> Response<Body> {
    let error = json!({ "type": "fro_bot", "code": code, "message": format!("fro-bot: {what}") });
    respond_with(status, &json!({ "type": "error", "error": error }))
}

/// Why there is no answer of a model.
#[derive(Debug, thiserror::Error)]
pub(super) enum ModelFailure {
    #[error(transparent)]
    Refused(#[from] ModelRefusal),
    #[error(transparent)]
    Upstream(#[from] fro_http::Error),
    /// The key could be in it unseen.
    #[error("the provider answers in an encoding that it was not asked for")]
    Encoded,
}
