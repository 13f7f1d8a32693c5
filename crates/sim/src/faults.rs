//! Switches that make a route misbehave: what a client of the real world meets sooner or later.

mod answer;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    extract::{Request, State},
    http::Method,
    middleware::Next,
    response::Response,
};

use tokio::sync::watch;

use crate::{route::Route, server::Unsent};

/// How long [`Faults::wait_until_held`] waits: longer than any step of a working run.
const PATIENCE: Duration = Duration::from_mins(1);

/// All fault switches of a world; handles share them.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    armed: Arc<Mutex<Vec<Armed>>>,
    /// How many requests or answers were ever held back.
    held: Arc<watch::Sender<usize>>,
}

/// What goes wrong. Unless said otherwise, the request does not reach the world behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// An error status with GitHub's kind of body.
    Status(u16),
    /// Exactly this answer.
    Answer {
        /// The HTTP status.
        status: u16,
        /// Further headers.
        headers: Vec<(String, String)>,
        /// The body, sent as JSON.
        body: String,
    },
    /// The right answer, later: the request is done only then.
    Delay(Duration),
    /// The right answer, later: the request is done at once.
    AnswerLate(Duration),
    /// The connection closes and nothing was done.
    Dropped,
    /// The request is done, but the connection closes without an answer.
    AnswerWithheld,
    /// The request is done, but the connection breaks in the middle of the answer.
    AnswerCut,
    /// A 200 whose body is no JSON.
    MalformedJson,
    /// A 200 with a JSON body of at least so many bytes.
    Oversized(usize),
    /// The hourly limit is used up; it is back after this time.
    RateLimit {
        /// Until the reset that the headers announce.
        reset_in: Duration,
    },
    /// The limit against bursts, with or without a `Retry-After`.
    SecondaryRateLimit {
        /// What the header says, in whole seconds.
        retry_after: Option<Duration>,
    },
}

/// A fault just set; it strikes once unless told otherwise.
pub struct Switch {
    faults: Faults,
    index: usize,
}

#[derive(Debug)]
struct Armed {
    route: Route,
    kind: FaultKind,
    left: Left,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Times(usize),
    Always,
}

impl Faults {
    /// Makes a route such as `POST /repos/{owner}/{repo}/issues/{number}/comments` misbehave the next time.
    ///
    /// Several faults of one route strike in the order in which they were set.
    pub fn on(&self, route: &str, kind: FaultKind) -> Switch {
        let mut armed = self.armed();
        armed.push(Armed { route: Route::parse(route), kind, left: Left::Times(1) });
        Switch { faults: self.clone(), index: armed.len() - 1 }
    }

    /// The routes whose faults have not struck as often as they were to.
    pub fn unspent(&self) -> Vec<String> {
        let armed = self.armed();
        let unspent = armed.iter().filter(|fault| matches!(fault.left, Left::Times(1..)));
        unspent.map(|fault| fault.route.to_string()).collect()
    }

    /// Sets everything right again.
    pub fn heal(&self) {
        for fault in self.armed().iter_mut() {
            fault.left = Left::Times(0);
        }
    }

    /// Returns once a request or an answer is held back by [`FaultKind::Delay`] or [`FaultKind::AnswerLate`].
    ///
    /// Panics after a minute, so that a test which waits for nothing ends.
    pub async fn wait_until_held(&self) {
        let mut held = self.held.subscribe();
        let waited = tokio::time::timeout(PATIENCE, held.wait_for(|held| *held > 0)).await;
        assert!(waited.is_ok(), "nothing was held back; not yet struck: {:?}", self.unspent());
    }

    async fn hold(&self, time: Duration) {
        if !time.is_zero() {
            self.held.send_modify(|held| *held += 1);
            tokio::time::sleep(time).await;
        }
    }

    fn strike(&self, method: &Method, path: &str) -> Option<FaultKind> {
        let mut armed = self.armed();
        let fault = armed
            .iter_mut()
            .find(|fault| fault.left != Left::Times(0) && fault.route.matches(method.as_str(), path))?;
        if let Left::Times(times) = &mut fault.left {
            *times -= 1;
        }
        Some(fault.kind.clone())
    }

    fn armed(&self) -> MutexGuard<'_, Vec<Armed>> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Switch {
    /// Lets it strike so many times.
    pub fn times(self, n: usize) {
        self.set(Left::Times(n));
    }

    /// Lets it strike every time.
    pub fn always(self) {
        self.set(Left::Always);
    }

    fn set(self, left: Left) {
        self.faults.armed()[self.index].left = left;
    }
}

/// Stands before all routes and lets the faults strike.
pub(crate) async fn inject(State(faults): State<Faults>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let Some(kind) = faults.strike(request.method(), &path) else { return next.run(request).await };
    match kind {
        FaultKind::Delay(time) => {
            faults.hold(time).await;
            next.run(request).await
        }
        FaultKind::AnswerLate(time) => {
            let answer = next.run(request).await;
            faults.hold(time).await;
            answer
        }
        FaultKind::Dropped => answer::without(Response::default(), Unsent::All),
        FaultKind::AnswerWithheld => answer::without(next.run(request).await, Unsent::All),
        FaultKind::AnswerCut => answer::without(next.run(request).await, Unsent::SecondHalf),
        FaultKind::Status(status) => answer::status(status),
        FaultKind::Answer { status, headers, body } => answer::given(status, &headers, body),
        FaultKind::MalformedJson => answer::given(200, &[], "{\"id\": 1, \"body\": \"The ho".to_owned()),
        FaultKind::Oversized(bytes) => {
            answer::given(200, &[], format!("{{\"body\": \"{}\"}}", "x".repeat(bytes)))
        }
        FaultKind::RateLimit { reset_in } => answer::rate_limit(&path, reset_in),
        FaultKind::SecondaryRateLimit { retry_after } => answer::secondary_rate_limit(retry_after),
    }
}
