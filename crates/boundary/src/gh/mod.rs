//! The `gh` broker: the engine's `gh` speaks to a unix socket of ours, and only the harness holds the token.
//!
//! `gh` has a placeholder for a token. What reads this repository passes; what it says on the run's own subject becomes
//! the draft of the answer; what else writes, and whatever is not understood, is refused with a reason that `gh` shows.
//! What may be read is decided by the types of GitHub's schema and by the parts of its REST API; ids have to be ones that
//! GitHub named, and what lies beyond the repository is asked for its names only.

mod answer;
mod archive;
mod broker;
mod deed;
mod graphql;
mod known_ids;
mod policy;
mod rest;
mod schema;
mod scope;
mod sort;

pub use broker::{GhBroker, GhCalls, Upstream};
pub use deed::{Deed, DeedResult, Deeds};
