//! A listener that plays prepared answers byte by byte and remembers what it was asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use fro_http::{Client, ClientSettings};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
    time::Instant,
};

/// One prepared answer.
pub(crate) enum Play {
    /// Sends these bytes and waits for the next request.
    Send(String),
    /// Sends these bytes and closes the connection.
    SendAndClose(String),
    /// Never says anything again.
    Stall,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) after_secs: u64,
    pub(crate) connection: usize,
}

/// A handle on the listener; it ends with the test's runtime.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) url: String,
    plays: Arc<Mutex<VecDeque<Play>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    start: Instant,
}

/// Builds an answer with a body of the right length.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Play {
    let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    Play::Send(format!("{head}\r\n{body}"))
}

/// Builds a client with the default settings but for servers on this machine.
pub(crate) fn client() -> Client {
    Client::new(ClientSettings { retry: fro_http::Retry::default(), ..ClientSettings::loopback() }).unwrap()
}

impl Server {
    pub(crate) async fn playing(plays: impl IntoIterator<Item = Play>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            plays: Arc::new(Mutex::new(plays.into_iter().collect())),
            asked: Arc::default(),
            start: Instant::now(),
        };
        let at_work = server.clone();
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let at_work = at_work.clone();
                tokio::spawn(async move { at_work.serve(connection, stream).await });
            }
        });
        server
    }

    /// Returns every request so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the first lines of every request so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().iter().map(|asked| asked.head.lines().next().unwrap().to_owned()).collect()
    }

    /// Plays on one connection until it closes or a play ends it.
    pub(crate) async fn serve(&self, connection: usize, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        while let Some(head) = read_request(&mut stream).await {
            let after_secs = self.start.elapsed().as_secs();
            self.asked.lock().unwrap().push(Asked { head, after_secs, connection });
            let play = self.plays.lock().unwrap().pop_front();
            match play.expect("a request that nobody prepared an answer for") {
                Play::Send(bytes) => stream.write_all(bytes.as_bytes()).await.unwrap(),
                Play::SendAndClose(bytes) => {
                    stream.write_all(bytes.as_bytes()).await.unwrap();
                    return;
                }
                Play::Stall => std::future::pending().await,
            }
        }
    }
}

/// Reads one request with its body and returns its head.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if body.len() >= length.parse().unwrap() {
                return Some(head.to_owned());
            }
        }
        let mut piece = [0; 4096];
        let n_read = stream.read(&mut piece).await.ok().filter(|n_read| *n_read > 0)?;
        bytes.extend_from_slice(&piece[..n_read]);
    }
}
