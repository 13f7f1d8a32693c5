//! The binary from outside, and the tidy checks of the whole workspace.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent;
mod audit;
mod daemon;
mod eval;
mod init;
mod memory;
mod serve;
mod terminal;
mod tidy;
mod view;
mod window;
mod work;
