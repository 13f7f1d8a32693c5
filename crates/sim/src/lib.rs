//! The world outside, simulated: what the harness and its engine talk to, on loopback ports, with real sockets.
//!
//! It knows none of our other crates, so that its mistakes and theirs cannot cancel out.

pub mod model;
mod server;
