//! What every answer of the API carries, and what every request to it must.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use jiff::Timestamp;

use crate::{auth, hub::Hub, permission, rest::media::Media};

/// What an answer depends on besides its address.
const VARY: &str = "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding, Accept, X-Requested-With";

/// The first segments of the API's addresses; all others are git's, of files, of the cache or pages.
const API: [&str; 9] =
    ["app", "graphql", "installation", "rate_limit", "repos", "repositories", "search", "user", "users"];

/// Whether an address is one of the API.
pub(crate) fn is_api(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    path == "/" || API.contains(&first)
}

/// Refuses who does not say what they are, and puts GitHub's headers on every other answer.
pub(crate) async fn manners(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    if !is_api(&path) {
        return next.run(request).await;
    }
    if !request.headers().contains_key(header::USER_AGENT) {
        return nameless();
    }
    let (method, headers) = (request.method().clone(), request.headers().clone());
    let mut response = next.run(request).await;
    if response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json") {
        let kind = HeaderValue::from_static("application/json; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    let told = always(&headers).into_iter().chain(cached(&method, &headers, response.status()));
    let accepted = hub.read(|state| permission::accepted(state, &method, &path));
    for (name, value) in told.chain(accepted.map(|told| ("x-accepted-github-permissions", told))) {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().entry(name).or_insert(value);
        }
    }
    response
}

fn always(headers: &HeaderMap) -> Vec<(&'static str, String)> {
    static REQUESTS: AtomicU64 = AtomicU64::new(0x1000);
    let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
    let id = format!("{number:04X}:{:04X}:{:X}", number % 997, Timestamp::now().as_millisecond());
    let mut told = vec![
        ("x-github-request-id", id),
        ("x-github-media-type", Media::read(headers).understood()),
        ("x-github-api-version-selected", "2022-11-28".to_owned()),
        ("vary", VARY.to_owned()),
    ];
    // Only people's tokens have scopes; those of apps have permissions instead.
    if auth::bearer(headers).is_some_and(|text| text.starts_with("ghp")) {
        told.push(("x-oauth-scopes", "read:org, repo, workflow".to_owned()));
    }
    told
}

/// How long a good answer to a question may be kept, and by whom.
fn cached(method: &Method, headers: &HeaderMap, status: StatusCode) -> Option<(&'static str, String)> {
    let kept = *method == Method::GET && (status.is_success() || status == StatusCode::NOT_MODIFIED);
    let whose = if headers.contains_key(header::AUTHORIZATION) { "private" } else { "public" };
    kept.then(|| ("cache-control", format!("{whose}, max-age=60, s-maxage=60")))
}

fn nameless() -> Response {
    let words = "\r\nRequest forbidden by administrative rules. Please make sure your request has a User-Agent header \
                 (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required). Check \
                 https://developer.github.com for other possible causes.\r\n";
    (StatusCode::FORBIDDEN, [(header::CONTENT_TYPE, "text/html")], words).into_response()
}
