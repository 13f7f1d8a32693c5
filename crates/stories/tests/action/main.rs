//! The action as people install it, run by a real runner of workflows.

mod examples;
mod launch;
mod omo;
