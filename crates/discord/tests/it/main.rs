//! The adapter against the little Discord, faults included.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends by a panic")]

mod deeds;
mod gateway;
mod stage;
