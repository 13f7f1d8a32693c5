//! The reviewer's rules on data: real pull requests, labelled findings, and histories that nobody lived.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its truth fails")]

mod data;
mod duplicates;
mod histories;
mod truth;
