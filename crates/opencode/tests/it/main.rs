//! The engine crate against the real engine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod catalogue;
mod install;
mod life;
mod omo;
mod talk;
mod transcripts;
mod traps;
mod world;
