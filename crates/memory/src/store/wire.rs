//! Lets blocking code call the asynchronous client of a store over the network.

use std::{
    future::Future,
    io::{self, Read},
    ops::Range,
    sync::Arc,
    time::Duration,
};

use bytes::{Buf as _, Bytes};
use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use tokio::{runtime::Runtime, time::timeout};

use super::Place;
use crate::error::{Error, Refusal};

/// How long a store over the network may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// Until a connection stands.
    pub connect: Duration,
    /// Until it is told whether there is an entry in the Actions cache; a run waits for that before it can begin.
    pub lookup: Duration,
    /// Until the next piece of an answer comes.
    pub answer: Duration,
    /// The pauses before asking again, when that may help.
    pub pauses: Vec<Duration>,
    /// Until a save is visible to others; whoever has announced one and is later than this counts as dead.
    pub settle: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(2),
            lookup: Duration::from_secs(2),
            answer: Duration::from_secs(15),
            pauses: [200, 800, 3000].map(Duration::from_millis).into(),
            settle: Duration::from_secs(5),
        }
    }
}

/// A runtime of a store's own, so that its connections outlive a single call.
#[derive(Debug)]
pub(super) struct Wire {
    /// Empty only while it is dropped.
    runtime: Option<Runtime>,
}

impl Wire {
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        Ok(Arc::new(Self { runtime: Some(runtime) }))
    }

    /// Waits for something to happen on the network.
    #[expect(clippy::expect_used, reason = "the runtime is taken out by `drop` only, after the last call")]
    pub(super) fn wait<T>(&self, what: impl Future<Output = T>) -> T {
        self.runtime.as_ref().expect("the runtime stands as long as the wire").block_on(what)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // An async caller may drop a store too, and there a runtime must not wait for its threads.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A stream of pieces, read by blocking code; a piece that does not come in time is an error.
pub(super) struct Reader {
    pub(super) wire: Arc<Wire>,
    pub(super) pieces: BoxStream<'static, io::Result<Bytes>>,
    pub(super) patience: Duration,
    pub(super) piece: Bytes,
    pub(super) place: Place,
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            // The timer needs the runtime, so it is made inside.
            let next = async { timeout(self.patience, self.pieces.next()).await };
            match self.wire.wait(next) {
                Ok(Some(piece)) => self.piece = piece?,
                Ok(None) => return Ok(0),
                Err(_) => return Err(io::Error::other(self.silence())),
            }
        }
        let length = buffer.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}

impl Reader {
    fn silence(&self) -> Error {
        let deed = format!("read an object in {}", self.place);
        Error::Remote { deed, why: Refusal::Unreachable, source: None }
    }
}

/// So many bytes are asked for at a time.
pub(super) const RANGE: u64 = 4 << 20;

/// So many ranges are on their way at the same time.
const AT_ONCE: usize = 6;

/// Fetches the ranges of a part side by side, and hands them out in order.
pub(super) fn side_by_side<F>(
    part: Range<u64>,
    fetch: impl Fn(Range<u64>) -> F + Send + 'static,
) -> BoxStream<'static, io::Result<Bytes>>
where
    F: Future<Output = io::Result<Bytes>> + Send + 'static,
{
    let ranges = (part.start..part.end).step_by(usize::try_from(RANGE).unwrap_or(usize::MAX));
    let ranges = ranges.map(move |from| from..part.end.min(from + RANGE));
    let fetched = stream::iter(ranges).map(move |range| {
        let fetched = fetch(range);
        // On its own, so that it goes on while the pieces before are unpacked.
        async move { tokio::spawn(fetched).await.unwrap_or_else(|_| Err(io::Error::other("cut short"))) }
    });
    fetched.buffered(AT_ONCE).boxed()
}
