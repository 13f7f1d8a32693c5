//! Real pull requests: which of their lines can be commented on, by an independent reader of diffs.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its truth fails")]

mod truth;
