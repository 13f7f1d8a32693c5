//! The client of Discord's REST API: token, rate limits and errors.

use std::sync::Arc;

use fro_core::Secret;
use fro_http::{Answer, Client, Request};
use serde::de::DeserializeOwned;
use twilight_http_ratelimiting::{Method, RateLimiter};

use crate::{error::Error, limit, settings::Settings};

/// How Discord wants programs to be called.
const USER_AGENT: &str =
    concat!("DiscordBot (https://github.com/fro-bot/agent, ", env!("CARGO_PKG_VERSION"), ")");

/// Questions and deeds. Clones share limits and connections.
#[derive(Debug, Clone)]
pub struct Discord(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    http: Client,
    base: String,
    credential: Secret,
    limiter: RateLimiter,
}

impl Discord {
    /// Opens the way. It must be called within a runtime, where a task keeps count of the limits.
    pub fn open(settings: &Settings, http: &Client) -> Self {
        Self(Arc::new(Inner {
            http: http.clone(),
            base: format!("{}/v10", settings.api.trim_end_matches('/')),
            credential: Secret::new(format!("Bot {}", settings.token.expose())),
            limiter: RateLimiter::default(),
        }))
    }

    /// Sends a request when its turn has come.
    pub(crate) async fn call(
        &self,
        deed: &str,
        (method, path): (Method, &str),
        prepare: impl FnOnce(Request) -> Request,
    ) -> Result<Answer, Error> {
        let Inner { http, base, credential, limiter } = &*self.0;
        let permit = limit::permit(limiter, method, path).await;
        let url = format!("{base}/{path}");
        let request = match method {
            Method::Get => http.get(url),
            Method::Patch => http.patch(url),
            Method::Put => http.put(url),
            Method::Delete => http.delete(url),
            _ => http.post(url),
        };
        // A webhook's address is its credential.
        let request = if path.starts_with("webhooks/") || path.starts_with("interactions/") {
            request
        } else {
            request.credential("authorization", credential)
        };
        let answer = prepare(request.header("user-agent", USER_AGENT)).send().await;
        permit.complete(answer.as_ref().ok().and_then(limit::read_limit));
        answer.map_err(|error| Error::http(deed, error))
    }

    /// Asks, and reads the answer.
    pub(crate) async fn read<T: DeserializeOwned>(&self, deed: &str, path: &str) -> Result<T, Error> {
        let answer = self.call(deed, (Method::Get, path), |request| request).await?;
        answer.json().map_err(|error| Error::http(deed, error))
    }

    /// Asks for something that need not be there.
    pub(crate) async fn find<T: DeserializeOwned>(&self, deed: &str, path: &str) -> Result<Option<T>, Error> {
        match self.read(deed, path).await {
            Err(error) if error.gone() => Ok(None),
            answer => answer.map(Some),
        }
    }
}
