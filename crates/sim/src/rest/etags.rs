//! Entity tags: an answer that a client has already is not sent again.

use std::hash::{DefaultHasher, Hasher as _};

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::Response,
};

/// Tags every answer to a question, and says 304 where the tag is known.
pub(crate) async fn tag(request: Request, next: Next) -> Response {
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
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
    let same = known.is_some_and(|known| known == tag.as_str());
    if let Ok(tag) = HeaderValue::try_from(tag) {
        parts.headers.insert(header::ETAG, tag);
    }
    if !same {
        return Response::from_parts(parts, Body::from(body));
    }
    parts.status = StatusCode::NOT_MODIFIED;
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::empty())
}
