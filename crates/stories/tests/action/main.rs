//! The action as people install it, run by a real runner of workflows.

#![expect(clippy::unwrap_used, reason = "a story that cannot be told fails its test")]

mod cancelled;
mod examples;
mod launch;
mod mcp;
mod memory;
mod office;
mod omo;
mod one_workflow;
mod release;
mod tools;
