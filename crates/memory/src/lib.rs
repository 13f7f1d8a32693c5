//! What the engine remembers, kept between runs.
//!
//! `recall` puts the newest memory in place before the engine starts, `keep` stores what it knows when it is done.
//! Damage is a state and never stops a run. Everything here blocks; an async caller gives it a thread.

mod database;
mod error;
mod keep;
mod manifest;
mod private;
mod recall;
mod snapshot;
mod store;

pub use error::{Error, Flaw};
pub use keep::{Kept, Provenance, keep};
pub use recall::{Recall, recall};
pub use store::{Advance, Head, ObjectName, Stored, folder::Folder};
