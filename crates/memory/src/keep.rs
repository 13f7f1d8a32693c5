//! Stores what the engine knows, as one save after the one it started from.

use std::path::Path;

use fs_err::File;
use jiff::Timestamp;
use zstd::stream::read::Encoder;

use crate::{
    database,
    error::Error,
    manifest::{FORMAT, Manifest},
    snapshot,
    store::{Advance, Head, folder::Folder},
};

const COMPRESSION: i32 = 3;

/// Where a save comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// The time of the save.
    pub now: Timestamp,
    /// The version of the engine that wrote the database.
    pub engine_version: String,
    /// The save that the engine started from: `Recall::head`, or `Kept::head` of the save before.
    pub parent: Option<Head>,
}

/// The end of a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// The memory is in the store, and the next run will find it.
    Saved {
        /// Points at this save.
        head: Head,
        /// How many sessions it has.
        sessions: u32,
        /// How large the database is.
        bytes: u64,
        /// How much had to be written to the store.
        uploaded: u64,
    },
    /// Another run saved since this one recalled; its memory stands and ours is not in it.
    Raced {
        /// How many sessions were left out.
        sessions: u32,
        /// Where the head stands.
        now: Option<Head>,
    },
    /// The engine never wrote a database.
    Nothing,
}

impl Kept {
    /// Returns the parent of the next save.
    pub fn head(&self) -> Option<&Head> {
        match self {
            Self::Saved { head, .. } => Some(head),
            Self::Raced { .. } | Self::Nothing => None,
        }
    }
}

/// Saves the engine's memory from its data folder (`XDG_DATA_HOME`), while it runs or after.
pub fn keep(folder: &Folder, engine_data: &Path, provenance: &Provenance) -> Result<Kept, Error> {
    let Some(database) = database::find(engine_data)? else { return Ok(Kept::Nothing) };
    let scratch = folder.scratch()?;
    let copy = scratch.path().join("opencode.db");
    let sessions = snapshot::take(&database, &copy)?;
    let copy = File::open(copy)?;
    let bytes = copy.metadata()?.len();

    let database = folder.put(Encoder::new(copy, COMPRESSION)?)?;
    let manifest = Manifest {
        format: FORMAT,
        engine: provenance.engine_version.clone(),
        saved_at: provenance.now,
        sessions,
        bytes,
        database: database.name,
        parent: provenance.parent.clone(),
    };
    let manifest = folder.put(manifest.to_json()?.as_slice())?;
    Ok(match folder.advance(provenance.parent.as_ref(), manifest.name)? {
        Advance::Done(head) => {
            Kept::Saved { head, sessions, bytes, uploaded: database.written + manifest.written }
        }
        Advance::Moved { now } => Kept::Raced { sessions, now },
    })
}
