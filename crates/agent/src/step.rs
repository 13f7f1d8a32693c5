//! The progress reports of an engine's life, for logs and for people who watch.

use std::path::PathBuf;

use fro_boundary::WallProcess;
use fro_core::{continuity::Reminder, conversation::heard::Heard};
use fro_memory::{Kept, Recall};
use fro_opencode::InstallProgress;

/// Something happened in the life of an engine.
#[derive(Debug, Clone)]
pub enum Step {
    /// There is a folder that the agent cannot reach, with what has to be known if the process is killed.
    Opened {
        /// The folder.
        private: PathBuf,
    },
    /// The engine is being fetched.
    Installing(InstallProgress),
    /// The engine is on this machine.
    Installed {
        /// Its version.
        version: String,
        /// Its binary.
        binary: PathBuf,
    },
    /// The memory was looked up.
    Recalled(Recall),
    /// It was decided where the run takes place and what it is reminded of.
    Reminded(Reminder),
    /// The engine answers behind this wall.
    EngineUp {
        /// What stands between it and the machine.
        walls: String,
        /// The first process of the wall, unless it has ended already.
        process: Option<WallProcess>,
    },
    /// A session was opened.
    Session {
        /// Its id.
        id: String,
        /// The agent that is asked.
        agent: String,
    },
    /// The engine said something.
    Heard(Heard),
    /// The engine is gone.
    EngineStopped,
    /// The memory was saved, or not.
    Kept(Kept),
    /// Something is not as it should be, but it goes on.
    Warning(String),
}

/// Hears of each step.
pub type Tell<'a> = &'a (dyn Fn(Step) + Sync);
