//! The memory crate from outside: stores, saves and restores on real files and real databases.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod arrive;
mod boundary;
mod collect;
mod contract;
mod damage;
mod engine;
mod folder;
mod live;
mod merge;
mod reader;
mod round_trip;
mod scrubbed;
mod search;
