//! The progress reports of a run, for logs and for people who watch.

use std::time::Duration;

use fro_agent::Step;
use fro_core::{Login, Permit, Subject, conversation::outcome::Usage, gate::SkipReason};

use crate::review::Reviewed;

/// Something happened in a run.
#[derive(Debug, Clone)]
pub enum Progress {
    /// Something of the engine's life.
    Agent(Step),
    /// There is nothing to do.
    Skipped(SkipReason),
    /// The run takes place.
    Permitted(Permit),
    /// This model will be asked, if one is named.
    Model(Option<String>),
    /// 👀 is on the request.
    Acknowledged,
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
    /// Everybody can read the session.
    Shared {
        /// Where.
        url: String,
    },
    /// The answer is on GitHub.
    Delivered {
        /// Where.
        url: String,
    },
    /// The agent handed in a result that fits `output-schema`.
    Result {
        /// One line of JSON.
        json: String,
    },
    /// A review was brought to its end.
    Reviewed(Reviewed),
    /// Somebody said that the run should stop.
    Stopped {
        /// Who.
        by: Login,
    },
    /// The run was accounted for.
    Accounted {
        /// From the start to the moment of writing this.
        duration: Duration,
        /// What the models took.
        usage: Usage,
    },
    /// Something is not as it should be, but the run goes on.
    Warning(String),
}

/// Takes a report of progress.
pub type Tell<'a> = &'a (dyn Fn(Progress) + Sync);
