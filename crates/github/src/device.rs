//! Signing in on another screen: a person types a code on GitHub's page, and we learn who they are.
//!
//! The token that comes of it acts for the person. It is used for the questions of that moment and kept nowhere.

use std::time::Duration;

use fro_core::Secret;
use fro_http::Client;
use serde::Deserialize;
use serde_json::json;

use crate::{
    client::Address,
    error::{Attempted, Cause, Error},
};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// By so much longer GitHub wants the pauses to be once it says that we are too fast.
const SLOWER: Duration = Duration::from_secs(5);

/// The way in for people, of one App.
#[derive(Debug, Clone)]
pub struct DeviceFlow {
    web: String,
    client_id: String,
    client: Client,
}

/// A code that somebody may type.
#[derive(Debug, Clone)]
pub struct DeviceCode {
    code: Secret,
    /// What they type.
    pub user_code: String,
    /// Where they type it.
    pub page: String,
    /// How long it is good for.
    pub good_for: Duration,
    /// How long to wait before asking.
    pub pause: Duration,
}

/// What came of a code so far.
#[derive(Debug, Clone)]
pub enum SignedIn {
    /// The person said yes; this acts for them.
    Yes(Secret),
    /// Nothing yet; ask again after this time.
    NotYet(Duration),
    /// The person said no, or the code is too old.
    No,
}

#[derive(Deserialize)]
struct WireDeviceCode {
    device_code: String,
    user_code: String,
    verification_uri: String,
    expires_in: u64,
    interval: u64,
}

#[derive(Deserialize)]
struct DeviceReply {
    access_token: Option<String>,
    error: Option<String>,
}

impl DeviceFlow {
    /// Names the App by its client id, which is no secret.
    pub fn new(address: &Address, client_id: &str, client: Client) -> Self {
        Self { web: address.web.trim_end_matches('/').to_owned(), client_id: client_id.to_owned(), client }
    }

    /// Gets a code for somebody.
    pub async fn begin(&self) -> Result<DeviceCode, Error> {
        let aim = Attempted::new("get a code for signing in", "device flow enabled in the App's settings");
        let request = self.client.post(format!("{}/login/device/code", self.web)).idempotent();
        let form = json!({ "client_id": self.client_id });
        let answer = request.header("accept", "application/json").json(&form).send().await;
        let begun: WireDeviceCode =
            answer.and_then(|answer| answer.json()).map_err(|error| aim.missed(error))?;
        Ok(DeviceCode {
            code: Secret::new(begun.device_code),
            user_code: begun.user_code,
            page: begun.verification_uri,
            good_for: Duration::from_secs(begun.expires_in),
            pause: Duration::from_secs(begun.interval),
        })
    }

    /// Asks what came of a code.
    pub async fn ask(&self, code: &DeviceCode) -> Result<SignedIn, Error> {
        let aim = Attempted::new("find out who signed in", "device flow enabled in the App's settings");
        let request = self.client.post(format!("{}/login/oauth/access_token", self.web)).idempotent();
        let form =
            json!({ "client_id": self.client_id, "device_code": code.code.expose(), "grant_type": GRANT });
        let answer = request.header("accept", "application/json").json(&form).send().await;
        let told: DeviceReply = answer.and_then(|answer| answer.json()).map_err(|error| aim.missed(error))?;
        match (told.access_token, told.error.as_deref()) {
            (Some(token), _) => Ok(SignedIn::Yes(Secret::new(token))),
            (None, Some("authorization_pending")) => Ok(SignedIn::NotYet(code.pause)),
            (None, Some("slow_down")) => Ok(SignedIn::NotYet(code.pause + SLOWER)),
            (None, Some("access_denied" | "expired_token")) => Ok(SignedIn::No),
            (None, _) => Err(aim.missed(Cause::Unfit)),
        }
    }
}
