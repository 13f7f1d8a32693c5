//! git between the agent and GitHub: the harness keeps a store of its own, and the agent works in a clone of that.
//!
//! Invariant: the harness never runs git in a folder that the agent can write, for a repository's own settings name
//! programs. What the agent made comes back only as objects that it pushes into the store, or is read by a confined git,
//! without a credential.

mod authorities;
mod bring;

mod clone;
mod command;
mod error;
mod files;
mod gatekeeper;
mod lfs;
mod people;
mod pull_diff;
mod reader;
mod receive;
mod rules;
mod scan;
mod settings;
mod staging;
mod store;
mod unpacked;

pub use bring::{LeftOut, Untracked};
pub use clone::AgentClone;
pub use command::Git;
pub use error::GitError;
pub use files::CloneFiles;
pub use people::Signature;
pub use pull_diff::PullDiff;
pub use receive::receive;
pub use rules::{BranchState, PROTECTED_PATHS, Rules};
pub use staging::{Credential, Push, Pushing, Staging};
pub use store::{CloneBase, Store, Tip};
pub use unpacked::unpacked;
