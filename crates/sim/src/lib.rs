//! The world outside, simulated: what the harness and its engine talk to, on loopback ports, with real sockets.
//!
//! It knows none of our other crates, so that its mistakes and theirs cannot cancel out.

mod actions;
mod auth;
mod ci;
pub mod discord;
mod downloads;
mod event;
mod faults;
mod garden;
mod git;
mod graphql;
mod hub;
mod job;
mod jwt;
mod login;
mod merging;
pub mod model;
mod page;
mod permission;
mod port;
mod problem;
mod pulls;
mod rest;
mod reviews;
mod route;
mod routes;
mod search;
mod server;
mod shares;
mod span;
pub mod state;
mod traffic;
mod words;
mod world;

pub use faults::{FaultKind, Faults, Switch};
pub use job::{Job, Started};
pub use port::ClaimedPort;
pub use traffic::Exchange;
pub use world::World;
