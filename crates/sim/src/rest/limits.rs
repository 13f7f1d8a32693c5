//! Rate limits, counted per token and per pool, and what is said once a pool is empty.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    auth,
    graphql::Points,
    hub::Hub,
    rest::manners,
    state::{self, Pool},
};

/// What a token may still do until the reset.
struct Allowance {
    limit: u64,
    used: u64,
    reset: i64,
}

impl Allowance {
    /// Who has no good token has no room in GraphQL at all, and hears that the token is wrong instead.
    fn is_spent(&self) -> bool {
        self.limit > 0 && self.used >= self.limit
    }
}

/// `GET /rate_limit`, which itself costs nothing.
pub(super) async fn show(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Json<Value> {
    let rate = |pool| {
        let Allowance { limit, used, reset } = allowance(&hub, &headers, pool);
        json!({ "limit": limit, "used": used, "remaining": limit.saturating_sub(used), "reset": reset })
    };
    let core = rate(Pool::Core);
    let resources = json!({ "core": core, "graphql": rate(Pool::Graphql), "search": rate(Pool::Search) });
    Json(json!({ "resources": resources, "rate": core }))
}

/// Counts a request and tells what is left, unless a fault has told something else.
pub(crate) async fn count(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    if !manners::is_api(&path) {
        return next.run(request).await;
    }
    let (pool, headers) = (Pool::for_path(&path), request.headers().clone());
    let free = path == "/rate_limit";
    let left = allowance(&hub, &headers, pool);
    let mut response = if !free && left.is_spent() {
        exhausted(&hub, &headers, pool)
    } else {
        let response = next.run(request).await;
        // What a client has already is told to it for nothing.
        if !free && response.status() != StatusCode::NOT_MODIFIED {
            let points = response.extensions().get::<Points>().map_or(1, |points| points.0);
            spend(&hub, &headers, pool, points);
        }
        response
    };
    let Allowance { limit, used, reset } = allowance(&hub, &headers, pool);
    let values = [
        ("x-ratelimit-limit", limit.to_string()),
        ("x-ratelimit-used", used.to_string()),
        ("x-ratelimit-remaining", limit.saturating_sub(used).to_string()),
        ("x-ratelimit-reset", reset.to_string()),
        ("x-ratelimit-resource", pool.name().to_owned()),
    ];
    for (name, value) in values {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().entry(name).or_insert(value);
        }
    }
    response
}

fn spend(hub: &Hub, headers: &HeaderMap, pool: Pool, points: u64) {
    let Some(text) = auth::bearer(headers) else { return };
    hub.change(|state| {
        if let Some(token) = state.tokens.iter_mut().find(|token| token.text == text) {
            token.spend(pool, points, Timestamp::now());
        }
    });
}

/// The limit of the request's token, or that of anybody.
fn allowance(hub: &Hub, headers: &HeaderMap, pool: Pool) -> Allowance {
    let now = Timestamp::now();
    let (limit, used) = hub.read(|state| {
        let token = auth::bearer(headers).and_then(|text| state.token(&text));
        token.map_or((anybodys(pool), 1), |token| (token.limit(pool), token.used(pool, now)))
    });
    Allowance { limit, used, reset: pool.reset(now).as_second() }
}

/// The limit of those who have no token.
fn anybodys(pool: Pool) -> u64 {
    match pool {
        Pool::Core => 60,
        Pool::Search => 10,
        Pool::Graphql => 0,
    }
}

/// Nothing is left. GraphQL says so with a 200.
fn exhausted(hub: &Hub, headers: &HeaderMap, pool: Pool) -> Response {
    let message = hub.read(|state| {
        let login = auth::owner(state, headers).unwrap_or_default();
        format!("API rate limit exceeded for {}.", whose(state, &login))
    });
    if pool == Pool::Graphql {
        return Json(json!({ "errors": [{ "type": "RATE_LIMITED", "message": message }] })).into_response();
    }
    let documentation = "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api";
    let body = json!({ "message": message, "documentation_url": documentation, "status": "403" });
    (StatusCode::FORBIDDEN, Json(body)).into_response()
}

fn whose(state: &state::State, login: &str) -> String {
    let app = state.apps.iter().find(|app| app.bot() == login);
    match app.and_then(|app| app.installations.first()) {
        Some(installation) => format!("installation ID {}", installation.id),
        None => format!("user ID {}", state.person(login).map_or(0, |person| person.id)),
    }
}
