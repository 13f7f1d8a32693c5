//! The engine crate against the real engine.

mod install;
mod life;
mod talk;
mod transcripts;
mod traps;
mod world;
