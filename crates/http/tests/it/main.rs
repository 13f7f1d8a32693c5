//! The client against a raw listener that answers, stalls, cuts and lies as told.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails where it stands")]

mod answers;
mod redirects;
mod relays;
mod retries;
mod server;
mod tls;
mod words;
