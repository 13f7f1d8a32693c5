//! The binary and the house it is built in, from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent;
mod init;
mod memory;
mod tidy;
mod work;
