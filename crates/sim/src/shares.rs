//! A host for shared sessions, as the engine's makers run one: a share is made, filled, and open to whoever knows its id.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    hub::Hub,
    routes::Routes,
    state::{Share, random_letters},
};

/// Letters at the end of a session's id that a share is known by.
const KNOWN_BY: usize = 8;

type Answer = Result<Json<Value>, (StatusCode, &'static str)>;

#[derive(Deserialize)]
struct Create {
    #[serde(rename = "sessionID")]
    session_id: String,
}

#[derive(Deserialize)]
struct Sync {
    secret: String,
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: Kind,
    data: Value,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Session,
    Message,
    Part,
    SessionDiff,
    Model,
}

/// The routes of the host.
pub(crate) fn routes() -> Routes {
    Routes::below("/api")
        .on("POST /share", create)
        .on("POST /share/{id}/sync", sync)
        .on("GET /share/{id}/data", data)
}

async fn create(State(hub): State<Arc<Hub>>, body: Bytes) -> Answer {
    let Create { session_id } = read(&body)?;
    let start = session_id.len().saturating_sub(KNOWN_BY);
    let id = session_id.get(start..).unwrap_or(&session_id).to_owned();
    let secret = random_letters(36);
    let (url, address) = (format!("{}/share/{id}", hub.address), (id.clone(), secret.clone()));
    hub.change(|state| {
        if state.shares.iter().any(|share| share.id == id) {
            return Err((StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"));
        }
        state.shares.push(Share { id, session: session_id, secret, data: Vec::new() });
        Ok(())
    })?;
    Ok(Json(json!({ "id": address.0, "secret": address.1, "url": url })))
}

async fn sync(State(hub): State<Arc<Hub>>, Path(id): Path<String>, body: Bytes) -> Answer {
    let Sync { secret, data } = read(&body)?;
    hub.change(|state| {
        let share = state.shares.iter_mut().find(|share| share.id == id && share.secret == secret);
        let share = share.ok_or((StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"))?;
        for item in data {
            let key = item.key();
            share.data.retain(|(known, _)| *known != key);
            share.data.push((key, item.data));
        }
        Ok(Json(json!({})))
    })
}

async fn data(State(hub): State<Arc<Hub>>, Path(id): Path<String>) -> Answer {
    hub.read(|state| {
        let share = state.shares.iter().find(|share| share.id == id);
        let share = share.ok_or((StatusCode::NOT_FOUND, "Not Found"))?;
        let items = share.data.iter().map(|(key, data)| {
            let kind = key.split('/').next();
            json!({ "type": kind, "data": data })
        });
        Ok(Json(items.collect()))
    })
}

fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, (StatusCode, &'static str)> {
    serde_json::from_slice(body).map_err(|_| (StatusCode::BAD_REQUEST, "Malformed JSON in request body"))
}

impl Item {
    /// What it takes the place of.
    fn key(&self) -> String {
        let word = |name: &str| self.data[name].as_str().unwrap_or_default().to_owned();
        match self.kind {
            Kind::Session => "session".to_owned(),
            Kind::Message => format!("message/{}", word("id")),
            Kind::Part => format!("part/{}/{}", word("messageID"), word("id")),
            Kind::SessionDiff => "session_diff".to_owned(),
            Kind::Model => "model".to_owned(),
        }
    }
}
