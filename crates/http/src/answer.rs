//! What came back: an answer read to its end, or one that is still coming in.

use bytes::{Bytes, BytesMut};
use futures::{Stream, stream};
use reqwest::{Response, header::HeaderMap};
use serde::de::DeserializeOwned;

use crate::error::{Call, Error, Kind};

/// A whole answer that said yes.
#[derive(Debug)]
pub struct Answer {
    call: Call,
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

/// An answer that is read piece by piece, for downloads and event streams.
///
/// It said yes, unless it was asked for by [`Request::relay`](crate::Request::relay).
///
/// Neither [`max_body`](crate::ClientSettings::max_body) nor the whole-request timeout bounds it: whoever reads
/// it decides when it is too much or too long.
#[derive(Debug)]
pub struct Incoming {
    call: Call,
    response: Response,
}

impl Answer {
    pub(crate) async fn read(call: &Call, response: Response, limit: usize) -> Result<Self, Error> {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = read_at_most(limit, response).await;
        let body = body.map_err(|kind| call.failed_with(request_id(&headers), kind))?;
        Ok(Self { call: call.clone(), status, headers, body })
    }

    /// Returns the status, some kind of success.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns a header that is plain text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the body as it came.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// Reads the body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let mut json = serde_json::Deserializer::from_slice(&self.body);
        let value = serde_path_to_error::deserialize(&mut json)
            .map_err(|error| self.unreadable(error.path().to_string(), error.inner()))?;
        json.end().map_err(|error| self.unreadable(".".to_owned(), &error))?;
        Ok(value)
    }

    fn unreadable(&self, field: String, error: &serde_json::Error) -> Error {
        let kind = Kind::Unreadable { field, problem: problem(error) };
        self.call.failed_with(request_id(&self.headers), kind)
    }
}

impl Incoming {
    pub(crate) fn new(call: &Call, response: Response) -> Self {
        Self { call: call.clone(), response }
    }

    /// Returns the status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the headers that are plain text.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.response.headers().iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
    }

    /// Returns a header that is plain text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Waits for the next piece; nothing means that the answer ended as it should.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        self.response.chunk().await.map_err(|error| {
            let kind = Kind::Broken(error.without_url());
            self.call.failed_with(request_id(self.response.headers()), kind)
        })
    }

    /// Turns this into a stream of its pieces.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes, Error>> + Send + 'static {
        stream::try_unfold(self, |mut incoming| async move {
            Ok(incoming.chunk().await?.map(|piece| (piece, incoming)))
        })
    }
}

/// Reads a body, and stops as soon as it is too large, whatever length was announced.
pub(crate) async fn read_at_most(limit: usize, mut response: Response) -> Result<Bytes, Kind> {
    let mut body = BytesMut::new();
    while let Some(piece) = response.chunk().await.map_err(|error| Kind::Broken(error.without_url()))? {
        if body.len() + piece.len() > limit {
            return Err(Kind::TooLarge(limit));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("x-github-request-id").or_else(|| headers.get("x-request-id"))?;
    Some(id.to_str().ok()?.chars().take(100).collect())
}

/// Says what is wrong with a JSON text without quoting it: serde repeats the value that it met.
fn problem(error: &serde_json::Error) -> String {
    let said = error.to_string();
    match said.rsplit_once(", expected ") {
        Some((_, expected)) if said.starts_with("invalid ") => format!("expected {expected}"),
        _ => said,
    }
}
