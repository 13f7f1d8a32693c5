//! The world outside, simulated: what the harness and its engine talk to, on loopback ports, with real sockets.
//!
//! It knows none of our other crates, so that its mistakes and theirs cannot cancel out.

mod actions;
mod auth;
mod event;
mod faults;
mod garden;
mod git;
mod graphql;
mod hub;
pub mod model;
mod page;
mod problem;
mod pulls;
mod rest;
mod route;
mod server;
pub mod state;
mod traffic;
mod world;

pub use faults::{FaultKind, Faults, Switch};
pub use traffic::Exchange;
pub use world::World;
