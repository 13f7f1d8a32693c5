//! The walls, tried from inside by real processes, as root and as an ordinary user.
//!
//! Started as root, every story is told twice; an ordinary user can only tell its own.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod attacks;
mod clone;
mod connections;
mod enclosed;
mod files;
mod floods;
mod gh;
mod gh_attacks;
mod halt;
mod hidden;
mod lacking;
mod lifeline;
mod limits;
mod model_attacks;
mod model_costs;
mod models;
mod provider;
mod questions;
mod staging;
mod store_attacks;
mod world;
