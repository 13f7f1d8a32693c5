//! The record of every request and its answer.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::HeaderMap,
    middleware::Next,
    response::Response,
};

use crate::{auth, hub::Hub, server::Unsent};

/// One request and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// `GET`, `POST` …
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The query without `?`, empty if there is none.
    pub query: String,
    /// Its headers, a line for each.
    pub headers: String,
    /// Whose token came with it; nobody's if it was missing or wrong.
    pub login: Option<String>,
    /// The request's body.
    pub request: String,
    /// The answer's status; none while there is no answer, or if the connection was closed without one.
    pub status: Option<u16>,
    /// The answer's body.
    pub response: String,
}

/// Writes down each request when it comes, and its answer when that is known.
pub(crate) async fn record(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    // The API and the first page share an address; who only looks at the page shows no token.
    if request.uri().path() == "/" && auth::bearer(request.headers()).is_none() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let number = {
        let mut traffic = hub.traffic();
        traffic.push(Exchange {
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers: lines(&parts.headers),
            login: hub.read(|state| auth::owner(state, &parts.headers)),
            request: text(&body),
            status: None,
            response: String::new(),
        });
        traffic.len() - 1
    };
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    if parts.extensions.get() != Some(&Unsent::All) {
        let mut traffic = hub.traffic();
        traffic[number].status = Some(parts.status.as_u16());
        traffic[number].response = text(&body);
    }
    Response::from_parts(parts, Body::from(body))
}

/// Headers, a line for each.
pub(crate) fn lines(headers: &HeaderMap) -> String {
    let each = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
    each.collect()
}

/// The text of a body; of other contents, only how long they are.
pub(crate) fn text(bytes: &Bytes) -> String {
    str::from_utf8(bytes).map_or_else(|_| format!("<{} bytes>", bytes.len()), str::to_owned)
}
