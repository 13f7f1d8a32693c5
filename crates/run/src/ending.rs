//! The ways in which a run ends, and the proof of an answer.

use fro_core::gate::SkipReason;

use crate::review::Reviewed;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// There was nothing to do.
    Skipped(SkipReason),
    /// The answer was posted.
    Answered(Receipt),
    /// A comment was posted that says what went wrong.
    ToldFailure(Receipt),
    /// A pull request was looked at. Where there was nothing to say, nothing was written.
    Reviewed(Reviewed),
    /// The runner, or whoever watches, stopped the run.
    Interrupted,
    /// Somebody who may push said that it should stop.
    Stopped,
}

/// The proof of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Where people read it.
    pub url: String,
}
