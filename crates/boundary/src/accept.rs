//! The one loop that takes connections, on a port or a unix socket.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::either::Either;

/// The most connections of one listener; more wait outside, where they cost the harness no open file.
const MOST_CONNECTIONS: usize = 128;

/// A connection.
pub type SocketStream = Either<TcpStream, UnixStream>;

/// Where connections come from.
#[derive(Debug)]
pub enum SocketListener {
    /// A port.
    Tcp(TcpListener),
    /// A unix socket.
    Unix(UnixListener),
}

impl SocketListener {
    async fn accept(&self) -> io::Result<SocketStream> {
        match self {
            Self::Tcp(listener) => listener.accept().await.map(|(stream, _)| Either::Left(stream)),
            Self::Unix(listener) => listener.accept().await.map(|(stream, _)| Either::Right(stream)),
        }
    }

    /// Gives every connection a task of its own, until the returned future is dropped with all of them.
    pub async fn serve<F>(self, converse: impl Fn(SocketStream) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut connections = JoinSet::new();
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let mut troubled = false;
        loop {
            let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
            match self.accept().await {
                Ok(stream) => {
                    troubled = false;
                    let conversation = converse(stream);
                    drop(connections.spawn(async move {
                        conversation.await;
                        drop(place);
                    }));
                }
                // As when there are too many open files; it passes, and is told once.
                Err(error) => {
                    if !std::mem::replace(&mut troubled, true) {
                        tracing::warn!("a connection cannot be taken: {error}");
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
            while connections.try_join_next().is_some() {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn what_is_more_than_fits_waits_outside_and_is_served_when_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let listener = SocketListener::Unix(UnixListener::bind(&socket).unwrap());
        let serving = tokio::spawn(listener.serve(async |mut stream: SocketStream| {
            while let Ok(byte) = stream.read_u8().await {
                stream.write_u8(byte).await.unwrap();
            }
        }));
        let mut inside = Vec::new();
        for _ in 0..MOST_CONNECTIONS {
            let mut stream = UnixStream::connect(&socket).await.unwrap();
            stream.write_u8(1).await.unwrap();
            assert_eq!(stream.read_u8().await.unwrap(), 1);
            inside.push(stream);
        }
        let mut outside = UnixStream::connect(&socket).await.unwrap();
        outside.write_u8(2).await.unwrap();
        let mut byte = [0];
        assert_eq!(outside.try_read(&mut byte).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        inside.pop();
        assert_eq!(outside.read_u8().await.unwrap(), 2);
        serving.abort();
        assert!(serving.await.unwrap_err().is_cancelled());
        assert_eq!(outside.read(&mut byte).await.unwrap(), 0, "connections end with the loop");
    }
}
