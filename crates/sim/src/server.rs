//! A loopback HTTP server that ends with all its connections when dropped, and that can hang up without an answer.

use std::{io, net::Ipv4Addr, time::Duration};

use axum::{Router, body::Body, extract::Request, response::Response};
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

/// A running server; dropping it closes the port and cuts every connection.
pub(crate) struct Server {
    port: u16,
    _accepting: AbortOnDropHandle<()>,
}

/// Put among a response's extensions, makes the server close the connection instead of sending that response.
#[derive(Clone, Copy)]
pub(crate) struct HangUp;

impl Server {
    /// Starts to serve on a loopback port; 0 takes any free one.
    pub(crate) async fn start(port: u16, router: Router) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        let accepting = tokio::spawn(accept(listener, router));
        Ok(Self { port, _accepting: AbortOnDropHandle::new(accepting) })
    }

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
        async move { answering.await.map_err(|never| match never {}).and_then(unless_hung_up) }
    });
    // Deltas and small answers must leave at once; and that a client went away is its own affair.
    drop(socket.set_nodelay(true));
    drop(http1::Builder::new().serve_connection(TokioIo::new(socket), service).await);
}

/// Returns an error, on which hyper closes the connection, if the answer is not to be sent.
fn unless_hung_up(answer: Response<Body>) -> io::Result<Response<Body>> {
    match answer.extensions().get() {
        Some(HangUp) => Err(io::ErrorKind::ConnectionAborted.into()),
        None => Ok(answer),
    }
}
