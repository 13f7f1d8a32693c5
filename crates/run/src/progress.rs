//! What a run tells while it goes on, for logs and for people who watch.

use std::{path::PathBuf, time::Duration};

use crate::review::Reviewed;
use fro_core::{
    Permit, Subject,
    continuity::Reminder,
    conversation::{heard::Heard, outcome::Usage},
    gate::SkipReason,
};
use fro_memory::{Kept, Recall};
use fro_opencode::InstallProgress;

/// Something happened in a run.
#[derive(Debug, Clone)]
pub enum Progress {
    /// There is nothing to do.
    Skipped(SkipReason),
    /// The run takes place.
    Permitted(Permit),
    /// The run has a folder that the agent cannot reach, where it leaves what has to be known if it is killed.
    Opened {
        /// The folder.
        private: PathBuf,
    },
    /// 👀 is on the request.
    Acknowledged,
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
    /// The conversation was read.
    Hydrated {
        /// Of what.
        subject: Subject,
        /// How many comments the agent is shown.
        n_comments: usize,
    },
    /// A file that came with the words was looked at.
    Attached {
        /// What it is called.
        name: String,
        /// What it is, or why it was left out.
        note: String,
    },
    /// The engine answers behind this wall.
    EngineUp {
        /// What stands between it and the machine.
        walls: String,
    },
    /// It was decided where the run takes place and what it is reminded of.
    Reminded(Reminder),
    /// The engine's session was opened.
    Session {
        /// Its id.
        id: String,
        /// The agent that was asked.
        agent: String,
    },
    /// The engine said something.
    Heard(Heard),
    /// Everybody can read the session.
    Shared {
        /// Where.
        url: String,
    },
    /// The engine is gone.
    EngineStopped,
    /// The answer is on GitHub.
    Delivered {
        /// Where.
        url: String,
    },
    /// A review was brought to its end.
    Reviewed(Reviewed),
    /// The run was accounted for.
    Accounted {
        /// From the start to the moment of writing this.
        duration: Duration,
        /// What the models took.
        usage: Usage,
    },
    /// The memory was saved, or not.
    Kept(Kept),
    /// Something is not as it should be, but the run goes on.
    Warning(String),
}

/// Takes a report of progress.
pub type Tell<'a> = &'a (dyn Fn(Progress) + Sync);
