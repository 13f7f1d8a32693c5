//! A little HTTP server for what the harness offers to the engine, on a loopback port or a unix socket.

use std::{convert::Infallible, io, time::Duration};

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
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    task::JoinSet,
};
use tokio_util::either::Either;

/// What is sent back.
pub(crate) type Body = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Where requests come from.
#[derive(Debug)]
pub(crate) enum Listener {
    /// A port.
    Tcp(TcpListener),
    /// A unix socket.
    Unix(UnixListener),
}

impl Listener {
    async fn accept(&self) -> io::Result<Either<TcpStream, UnixStream>> {
        match self {
            Self::Tcp(listener) => listener.accept().await.map(|(stream, _)| Either::Left(stream)),
            Self::Unix(listener) => listener.accept().await.map(|(stream, _)| Either::Right(stream)),
        }
    }
}

/// Answers every request that comes, until it is dropped with all its connections.
pub(crate) async fn serve<A, F>(listener: Listener, answer: A)
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok(stream) => drop(connections.spawn(converse(stream, answer.clone()))),
            // As when there are too many open files; it passes.
            Err(error) => {
                tracing::warn!("a connection of the engine cannot be taken: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn converse<A, F>(stream: Either<TcpStream, UnixStream>, answer: A)
where
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<Body>>,
{
    let service = service_fn(move |request| {
        let answer = answer(request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    if let Err(error) =
        http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await
    {
        tracing::debug!("a connection of the engine broke: {error}");
    }
}

/// Passes an answer on piece by piece, with these of its headers; `hear` is told each piece.
pub(crate) fn stream_back(
    answer: Answer,
    headers: &[&str],
    hear: impl FnMut(&Bytes) + Send + 'static,
) -> Response<Body> {
    let status = StatusCode::from_u16(answer.status()).unwrap_or(StatusCode::BAD_GATEWAY);
    let kept: Vec<(HeaderName, HeaderValue)> = answer
        .headers()
        .filter(|(name, _)| headers.contains(name))
        .filter_map(|(name, value)| Some((name.try_into().ok()?, value.try_into().ok()?)))
        .collect();
    let pieces = stream::try_unfold((answer, hear), |(mut answer, mut hear)| async move {
        let Some(piece) = answer.chunk().await? else { return Ok(None) };
        hear(&piece);
        Ok(Some((Frame::data(piece), (answer, hear))))
    });
    let mut response = Response::new(StreamBody::new(pieces).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().extend(kept);
    response
}

/// Says something of our own.
pub(crate) fn told(status: u16, what: &Value) -> Response<Body> {
    let pieces = stream::iter([Ok(Frame::data(Bytes::from(what.to_string())))]);
    let mut response = Response::new(StreamBody::new(pieces).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
