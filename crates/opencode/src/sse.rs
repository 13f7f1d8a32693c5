//! The engine's bytes as the events that they hold.

use eventsource_stream::{EventStreamError, Eventsource as _};
use futures::{Stream, StreamExt as _, stream};

/// What a text may begin with to tell its encoding.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns the data of each event, wherever the bytes were cut into pieces.
pub(crate) fn lines<E>(
    bytes: impl Stream<Item = Result<impl AsRef<[u8]>, E>>,
) -> impl Stream<Item = Result<String, EventStreamError<E>>> {
    // The parser panics on a mark at the very beginning, also behind a broken letter; an empty line means nothing.
    let empty_line = stream::iter([Ok(b"\n".to_vec())]);
    empty_line.chain(without_mark(bytes)).eventsource().map(|event| event.map(|event| event.data))
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

#[cfg(test)]
mod tests {
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
}
