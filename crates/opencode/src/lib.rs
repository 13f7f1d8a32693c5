//! The engine: install it, start it, talk to it, stop it.
//!
//! What OpenCode does and does not do is knowledge of this crate: its environment, its configuration, its wire and its
//! traps. [`install`] brings the pinned version, [`Server`] runs one process for many sessions, [`converse`] has one turn.

mod config;
mod converse;
mod engine_home;
mod error;
mod event;
mod install;
mod omo;
mod people;
mod pin;
mod random;
mod read_only;
mod server;
mod sse;
mod wire;

pub use config::McpServer;
pub use converse::{Listen, converse};
pub use engine_home::EngineHome;
pub use error::Error;
pub use event::{About, CallState, Event, EventReader, ToolCall};
pub use install::{
    Engine, InstallProgress, Stage, Tell, ToolCache, Version, Wanted, install, install_omo, missing_archives,
    registry,
};
pub use omo::Omo;
pub use people::{AskPolicy, HumanReply, People, PeopleRequest};
pub use pin::{Platform, VERSION, Vectors};
pub use random::random_hex;
pub use read_only::read_only;
pub use server::{Connection, File, Launch, Message, ModelName, PORT, Server, Session};
pub use wire::{Agent, Mode};
