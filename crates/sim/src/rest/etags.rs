//! Entity tags and times: an answer that a client has already is not sent again.

use std::hash::{DefaultHasher, Hasher as _};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::Response,
};
use jiff::Timestamp;
use serde_json::Value;

/// Tags every answer to a question, and says 304 where the tag is known, or the time of what it is about.
pub(crate) async fn tag(request: Request, next: Next) -> Response {
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let since = request.headers().get(header::IF_MODIFIED_SINCE).cloned();
    let asks = request.method() == Method::GET;
    let response = next.run(request).await;
    if !asks || response.status() != StatusCode::OK || response.headers().contains_key(header::ETAG) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    hasher.write(&body);
    let tag = format!("W/\"{:016x}\"", hasher.finish());
    let modified = modified(&body);
    let unmodified = modified.as_deref().is_some_and(|time| since.is_some_and(|since| since == time));
    let same = known.map_or(unmodified, |known| known == tag.as_str());
    for (name, value) in [(header::ETAG, Some(tag)), (header::LAST_MODIFIED, modified)] {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            parts.headers.insert(name, value);
        }
    }
    if !same {
        return Response::from_parts(parts, Body::from(body));
    }
    parts.status = StatusCode::NOT_MODIFIED;
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::empty())
}

/// When the one thing that an answer tells of was last changed.
fn modified(body: &Bytes) -> Option<String> {
    let told: Value = serde_json::from_slice(body).ok()?;
    let time: Timestamp = told.get("updated_at")?.as_str()?.parse().ok()?;
    Some(time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string())
}
