//! The memory crate from outside: stores, saves and restores on real files and real databases.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod breakable;
mod bucket;
mod cache;
mod carry_over;
mod contract;
mod damage;
mod disguises;
mod engine;
mod faults;
mod folder;
mod frames;
mod gc;
mod github;
mod headless;
mod heal;
mod labelled;
mod learnt;
mod live;
mod many;
mod merge;
mod ownership;
mod reader;
mod relocate;
mod rights;
mod roles;
mod rollback;
mod round_trip;
mod s3;
mod scrubbed;
mod search;
mod soak;
mod sparse;
mod stores;
mod transfer;
mod visible;
