//! The engine's stream of events, cut into pieces anywhere.

#![no_main]

// The crate itself would bring along a TLS library to be instrumented.
#[path = "../../crates/opencode/src/event.rs"]
mod event;
#[path = "../../crates/opencode/src/sse.rs"]
mod sse;
#[expect(dead_code, reason = "the client uses the rest")]
#[path = "../../crates/opencode/src/wire.rs"]
mod wire;

use event::EventReader;
use futures::{StreamExt as _, executor::block_on, stream};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((size, bytes)) = data.split_first() else { return };
    let pieces = bytes.chunks(usize::from(*size).max(1)).map(|piece| Ok::<_, std::io::Error>(piece.to_vec()));
    let mut lines = sse::lines(stream::iter(pieces));
    let mut reader = EventReader::default();
    block_on(async {
        while let Some(Ok(line)) = lines.next().await {
            drop(reader.hear(&line));
        }
    });
});
