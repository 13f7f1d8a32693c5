//! What every request brings: who asks, and a body in JSON or with files.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{FromRequest, FromRequestParts, Multipart, Request, State},
    http::{header, request::Parts},
    middleware::Next,
    response::Response,
};
use serde_json::{Value, json};

use crate::{
    discord::{denial::Denial, form::Form, switchboard::Switchboard},
    server::Unsent,
    traffic::{self, Exchange},
};

/// The bot, whose token came with the request.
pub(crate) struct Bot(pub(crate) u64);

/// A body: its JSON, and the files with it.
pub(crate) struct Body10 {
    pub(crate) json: Value,
    files: Vec<(String, String, Bytes)>,
}

impl FromRequestParts<Arc<Switchboard>> for Bot {
    type Rejection = Denial;

    async fn from_request_parts(parts: &mut Parts, board: &Arc<Switchboard>) -> Result<Self, Denial> {
        let header = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.filter(|header| header.starts_with("Bot ")).map(|header| json!(header));
        board.read(|chat| {
            let known = token.is_some_and(|token| chat.knows(&token));
            known.then_some(Self(chat.application.id)).ok_or_else(Denial::unauthorized)
        })
    }
}

impl<S: Send + Sync> FromRequest<S> for Body10 {
    type Rejection = Denial;

    async fn from_request(request: Request, state: &S) -> Result<Self, Denial> {
        let unreadable = || Denial::new(400, 50109, "The request body contains invalid JSON.");
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("multipart/form-data")) {
            let parts = Multipart::from_request(request, state).await.map_err(|_| unreadable())?;
            return parts_of(parts).await.ok_or_else(unreadable);
        }
        let bytes = to_bytes(request.into_body(), usize::MAX).await.map_err(|_| unreadable())?;
        let json = if bytes.is_empty() {
            json!({})
        } else {
            serde_json::from_slice(&bytes).map_err(|_| unreadable())?
        };
        Ok(Self { json, files: Vec::new() })
    }
}

async fn parts_of(mut parts: Multipart) -> Option<Body10> {
    let mut body = Body10 { json: json!({}), files: Vec::new() };
    while let Some(part) = parts.next_field().await.ok()? {
        if part.name() == Some("payload_json") {
            body.json = serde_json::from_slice(&part.bytes().await.ok()?).ok()?;
            continue;
        }
        let name = part.file_name()?.to_owned();
        let kind = part.content_type().unwrap_or("application/octet-stream").to_owned();
        body.files.push((name, kind, part.bytes().await.ok()?));
    }
    Some(body)
}

impl Body10 {
    /// Reads the body as the form of a message.
    pub(crate) fn form(self) -> Result<Form, Denial> {
        Form::read(&self.json, self.files)
    }

    /// Reads a part of the body as the form of a message.
    pub(crate) fn form_in(self, part: &str) -> Result<Form, Denial> {
        let form = self.json.get(part).cloned().unwrap_or_else(|| json!({}));
        Form::read(&form, self.files)
    }
}

/// Writes down each request when it comes, and its answer when that is known.
pub(crate) async fn record(State(board): State<Arc<Switchboard>>, request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with("/api/") {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let (method, path) = (parts.method.to_string(), parts.uri.path().to_owned());
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let (request, headers, response) = (traffic::text(&body), traffic::lines(&parts.headers), String::new());
    let exchange = Exchange { method, path, query, headers, login: None, request, status: None, response };
    let number = {
        let mut traffic = board.traffic();
        traffic.push(exchange);
        traffic.len() - 1
    };
    board.nudge();
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    if parts.extensions.get() != Some(&Unsent::All) {
        let answered = &mut board.traffic()[number];
        (answered.status, answered.response) = (Some(parts.status.as_u16()), traffic::text(&body));
    }
    board.nudge();
    Response::from_parts(parts, Body::from(body))
}

/// Answers a request that no route is there for, and remembers it.
pub(crate) async fn unknown(State(board): State<Arc<Switchboard>>, request: Request) -> Denial {
    board.unknown().push(format!("{} {}", request.method(), request.uri().path()));
    Denial::no_route()
}
