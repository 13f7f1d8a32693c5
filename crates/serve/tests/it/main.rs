//! The store on both databases, as `serve` and `work` use it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod contract;
mod crowd;
mod databases;
mod discord;
mod model;
mod overview;
mod retention;
mod serving;
mod standing;
mod story;
mod unusable;
