//! The window into a process of the daemon: `/healthz` for whoever restarts it, `/metrics` for a Prometheus.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use clap::Args;
use fro_boundary::{SocketListener, SocketStream};
use fro_core::Fault;
use fro_serve::Watch;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::env::{self, Env};

/// How long somebody may take to ask.
const IDLE: Duration = Duration::from_secs(30);

/// Where an operator's questions are answered.
#[derive(Debug, Args)]
pub(crate) struct WindowOption {
    /// Answer `/healthz` and `/metrics` at this port of this machine, or at ADDRESS:PORT; without it, at what `FRO_METRICS`
    /// names, or nowhere
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    metrics: Option<String>,
}

/// A port that is ours, and that nobody answers at yet.
pub(crate) struct Listener(TcpListener);

/// An open window, until it is dropped.
pub(crate) struct OpenWindow {
    _open: AbortOnDropHandle<()>,
}

impl WindowOption {
    /// Takes the port, if one was named.
    pub(crate) async fn listen(&self, env: &Env) -> Result<Option<Listener>, Fault> {
        let Some(address) = address(self.metrics.as_deref(), env)? else { return Ok(None) };
        let taken = TcpListener::bind(address).await;
        let taken = taken.and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = taken.map_err(|error| {
            let what = format!("cannot answer `/metrics` at {address}: {error}");
            Fault::yours(what, "name another port in `--metrics` or `FRO_METRICS`")
        })?;
        anstream::println!("`/healthz` and `/metrics` are at http://{address}");
        Ok(Some(Listener(listener)))
    }
}

/// Returns where questions are answered, by an option or else by `FRO_METRICS`, if either names a place.
pub(crate) fn address(option: Option<&str>, env: &Env) -> Result<Option<SocketAddr>, Fault> {
    let address = option.or_else(|| env.text(env::FRO_METRICS)).map(|said| {
        let what = format!("`{said}` is no place to answer `/metrics` at");
        let hint = "give a port such as `9464`, or an address such as `0.0.0.0:9464`";
        read(said).ok_or_else(|| Fault::yours(what, hint))
    });
    address.transpose()
}

/// Reads a port, which is one of this machine alone, or an address with a port.
pub(crate) fn read(text: &str) -> Option<SocketAddr> {
    let alone = |port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    text.parse().map(alone).ok().or_else(|| text.parse().ok())
}

impl Listener {
    /// Opens the window.
    pub(crate) fn show(self, watch: Arc<Watch>) -> OpenWindow {
        let listener = SocketListener::Tcp(self.0);
        let open = tokio::spawn(async move {
            listener.serve(move |stream| converse(stream, Arc::clone(&watch))).await;
        });
        OpenWindow { _open: AbortOnDropHandle::new(open) }
    }
}

async fn converse(stream: SocketStream, watch: Arc<Watch>) {
    let service = service_fn(move |request| {
        let watch = Arc::clone(&watch);
        async move { Ok::<_, Infallible>(answer(&request, &watch).await) }
    });
    let mut speech = http1::Builder::new();
    let speech = speech.timer(TokioTimer::new()).header_read_timeout(IDLE);
    if let Err(error) = speech.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!("somebody who looked in went away: {error}");
    }
}

async fn answer(request: &Request<Incoming>, watch: &Watch) -> Response<Full<Bytes>> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return reply(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "look, do not touch\n".to_owned());
    }
    match request.uri().path() {
        "/healthz" => {
            let health = watch.health().await;
            let status = if health.healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            let body = serde_json::to_string(&health).unwrap_or_default();
            reply(status, "application/json", body + "\n")
        }
        "/metrics" => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            reply(StatusCode::OK, kind, watch.metrics().await)
        }
        _ => reply(StatusCode::NOT_FOUND, "text/plain", "there are /healthz and /metrics\n".to_owned()),
    }
}

fn reply(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_port_is_one_of_this_machine_alone() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(read(text).map(|address| address.to_string()).as_deref(), expect, "{text}");
        };
        check("9464", Some("127.0.0.1:9464"));
        check("0.0.0.0:9464", Some("0.0.0.0:9464"));
        check("[::1]:9464", Some("[::1]:9464"));
        check("garden:9464", None);
        check("99999", None);
        check("", None);
    }
}
