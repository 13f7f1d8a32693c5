//! How often may be asked: a bucket for each route and channel, one limit for all of them, and the headers that tell.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use serde_json::json;

use super::{rest, switchboard::Switchboard};
use crate::route::Route;

/// What was asked, in which window of time.
#[derive(Debug)]
pub(crate) struct Limits {
    buckets: HashMap<String, Window>,
    everything: Window,
    routes: Vec<Route>,
    /// Whether anybody is ever told to slow down.
    pub(crate) enforced: bool,
}

/// Who the limit is for, as the 429 tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitScope {
    /// This bot alone, on one route.
    User,
    /// Everybody, for one thing such as a channel.
    Shared,
    /// This bot, on all routes.
    Global,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    began: Instant,
    used: u32,
    most: u32,
    length: Duration,
}

/// What a bucket says of itself.
pub(crate) struct BucketState {
    bucket: String,
    window: Window,
}

impl Limits {
    pub(crate) fn usual() -> Self {
        let routes = rest::routes().list().iter().map(|route| Route::parse(route)).collect();
        let everything = Window::new(50, Duration::from_secs(1));
        Self { buckets: HashMap::new(), everything, routes, enforced: true }
    }

    /// Counts a request; who asked too often is told how long to wait.
    fn count(&mut self, method: &str, path: &str) -> Result<Option<BucketState>, (LimitScope, BucketState)> {
        let Some(route) = self.routes.iter().find(|route| route.matches(method, path)) else {
            return Ok(None);
        };
        let name = format!("{:x}", short_hash(&route.to_string()));
        let key = format!("{name}:{}", major(path));
        let (most, seconds) = match route.to_string().as_str() {
            "POST /api/v10/channels/{channel}/messages" => (5, 5),
            _ => (50, 10),
        };
        let fresh = || Window::new(most, Duration::from_secs(seconds));
        let window = self.buckets.entry(key).or_insert_with(fresh);
        let in_time = window.take();
        let told = BucketState { bucket: name, window: *window };
        if !in_time && self.enforced {
            return Err((LimitScope::User, told));
        }
        let unlimited = path.contains("/interactions/") || path.contains("/webhooks/");
        if !unlimited && !self.everything.take() && self.enforced {
            return Err((LimitScope::Global, BucketState { window: self.everything, ..told }));
        }
        Ok(Some(told))
    }
}

impl Window {
    fn new(most: u32, length: Duration) -> Self {
        Self { began: Instant::now(), used: 0, most, length }
    }

    fn take(&mut self) -> bool {
        if self.began.elapsed() >= self.length {
            *self = Self::new(self.most, self.length);
        }
        self.used += 1;
        self.used <= self.most
    }

    fn left(&self) -> Duration {
        self.length.saturating_sub(self.began.elapsed())
    }
}

/// Stands before all routes: counts, refuses who asks too often, and tells everybody else how much is left.
pub(crate) async fn limit(State(board): State<Arc<Switchboard>>, request: Request, next: Next) -> Response {
    let counted = board.limits().count(request.method().as_str(), request.uri().path());
    match counted {
        Err((scope, told)) => too_many(scope, told.window.left(), Some(&told)),
        Ok(None) => next.run(request).await,
        Ok(Some(told)) => {
            let mut response = next.run(request).await;
            told.write(response.headers_mut());
            response
        }
    }
}

/// A 429.
pub(crate) fn too_many(scope: LimitScope, wait: Duration, told: Option<&BucketState>) -> Response {
    let global = scope == LimitScope::Global;
    let seconds = wait.as_secs_f64().max(0.001);
    let body = json!({ "message": "You are being rate limited.", "retry_after": seconds, "global": global });
    let mut response = (StatusCode::TOO_MANY_REQUESTS, Json(body)).into_response();
    let headers = response.headers_mut();
    if let Some(told) = told {
        told.write(headers);
    }
    write(headers, "retry-after", &format!("{}", seconds.ceil()));
    write(headers, "x-ratelimit-scope", scope.word());
    if global {
        write(headers, "x-ratelimit-global", "true");
    }
    response
}

impl LimitScope {
    /// A 429 of this kind for a fault switch: status, headers and body.
    pub(crate) fn refusal(self, wait: Duration) -> crate::faults::FaultKind {
        let seconds = wait.as_secs_f64();
        let mut headers = vec![
            ("retry-after".to_owned(), seconds.ceil().to_string()),
            ("x-ratelimit-scope".to_owned(), self.word().to_owned()),
            ("x-ratelimit-bucket".to_owned(), "abcd1234".to_owned()),
        ];
        if self == Self::Global {
            headers.push(("x-ratelimit-global".to_owned(), "true".to_owned()));
        }
        let body = json!({
            "message": "You are being rate limited.",
            "retry_after": seconds,
            "global": self == Self::Global,
        });
        crate::faults::FaultKind::Answer { status: 429, headers, body: body.to_string() }
    }

    fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Shared => "shared",
            Self::Global => "global",
        }
    }
}

impl BucketState {
    fn write(&self, headers: &mut HeaderMap) {
        let Window { used, most, .. } = self.window;
        let left = self.window.left().as_secs_f64();
        let reset = jiff::Timestamp::now().as_duration().as_secs_f64() + left;
        write(headers, "x-ratelimit-bucket", &self.bucket);
        write(headers, "x-ratelimit-limit", &most.to_string());
        write(headers, "x-ratelimit-remaining", &most.saturating_sub(used).to_string());
        write(headers, "x-ratelimit-reset-after", &format!("{left:.3}"));
        write(headers, "x-ratelimit-reset", &format!("{reset:.3}"));
    }
}

fn write(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// The part of a path that has limits of its own: the channel, the guild, the webhook.
fn major(path: &str) -> String {
    path.trim_start_matches("/api/v10/").split('/').take(2).collect::<Vec<_>>().join("/")
}

fn short_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
