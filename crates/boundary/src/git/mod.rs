//! git between the agent and GitHub: the harness keeps a store of its own, and the agent works in a clone of that.
//!
//! Invariant: the harness never runs git in a folder that the agent can write, for a repository's own settings name
//! programs. What the agent made comes back only as objects that it pushes into the store.

mod authorities;
mod bring;
mod clone;
mod command;
mod error;
mod files;
mod receive;
mod rules;
mod staging;
mod store;

pub use bring::LeftOut;
pub use clone::AgentClone;
pub use command::Git;
pub use error::GitError;
pub use receive::{Push, receive};
pub use rules::{PROTECTED_PATHS, Rules};
pub use staging::{Credential, Pushing, Staging};
pub use store::{Ground, Store, Tip};
