//! What a run makes of events that nobody here wrote.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod payloads;
