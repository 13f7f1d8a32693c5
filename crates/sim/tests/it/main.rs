//! The simulated world, seen by a client that shares nothing with it but the wire.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends by a panic")]

mod actions;
mod apps;
mod cache;
mod client;
mod discord;

mod every_route;
mod faults;
mod git;
mod graphql;
mod jobs;
mod model;
mod page;
mod program;
mod rest;
mod reviews;
mod surfaces;
mod world;
