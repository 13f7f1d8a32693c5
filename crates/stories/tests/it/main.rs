//! Stories: whole runs of the built binary with the real engine.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a story that cannot be told fails its test")]

mod agent_bytes;
mod answers;
mod attachments;
mod attacks;
mod bad_days;
mod context;
mod credentials;
mod delivery;
mod demo;
mod doctor;
mod endings;
mod gate;
mod gh;
mod large_changes;
mod local_reviews;
mod memory;
mod mock;
mod models;
mod network;
mod post;
mod progress;
mod repo_settings;
mod results;
mod review_memory;
mod review_threads;
mod reviewer;
mod reviews;
mod second_reviews;
mod second_tries;
mod secrets;
mod share;
mod shell;
mod swaps;
mod triggers;
mod work;
