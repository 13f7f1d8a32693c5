//! Signing in a device: it gets a code, a person types another one, and the device asks until it has a token.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use jiff::SignedDuration;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    auth,
    hub::Hub,
    problem::Problem,
    routes::Routes,
    state::{self, Device, DeviceAnswer, PersonKind, Token, TokenAccess, random_letters},
};

/// The codes are good for so many seconds.
const LIFE: i64 = 900;
/// A device asks again after so many seconds at the earliest.
const INTERVAL: i64 = 5;

#[derive(Deserialize)]
struct Beginning {
    client_id: String,
}

#[derive(Deserialize)]
struct Asking {
    client_id: String,
    device_code: Option<String>,
    grant_type: Option<String>,
}

#[derive(Deserialize)]
struct Typed {
    user_code: String,
    /// `deny`, if the person does not want it.
    answer: Option<String>,
}

/// The routes of signing in.
pub(crate) fn routes() -> Routes {
    Routes::below("")
        .on("POST /login/device/code", begin)
        .on("POST /login/oauth/access_token", ask)
        .on("POST /login/device", typed)
}

/// `POST /login/device/code`
async fn begin(State(hub): State<Arc<Hub>>, headers: HeaderMap, body: Bytes) -> Response {
    let Some(Beginning { client_id }) = read(&headers, &body) else { return nothing() };
    hub.change(|state| {
        if !known(state, &client_id) {
            return nothing();
        }
        let letters = random_letters(8).to_uppercase();
        let (code, user_code) =
            (random_letters(40).to_lowercase(), format!("{}-{}", &letters[..4], &letters[4..]));
        let told = json!({
            "device_code": code,
            "user_code": user_code,
            "verification_uri": format!("{}/login/device", hub.address),
            "expires_in": LIFE,
            "interval": INTERVAL,
        });
        let expires_at = state.clock.peek() + SignedDuration::from_secs(LIFE);
        state.devices.push(Device { code, user_code, client_id, answer: None, expires_at, asked_at: None });
        Json(told).into_response()
    })
}

/// `POST /login/oauth/access_token`: refusals have the status of an answer
async fn ask(State(hub): State<Arc<Hub>>, headers: HeaderMap, body: Bytes) -> Response {
    let Some(asking) = read::<Asking>(&headers, &body) else { return nothing() };
    hub.change(|state| {
        Json(asking.answered(state).unwrap_or_else(|error| json!({ "error": error }))).into_response()
    })
}

/// `POST /login/device`: what the page of that name sends for the person whose token comes along
async fn typed(State(hub): State<Arc<Hub>>, headers: HeaderMap, body: Bytes) -> Result<StatusCode, Problem> {
    let Typed { user_code, answer } = read(&headers, &body).ok_or_else(Problem::not_found)?;
    hub.change(|state| {
        let login = auth::owner(state, &headers).ok_or_else(Problem::requires_authentication)?;
        let mut waiting = state.devices.iter_mut().filter(|device| device.answer.is_none());
        let device = waiting.find(|device| device.user_code == user_code).ok_or_else(Problem::not_found)?;
        let denied = answer.as_deref() == Some("deny");
        device.answer = Some(if denied { DeviceAnswer::Denied } else { DeviceAnswer::Allowed(login) });
        Ok(StatusCode::NO_CONTENT)
    })
}

impl Asking {
    /// The token, or the word for why there is none yet.
    fn answered(self, state: &mut state::State) -> Result<Value, &'static str> {
        if !known(state, &self.client_id) {
            return Err("incorrect_client_credentials");
        }
        if self.grant_type.as_deref() != Some("urn:ietf:params:oauth:grant-type:device_code") {
            return Err("unsupported_grant_type");
        }
        let now = state.clock.peek();
        let own = |device: &Device| {
            Some(&device.code) == self.device_code.as_ref() && device.client_id == self.client_id
        };
        let place = state.devices.iter().position(own).ok_or("incorrect_device_code")?;
        let device = &mut state.devices[place];
        let hasty = device.asked_at.is_some_and(|before| now < before + SignedDuration::from_secs(INTERVAL));
        device.asked_at = Some(now);
        match device.answer.clone() {
            _ if device.expires_at <= now => Err("expired_token"),
            None if hasty => Err("slow_down"),
            None => Err("authorization_pending"),
            Some(DeviceAnswer::Denied) => Err("access_denied"),
            Some(DeviceAnswer::Allowed(login)) => {
                state.devices.remove(place);
                let mut token = Token::new(&login, PersonKind::User, TokenAccess::Full);
                // An app acts for the person.
                token.text = token.text.replacen("ghp_", "ghu_", 1);
                let told = json!({ "access_token": token.text, "token_type": "bearer", "scope": "" });
                state.tokens.push(token);
                Ok(told)
            }
        }
    }
}

fn known(state: &state::State, client_id: &str) -> bool {
    state.apps.iter().any(|app| app.client_id() == client_id)
}

/// Reads a form, or JSON.
fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Option<T> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.contains("json") {
        serde_json::from_slice(body).ok()
    } else {
        serde_urlencoded::from_bytes(body).ok()
    }
}

fn nothing() -> Response {
    (StatusCode::NOT_FOUND, Json(json!({ "error": "Not Found" }))).into_response()
}
