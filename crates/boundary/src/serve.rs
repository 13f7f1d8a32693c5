//! A little HTTP server for what the harness offers to the engine, on a loopback port or a unix socket.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use fro_http::Incoming as Answer;
use futures::stream;
use http_body_util::{BodyExt as _, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::{Frame, Incoming},
    header::{CONTENT_TYPE, HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;

use crate::{
    accept::{SocketListener, SocketStream},
    echo::{EchoFilter, Needles},
};

/// How long a connection may be idle.
const IDLE: Duration = Duration::from_mins(5);

/// What is sent back.
pub(crate) type Body = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Answers every request that comes, until it is dropped with all its connections.
pub(crate) async fn serve<A, F>(listener: SocketListener, answer: A)
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    listener.serve(move |stream| converse(stream, answer.clone())).await;
}

async fn converse<A, F>(stream: SocketStream, answer: A)
where
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<Body>>,
{
    let service = service_fn(move |request| {
        let answer = answer(request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let mut speech = http1::Builder::new();
    let speech = speech.timer(TokioTimer::new()).header_read_timeout(IDLE);
    if let Err(error) = speech.serve_connection(TokioIo::new(stream), service).with_upgrades().await {
        tracing::debug!("a connection of the engine broke: {error}");
    }
}

/// How an answer is passed on.
pub(crate) struct Passing {
    /// These of its headers.
    pub(crate) headers: &'static [&'static str],
    /// Without these.
    pub(crate) without: Needles,
    /// So many bytes of it; a longer one is broken off.
    pub(crate) most: usize,
}

/// Passes an answer on piece by piece; `hear` is told each piece as it came, and an empty one at the end.
pub(crate) fn stream_back(
    answer: Answer,
    passing: Passing,
    hear: impl FnMut(&Bytes) + Send + 'static,
) -> Response<Body> {
    let begun = head(&answer, &passing);
    let Passing { without, most, .. } = passing;
    let coming = PendingAnswer { answer, hear, filter: Some(EchoFilter::new(without)), left: most };
    let pieces = stream::try_unfold(coming, |mut coming| async move {
        Ok(coming.next().await?.map(|piece| (Frame::data(piece), coming)))
    });
    begun.map(|()| StreamBody::new(pieces).boxed_unsync())
}

/// Passes an answer on whose body was read to its end.
pub(crate) fn send_back(answer: &Answer, passing: &Passing, body: &[u8]) -> Response<Body> {
    let mut filter = EchoFilter::new(passing.without.clone());
    let pieces = [filter.pass(body), filter.rest()].map(|piece| Ok(Frame::data(piece)));
    head(answer, passing).map(|()| StreamBody::new(stream::iter(pieces)).boxed_unsync())
}

fn head(answer: &Answer, passing: &Passing) -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::from_u16(answer.status()).unwrap_or(StatusCode::BAD_GATEWAY);
    let kept = answer.headers().filter(|(name, _)| passing.headers.contains(name));
    let kept = kept.filter_map(|(name, value)| {
        let value = HeaderValue::try_from(passing.without.clean(value)).ok()?;
        Some((HeaderName::try_from(name).ok()?, value))
    });
    response.headers_mut().extend(kept);
    response
}

/// An answer on its way.
struct PendingAnswer<H> {
    answer: Answer,
    hear: H,
    /// None when the answer has ended.
    filter: Option<EchoFilter>,
    left: usize,
}

impl<H: FnMut(&Bytes)> PendingAnswer<H> {
    async fn next(&mut self) -> Result<Option<Bytes>, Box<dyn std::error::Error + Send + Sync>> {
        while let Some(filter) = &mut self.filter {
            let Some(piece) = self.answer.chunk().await? else {
                let rest = filter.rest();
                self.filter = None;
                (self.hear)(&Bytes::new());
                return Ok((!rest.is_empty()).then_some(rest));
            };
            self.left = self.left.checked_sub(piece.len()).ok_or("the answer is too long")?;
            (self.hear)(&piece);
            let passed = filter.pass(&piece);
            if !passed.is_empty() {
                return Ok(Some(passed));
            }
        }
        Ok(None)
    }
}

/// Says something of our own.
pub(crate) fn respond_with(status: u16, what: &Value) -> Response<Body> {
    let pieces = stream::iter([Ok(Frame::data(Bytes::from(what.to_string())))]);
    let mut response = Response::new(StreamBody::new(pieces).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
