//! A GitHub App: it signs for itself, and gets a token that opens one repository for an hour.

use std::{fmt, sync::Arc};

use data_encoding::BASE64URL_NOPAD;
use fro_core::{Login, RepoName, Secret};
use fro_http::Client;
use jiff::{SignedDuration, Timestamp};
use ring::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use rustls_pki_types::{PrivateKeyDer, pem::PemObject as _};
use serde::Deserialize;
use serde_json::json;

use crate::{
    ask::account::Account,
    client::{Address, GitHub, segment},
    error::{Attempted, Error},
};

/// How long a signature is good for; GitHub takes ten minutes at most.
const GOOD_FOR: SignedDuration = SignedDuration::from_mins(9);
/// Clocks differ.
const SLACK: SignedDuration = SignedDuration::from_mins(1);

/// An App's id and its key.
#[derive(Clone)]
pub struct App {
    id: String,
    key: Arc<RsaKeyPair>,
    text: Secret,
}

/// A key that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("it is no RSA key in PEM form, as GitHub gives it out for an App")]
pub struct BadKey;

/// A token of an installation.
#[derive(Debug, Clone)]
pub struct InstallationToken {
    /// The token.
    pub token: Secret,
    /// When it ends.
    pub expires_at: Timestamp,
    /// Who acts by it.
    pub account: Account,
}

#[derive(Deserialize)]
struct OwnInstallation {
    id: u64,
    app_slug: String,
}

#[derive(Deserialize)]
struct Token {
    token: String,
    expires_at: Timestamp,
}

#[derive(Deserialize)]
struct AppUser {
    login: Login,
    id: u64,
}

impl App {
    /// Reads the key. A secret that lost its line breaks, as some tools make them, has `\n` instead.
    pub fn new(id: &str, pem: &str) -> Result<Self, BadKey> {
        let pem = pem.replace("\\n", "\n");
        let key = match PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| BadKey)? {
            PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
            PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
            _ => return Err(BadKey),
        };
        Ok(Self { id: id.to_owned(), key: Arc::new(key.map_err(|_| BadKey)?), text: Secret::new(pem) })
    }

    /// Returns the key as it was given, so that it can be looked for.
    pub fn secret(&self) -> &Secret {
        &self.text
    }

    /// Gets a token for this repository alone, with what a branch and a pull request need.
    pub async fn mint(
        &self,
        address: &Address,
        repo: &RepoName,
        client: &Client,
        now: Timestamp,
    ) -> Result<InstallationToken, Error> {
        let aim = Attempted::new(format!("get a token of the App for {repo}"), "contents: write");
        let signed = self.signature(now).ok_or_else(|| aim.missed(crate::error::Cause::Unfit))?;
        let own = GitHub::new(address.clone(), signed, repo.clone(), client.clone());
        let path = format!("/repos/{repo}/installation");
        let answer = own.get(&path).send().await.map_err(|error| aim.missed(error))?;
        let installation: OwnInstallation = answer.json().map_err(|error| aim.missed(error))?;
        let wish = json!({
            "repositories": [repo.name()],
            "permissions": { "contents": "write", "pull_requests": "write", "metadata": "read" },
        });
        let path = format!("/app/installations/{}/access_tokens", installation.id);
        // A second token does no harm: the first one is never used and ends by itself.
        let answer = own.post(&path).idempotent().json(&wish).send().await;
        let token: Token = answer.and_then(|answer| answer.json()).map_err(|error| aim.missed(error))?;
        let secret = Secret::new(token.token);
        let minted = GitHub::new(address.clone(), secret.clone(), repo.clone(), client.clone());
        let bot = format!("{}[bot]", installation.app_slug);
        let answer = minted.get(&format!("/users/{}", segment(&bot))).send().await;
        let user: AppUser = answer.and_then(|answer| answer.json()).map_err(|error| aim.missed(error))?;
        let account = Account { login: user.login, id: user.id };
        Ok(InstallationToken { token: secret, expires_at: token.expires_at, account })
    }

    /// Signs that it is this App who asks.
    fn signature(&self, now: Timestamp) -> Option<Secret> {
        let claims = json!({
            "iat": (now - SLACK).as_second(),
            "exp": (now + GOOD_FOR).as_second(),
            "iss": self.id,
        });
        let encode = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
        let text = format!("{}.{}", encode(r#"{"alg":"RS256","typ":"JWT"}"#), encode(&claims.to_string()));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature).ok()?;
        Some(Secret::new(format!("{text}.{}", BASE64URL_NOPAD.encode(&signature))))
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("id", &self.id).finish_non_exhaustive()
    }
}
