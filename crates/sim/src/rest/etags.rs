//! Entity tags and times: an answer that a client has already is not sent again.

use std::hash::{DefaultHasher, Hasher as _};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::Response,
};
use jiff::{Timestamp, fmt::rfc2822};
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
    let since = since.and_then(|since| rfc2822::parse(since.to_str().ok()?).ok());
    let unmodified =
        modified.zip(since).is_some_and(|(time, since)| time.as_second() <= since.timestamp().as_second());
    let same = known.map_or(unmodified, |known| names(&known, &tag));
    let modified = modified.map(|time| time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string());
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

/// Whether a tag is among those that a client knows; whether it calls them weak does not matter.
fn names(known: &HeaderValue, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known.to_str().is_ok_and(|known| known.split(',').any(|own| own.trim() == "*" || bare(own) == bare(tag)))
}

/// When the one thing that an answer tells of was last changed.
fn modified(body: &Bytes) -> Option<Timestamp> {
    let told: Value = serde_json::from_slice(body).ok()?;
    told.get("updated_at")?.as_str()?.parse().ok()
}
