//! A loopback HTTP server that ends with all its connections when dropped, and that can hang up without an answer.

use std::{io, net::Ipv4Addr, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    response::Response,
};
use futures::{StreamExt as _, stream};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::task::AbortOnDropHandle;

/// A loopback port that is ours, but that nobody answers yet.
pub(crate) struct Port(TcpListener, u16);

/// A running server; dropping it closes the port and cuts every connection.
pub(crate) struct Server {
    port: u16,
    _accepting: AbortOnDropHandle<()>,
}

/// Put among a response's extensions, tells the server not to send all of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// Nothing is sent: the connection closes without an answer.
    All,
    /// The second half of the body is not sent: the connection breaks in the middle.
    SecondHalf,
}

impl Port {
    /// Opens a port; 0 takes any free one.
    pub(crate) async fn open(number: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, number)).await?;
        let number = listener.local_addr()?.port();
        Ok(Self(listener, number))
    }

    pub(crate) fn number(&self) -> u16 {
        self.1
    }

    /// Starts to answer.
    pub(crate) fn serve(self, router: Router) -> Server {
        let Self(listener, port) = self;
        let accepting = tokio::spawn(accept(listener, router));
        Server { port, _accepting: AbortOnDropHandle::new(accepting) }
    }
}

impl Server {
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

/// Takes connections for ever. They live in a set of this task, so that they end when it is aborted.
async fn accept(listener: TcpListener, router: Router) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => drop(connections.spawn(serve(socket, router.clone()))),
                // Out of file descriptors, most likely: they come back as connections end.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(socket: TcpStream, router: Router) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |request: Request<Incoming>| {
        let answering = router.call(request);
        async move { answering.await.map_err(|never| match never {}).and_then(sendable) }
    });
    // Deltas and small answers must leave at once; and that a client went away is its own affair.
    drop(socket.set_nodelay(true));
    drop(http1::Builder::new().serve_connection(TokioIo::new(socket), service).with_upgrades().await);
}

/// Prepares what is to be sent of an answer. An error makes hyper close the connection at once.
fn sendable(answer: Response<Body>) -> io::Result<Response<Body>> {
    match answer.extensions().get() {
        None => Ok(answer),
        Some(Unsent::All) => Err(io::ErrorKind::ConnectionAborted.into()),
        Some(Unsent::SecondHalf) => Ok(answer.map(first_half)),
    }
}

fn first_half(body: Body) -> Body {
    Body::from_stream(stream::once(to_bytes(body, usize::MAX)).flat_map(|bytes| {
        let mut bytes = bytes.unwrap_or_default();
        bytes.truncate(bytes.len() / 2);
        stream::iter([Some(bytes), None]).then(async |half| {
            // The first half must be on its way before the connection closes under it.
            tokio::task::yield_now().await;
            half.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionAborted))
        })
    }))
}
