//! A provider that answers as a test wants it to, byte by byte, and keeps what it was asked.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_util::task::AbortOnDropHandle;

/// A request as it came: its head and its body.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// What is sent back, piece by piece; an empty one is a silence without an end.
pub(crate) type Pieces = Vec<Vec<u8>>;

/// The provider; it is gone when this is dropped.
pub(crate) struct Provider {
    pub(crate) base: String,
    asked: Arc<Mutex<Vec<Request>>>,
    _serving: AbortOnDropHandle<()>,
}

impl Provider {
    /// Starts one that answers every request by this.
    pub(crate) async fn start(answer: impl Fn(&Request) -> Pieces + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (Arc::clone(&asked), Arc::new(answer));
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                tokio::spawn(async move {
                    drop(serve(stream, &kept, &*answer).await);
                });
            }
        });
        Self { base, asked, _serving: AbortOnDropHandle::new(serving) }
    }

    /// Returns what it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns once it was asked more often than this.
    pub(crate) async fn is_asked_more_than(&self, times: usize) {
        while self.asked().len() <= times {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Returns an answer of one piece.
pub(crate) fn whole(status: u16, headers: &str, body: &str) -> Pieces {
    let length = body.len();
    vec![
        format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}connection: close\r\n\r\n{body}"
        )
        .into_bytes(),
    ]
}

async fn serve(
    mut stream: TcpStream,
    kept: &Mutex<Vec<Request>>,
    answer: &(impl Fn(&Request) -> Pieces + ?Sized),
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break String::from_utf8_lossy(&bytes.drain(..end + 4).collect::<Vec<u8>>()).into_owned();
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    };
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    while bytes.len() < length.unwrap_or(0) {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    }
    let request = Request { head, body: String::from_utf8_lossy(&bytes).into_owned() };
    kept.lock().unwrap().push(request.clone());
    for piece in answer(&request) {
        if piece.is_empty() {
            std::future::pending::<()>().await;
        }
        stream.write_all(&piece).await?;
        stream.flush().await?;
        // The next piece is one of its own, also on the way through the proxy.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stream.shutdown().await
}
