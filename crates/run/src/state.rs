//! What a run leaves for the step after it, in case it is killed.
//!
//! It lies in the folder that the agent cannot reach, and goes with it when the run ends by itself.

use std::path::{Path, PathBuf};

use fro_core::Fault;
use fro_memory::Head;
use serde::{Deserialize, Serialize};

const FILE: &str = "state.json";

/// What has to be known to save the memory of a killed run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The engine's data folder.
    pub(crate) engine_data: PathBuf,
    /// The sessions that served the run.
    pub(crate) sessions: Vec<String>,
    /// The save that the engine started from.
    pub(crate) parent: Option<Head>,
}

impl State {
    /// Writes it down, in one move: whoever reads it sees the old or the new.
    pub(crate) fn write(&self, private: &Path) -> std::io::Result<()> {
        let new = private.join("state.new");
        fs_err::write(&new, serde_json::to_vec(self)?)?;
        fs_err::rename(new, private.join(FILE))
    }

    /// Reads it, if the run came so far.
    pub(crate) fn read(private: &Path) -> Result<Option<Self>, Fault> {
        let failed = |error: std::io::Error| Fault::ours(format!("cannot read what the run left: {error}"));
        match fs_err::read(private.join(FILE)) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| failed(error.into())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}
