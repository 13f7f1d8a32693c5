//! Reads server-sent events out of the engine's stream of bytes.

use eventsource_stream::{EventStreamError, Eventsource as _};
use futures::{Stream, StreamExt as _, TryStreamExt as _, stream};

/// Bytes of one event. A picture that somebody attached is an event of seven million; the parser looks at all that it holds
/// whenever a piece comes.
pub(crate) const LONGEST: usize = 16 << 20;

/// Why nothing more is heard.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamError<E: std::error::Error> {
    #[error(transparent)]
    Broken(E),
    /// An event came to no end; what holds it would grow without one.
    #[error("an event has more than {} MiB", LONGEST >> 20)]
    TooLong,
}

/// What a text may begin with to tell its encoding.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns the data of each event, wherever the bytes were cut into pieces.
pub(crate) fn lines<E: std::error::Error>(
    bytes: impl Stream<Item = Result<impl AsRef<[u8]>, E>>,
) -> impl Stream<Item = Result<String, EventStreamError<StreamError<E>>>> {
    // The parser panics on a mark at the very beginning, also behind a broken letter; an empty line means nothing.
    let empty_line = stream::iter([Ok(b"\n".to_vec())]);
    empty_line.chain(measured(without_mark(bytes))).eventsource().map(|event| event.map(|event| event.data))
}

/// Takes the mark off the beginning, where the standard allows it.
fn without_mark<E>(
    bytes: impl Stream<Item = Result<impl AsRef<[u8]>, E>>,
) -> impl Stream<Item = Result<Vec<u8>, E>> {
    let mut mark = BYTE_ORDER_MARK.iter().peekable();
    bytes.map(move |piece| {
        let piece = piece?;
        let expected = piece.as_ref().iter().take_while(|byte| mark.next_if_eq(byte).is_some()).count();
        if expected < piece.as_ref().len() {
            // Whatever follows is no mark any more.
            mark.by_ref().for_each(drop);
        }
        Ok(piece.as_ref()[expected..].to_vec())
    })
}

/// Passes pieces on until an event gets too long. An empty line ends one.
fn measured<E: std::error::Error>(
    bytes: impl Stream<Item = Result<Vec<u8>, E>>,
) -> impl Stream<Item = Result<Vec<u8>, StreamError<E>>> {
    let (mut length, mut is_line_new) = (0_usize, true);
    bytes.map_err(StreamError::Broken).map(move |piece| {
        let piece = piece?;
        for byte in &piece {
            match byte {
                b'\n' if is_line_new => length = 0,
                b'\n' => is_line_new = true,
                // It may stand before the other sign of a line's end.
                b'\r' => length += 1,
                _ => (length, is_line_new) = (length + 1, false),
            }
        }
        if length > LONGEST { Err(StreamError::TooLong) } else { Ok(piece) }
    })
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use super::*;

    async fn check(bytes: &[u8], expect: &[&str]) {
        for size in 1..=bytes.len() {
            let pieces = bytes.chunks(size).map(Ok::<_, std::io::Error>);
            let heard: Vec<_> = lines(stream::iter(pieces)).map(Result::unwrap).collect().await;
            assert_eq!(heard, expect, "in pieces of {size}");
        }
    }

    #[tokio::test]
    async fn a_mark_at_the_beginning_is_no_word() {
        check("\u{feff}data: one\n\ndata: two \u{feff}\n\n".as_bytes(), &["one", "two \u{feff}"]).await;
        check(b"data: one\n\n", &["one"]).await;
    }

    #[tokio::test]
    async fn a_mark_behind_a_broken_letter_is_an_error_and_no_panic() {
        let bytes: [&[u8]; 2] = [b"\xef", b"\xef\xbb\xbf\n\ndata: one\n\n"];
        let pieces = bytes.map(Ok::<_, std::io::Error>);
        drop(lines(stream::iter(pieces)).collect::<Vec<_>>().await);
    }

    #[tokio::test]
    async fn an_event_without_an_end_is_not_held_for_ever() {
        let line = [b"data: ".to_vec(), vec![b'x'; 1 << 20], b"\r\n".to_vec()].concat();
        for (end, expect) in [(&b""[..], 15), (b"\r\n", 40), (b"\n", 40), (b"\r", 15)] {
            let piece = [line.as_slice(), end].concat();
            let pieces = (0..40).map(|_| Ok::<_, std::io::Error>(piece.clone()));
            let passed: Vec<_> =
                measured(stream::iter(pieces)).take_while(|piece| ready(piece.is_ok())).collect().await;
            assert_eq!(passed.len(), expect, "{end:?}");
        }
        let pieces = (0..17).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 1 << 20]));
        let heard: Vec<_> = lines(stream::iter(pieces)).collect().await;
        let told: Vec<_> = heard.into_iter().map(|line| line.unwrap_err().to_string()).collect();
        assert_eq!(told, ["Transport error: an event has more than 16 MiB"]);
    }
}
