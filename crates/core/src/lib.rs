//! Pure functions and plain types: decisions, texts and parsers, without I/O, clock or randomness.
//!
//! Nothing here reads a clock, the environment, a disk or a network. Facts come
//! in as arguments, answers go out as values, so every rule of the product can
//! be tested in a millisecond.

pub mod agent;
pub mod ancestry;
pub mod attachment;
pub mod budget;
pub mod catalogue;
pub mod chat;
pub mod clean;
pub mod command;
pub mod context;
pub mod continuity;
pub mod conversation;
pub mod credential;
pub mod delegation;
pub mod delivery;
pub mod draft;
pub mod event;
pub mod fault;
pub mod fence;
pub mod gate;
pub mod mention;
pub mod names;
pub mod own_comments;
pub mod place;
pub mod prompt;
pub mod remembered;
pub mod say;
pub mod secret;
pub mod sorting;
pub mod task;
pub mod tool_call;
pub mod trust;
pub mod workflow;

pub use budget::Bounded;
pub use clean::{Clean, Redactor, SHAPE_HINTS};
pub use context::Context;
pub use delivery::Delivery;
pub use draft::{Draft, Drafts};
pub use event::Trigger;
pub use fault::Fault;
pub use gate::{Decision, Permit, Reach};
pub use names::{Login, Permission, Reaction, RepoName};
pub use place::{Anchor, NodeId, Side, Subject, Surface, Target};
pub use prompt::Prompt;
pub use secret::Secret;
pub use task::Task;
pub use trust::{Spoken, Trust};
