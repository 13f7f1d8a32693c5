//! Rate limits, counted per token, and the headers that every answer of the API carries.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue},
    middleware::Next,
    response::Response,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{auth, hub::Hub};

/// What a token may still do in this hour.
struct Allowance {
    limit: u64,
    used: u64,
    reset: i64,
}

/// `GET /rate_limit`, which itself costs nothing.
pub(super) async fn show(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Json<Value> {
    let Allowance { limit, used, reset } = allowance(&hub, &headers);
    let rate =
        json!({ "limit": limit, "used": used, "remaining": limit.saturating_sub(used), "reset": reset });
    Json(json!({ "resources": { "core": rate, "graphql": rate, "search": rate }, "rate": rate }))
}

/// Counts a request and puts GitHub's headers on its answer, unless a fault has put its own there.
pub(crate) async fn count(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    static REQUESTS: AtomicU64 = AtomicU64::new(0x1000);
    let resource = if request.uri().path() == "/graphql" { "graphql" } else { "core" };
    let headers = request.headers().clone();
    if request.uri().path() != "/rate_limit" {
        spend(&hub, &headers);
    }
    let mut response = next.run(request).await;
    let Allowance { limit, used, reset } = allowance(&hub, &headers);
    let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
    let values = [
        (
            "x-github-request-id",
            format!("{number:04X}:{:04X}:{:X}", number % 997, Timestamp::now().as_millisecond()),
        ),
        ("x-github-media-type", "github.v3; format=json".to_owned()),
        ("x-ratelimit-limit", limit.to_string()),
        ("x-ratelimit-used", used.to_string()),
        ("x-ratelimit-remaining", limit.saturating_sub(used).to_string()),
        ("x-ratelimit-reset", reset.to_string()),
        ("x-ratelimit-resource", resource.to_owned()),
    ];
    // Only people's tokens have scopes; those of apps have permissions instead.
    if auth::bearer(&headers).is_some_and(|text| text.starts_with("ghp")) {
        response.headers_mut().insert("x-oauth-scopes", HeaderValue::from_static("read:org, repo, workflow"));
    }
    for (name, value) in values {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().entry(name).or_insert(value);
        }
    }
    response
}

fn spend(hub: &Hub, headers: &HeaderMap) {
    let Some(text) = auth::bearer(headers) else { return };
    hub.change(|state| {
        if let Some(token) = state.tokens.iter_mut().find(|token| token.text == text) {
            token.used += 1;
        }
    });
}

/// The limit of the request's token, or that of anybody.
fn allowance(hub: &Hub, headers: &HeaderMap) -> Allowance {
    let (limit, used) = hub.read(|state| {
        let token = auth::bearer(headers).and_then(|text| state.token(&text));
        token.map_or((60, 1), |token| (token.limit(), token.used))
    });
    let now = Timestamp::now().as_second();
    Allowance { limit, used, reset: now - now % 3600 + 3600 }
}
