//! Where something new can be found: the header that stands beside it.

use axum::{
    body::to_bytes,
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header::LOCATION},
    middleware::Next,
    response::Response,
};
use serde_json::Value;

/// What stands last in the addresses by which such things are made.
const MADE_BY: [&str; 10] =
    ["labels", "issues", "comments", "pulls", "replies", "commits", "trees", "blobs", "refs", "releases"];

/// Tells the address of whatever was made, where GitHub's description says that it is told.
pub(crate) async fn locate(request: Request, next: Next) -> Response {
    let parts: Vec<_> = request.uri().path().split('/').collect();
    let told = match parts.as_slice() {
        [.., "statuses", _] => true,
        [.., last] => MADE_BY.contains(last),
        [] => false,
    };
    let told = told && request.method() == Method::POST;
    let response = next.run(request).await;
    if !told || response.status() != StatusCode::CREATED || response.headers().contains_key(LOCATION) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let made: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if let Some(url) = made["url"].as_str().and_then(|url| HeaderValue::try_from(url).ok()) {
        parts.headers.insert(LOCATION, url);
    }
    Response::from_parts(parts, bytes.into())
}
