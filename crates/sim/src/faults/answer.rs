//! The answers of faults.

use std::time::Duration;

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};
use jiff::Timestamp;
use serde_json::json;

use crate::server::Unsent;

/// An error answer with this status.
pub(super) fn status(status: u16) -> Response {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let body =
        json!({ "message": reason.unwrap_or("Error"), "documentation_url": "https://docs.github.com/rest" });
    given(status, &[], body.to_string())
}

/// An answer as told.
pub(super) fn given(status: u16, headers: &[(String, String)], body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, [(CONTENT_TYPE, "application/json; charset=utf-8")], body).into_response();
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// The primary limit. GraphQL says it with a 200.
pub(super) fn rate_limit(path: &str, reset_in: Duration) -> Response {
    let reset = Timestamp::now().as_second() + i64::try_from(reset_in.as_secs()).unwrap_or(i64::MAX / 2);
    let headers = [
        ("x-ratelimit-limit", "5000".to_owned()),
        ("x-ratelimit-remaining", "0".to_owned()),
        ("x-ratelimit-reset", reset.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    let message = "API rate limit exceeded for user ID 1.";
    if path == "/graphql" {
        return given(
            200,
            &headers,
            json!({ "errors": [{ "type": "RATE_LIMITED", "message": message }] }).to_string(),
        );
    }
    let documentation = "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api";
    given(403, &headers, json!({ "message": message, "documentation_url": documentation }).to_string())
}

/// The limit against bursts.
pub(super) fn secondary_rate_limit(retry_after: Option<Duration>) -> Response {
    let headers: Vec<_> =
        retry_after.map(|time| ("retry-after".to_owned(), time.as_secs().to_string())).into_iter().collect();
    let message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    let documentation =
        "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits";
    given(403, &headers, json!({ "message": message, "documentation_url": documentation }).to_string())
}

/// An answer that is not sent, or not all of it.
pub(super) fn without(mut response: Response, unsent: Unsent) -> Response {
    response.extensions_mut().insert(unsent);
    response
}
