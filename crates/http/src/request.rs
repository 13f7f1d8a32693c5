//! One request: built up, sent, and sent again when that helps and does no harm.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use fro_core::Secret;
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url, header::LOCATION};
use serde::Serialize;
use tokio::time;
use tracing::{debug, warn};

use crate::{
    answer::{Answer, Incoming, read_at_most, request_id},
    client::Client,
    error::{Call, Effect, Error, Kind},
    refusal::Refusal,
    retry::Retry,
};

/// How many redirects are followed.
const MOST_HOPS: usize = 5;

/// How much of a refusal is read.
const LARGEST_REFUSAL: usize = 64 << 10;

/// A request in the making.
#[derive(Debug)]
#[must_use = "nothing is sent before `send` or `stream`"]
pub struct Request {
    client: Client,
    method: Method,
    builder: RequestBuilder,
    effect: Effect,
    credential: Option<Secret>,
    timeout: Duration,
    max_body: usize,
    retry: Retry,
}

impl Request {
    pub(crate) fn new(client: Client, method: Method, url: &str) -> Self {
        let effect = if method.is_idempotent() { Effect::Same } else { Effect::Again };
        let settings = client.settings();
        let (timeout, max_body, retry) = (settings.timeout, settings.max_body, settings.retry.clone());
        let builder = client.inner().request(method.clone(), url);
        Self { client, method, builder, effect, credential: None, timeout, max_body, retry }
    }

    /// Adds a body.
    pub fn json(mut self, body: &impl Serialize) -> Self {
        self.builder = self.builder.json(body);
        self
    }

    /// Adds a header that is no credential.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.builder = self.builder.header(name, value);
        self
    }

    /// Adds a body as it is.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.builder = self.builder.body(body.into());
        self
    }

    /// Adds a header that is a credential.
    pub fn credential(mut self, name: &str, value: &Secret) -> Self {
        self.builder = self.builder.header(name, value.expose());
        self.credential = Some(value.clone());
        self
    }

    /// Adds a token.
    pub fn bearer(mut self, token: &Secret) -> Self {
        self.builder = self.builder.bearer_auth(token.expose());
        self.credential = Some(token.clone());
        self
    }

    /// Adds a name and a password.
    pub fn basic(mut self, name: &str, password: &Secret) -> Self {
        self.builder = self.builder.basic_auth(name, Some(password.expose()));
        self.credential = Some(password.clone());
        self
    }

    /// Declares that sending this twice does no more than sending it once, whatever its method says.
    pub fn idempotent(mut self) -> Self {
        self.effect = Effect::Same;
        self
    }

    /// Declares that nobody waits for a second attempt.
    pub fn once(mut self) -> Self {
        self.retry = Retry::never();
        self
    }

    /// Gives one attempt this long instead of the client's own time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Reads this many bytes of the answer at most instead of the client's own cap.
    pub fn at_most(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Sends the request and reads its answer to the end.
    pub async fn send(self) -> Result<Answer, Error> {
        let max_body = self.max_body;
        let once = move |trip: Arc<Trip>| async move {
            Answer::read(&trip.call, trip.answer().await?, max_body).await
        };
        self.persist(once).await
    }

    /// Sends the request and returns as soon as the answer begins.
    pub async fn stream(self) -> Result<Incoming, Error> {
        let once = |trip: Arc<Trip>| async move { Ok(Incoming::new(&trip.call, trip.answer().await?)) };
        self.persist(once).await
    }

    /// Sends the request exactly once and returns as soon as the answer begins, whatever it says.
    ///
    /// This is for passing somebody else's request on: refusals are theirs to read, and redirects are not followed.
    pub async fn relay(self) -> Result<Incoming, Error> {
        let timeout = self.timeout;
        let trip = Trip::prepare(self)?;
        let answer = time::timeout(timeout, trip.knock(trip.request.url())).await;
        let answer = answer.unwrap_or_else(|_| Err(trip.call.failed(Kind::Late(timeout))))?;
        Ok(Incoming::new(&trip.call, answer))
    }

    /// Tries until there is an answer or an error that stands.
    ///
    /// Each attempt owns its share of the trip: the future of an `AsyncFn` that borrows it could not be proven `Send`.
    async fn persist<T, F>(self, once: impl Fn(Arc<Trip>) -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let (timeout, retry) = (self.timeout, self.retry.clone());
        let trip = Arc::new(Trip::prepare(self)?);
        let mut failed = 0;
        loop {
            let outcome = time::timeout(timeout, once(Arc::clone(&trip))).await;
            let error = match outcome.unwrap_or_else(|_| Err(trip.call.failed(Kind::Late(timeout)))) {
                Ok(answer) => {
                    trip.client.note_connected();
                    return Ok(answer);
                }
                Err(error) => error,
            };
            failed += 1;
            if error.limited() {
                trip.client.note_slowed();
            }
            let Some(pause) = retry.pause(failed, &error) else { return Err(error) };
            trip.tell_of_pause(pause, &error);
            time::sleep(pause).await;
        }
    }
}

/// A request that is ready to go as often as needed.
struct Trip {
    client: Client,
    request: reqwest::Request,
    call: Call,
    credential: Option<Secret>,
}

impl Trip {
    /// Says why a request is sent again. Without a network every request fails at every try, which is said once.
    fn tell_of_pause(&self, pause: Duration, error: &Error) {
        let seconds = pause.as_secs_f32();
        if !error.is_cut_off() {
            warn!(http.pause_ms = pause.as_millis(), "trying again in {seconds} s: {error}");
        } else if self.client.note_cut_off() {
            let origin = self.request.url().origin().ascii_serialization();
            warn!("cannot connect to {origin}; trying again for a while");
        } else {
            debug!(http.pause_ms = pause.as_millis(), "trying again in {seconds} s: {error}");
        }
    }

    fn prepare(request: Request) -> Result<Self, Error> {
        let Request { client, method, builder, effect, credential, .. } = request;
        let request = builder.build().map_err(|error| {
            let nowhere = Call { method, place: "an unusable address".to_owned(), effect };
            nowhere.not_answered(error)
        })?;
        let call = Call::new(request.method(), request.url(), effect);
        Ok(Self { client, request, call, credential })
    }

    /// Sends the request once, follows where it may be followed, and returns an answer that says yes.
    async fn answer(&self) -> Result<Response, Error> {
        let mut url = self.request.url().clone();
        for _ in 0..=MOST_HOPS {
            let response = self.knock(&url).await?;
            let status = response.status();
            debug!(http.status = status.as_u16(), "{} answered {status}", self.call);
            match next_stop(&url, &response) {
                _ if status.is_success() => return Ok(response),
                Some(next) if self.may_follow(status, &url, &next) => url = next,
                Some(next) => {
                    return Err(self.call.failed(Kind::Astray(next.origin().ascii_serialization())));
                }
                None => return Err(self.refused(response).await),
            }
        }
        Err(self.call.failed(Kind::Astray("one place after another".to_owned())))
    }

    async fn knock(&self, url: &Url) -> Result<Response, Error> {
        #[expect(
            clippy::expect_used,
            reason = "only a body that is a stream cannot be cloned; ours are bytes"
        )]
        let mut request = self.request.try_clone().expect("a body of bytes can be cloned");
        request.url_mut().clone_from(url);
        self.client.inner().execute(request).await.map_err(|error| self.call.not_answered(error))
    }

    /// Tells whether a redirect keeps the request what it is and its credential where it belongs.
    fn may_follow(&self, status: StatusCode, from: &Url, to: &Url) -> bool {
        let keeps_method = self.call.method.is_safe()
            || matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let keeps_secrets = from.origin() == to.origin() || self.credential.is_none();
        let keeps_cover = to.scheme() == "https" || to.scheme() == from.scheme();
        keeps_method && keeps_secrets && keeps_cover
    }

    async fn refused(&self, response: Response) -> Error {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = read_at_most(LARGEST_REFUSAL, response).await.unwrap_or_default();
        let refusal = Refusal::read(status, &headers, body, self.credential.as_ref());
        self.call.failed_with(request_id(&headers), Kind::Refused(refusal))
    }
}

fn next_stop(from: &Url, response: &Response) -> Option<Url> {
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    response.status().is_redirection().then(|| from.join(location).ok())?
}
