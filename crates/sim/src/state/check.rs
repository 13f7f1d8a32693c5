//! What a check says about a commit.

use jiff::Timestamp;

/// A check run.
#[derive(Debug, Clone)]
pub struct CheckRun {
    /// The database id.
    pub id: u64,
    /// What was checked.
    pub name: String,
    /// The commit.
    pub head_oid: String,
    /// When it began.
    pub started_at: Timestamp,
    /// How and when it ended; none while it runs.
    pub completed: Option<(Conclusion, Timestamp)>,
    /// One line for people.
    pub title: Option<String>,
    /// Markdown for people.
    pub summary: Option<String>,
}

/// How a check can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Somebody has to do something.
    ActionRequired,
    /// Broken off.
    Cancelled,
    /// Bad.
    Failure,
    /// Neither good nor bad.
    Neutral,
    /// Good.
    Success,
    /// Not done.
    Skipped,
    /// Took too long.
    TimedOut,
}

impl Conclusion {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ActionRequired,
        Self::Cancelled,
        Self::Failure,
        Self::Neutral,
        Self::Success,
        Self::Skipped,
        Self::TimedOut,
    ];

    /// The word in REST.
    pub fn word(self) -> &'static str {
        match self {
            Self::ActionRequired => "action_required",
            Self::Cancelled => "cancelled",
            Self::Failure => "failure",
            Self::Neutral => "neutral",
            Self::Success => "success",
            Self::Skipped => "skipped",
            Self::TimedOut => "timed_out",
        }
    }

    /// Reads the word in REST.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|conclusion| conclusion.word() == word)
    }
}
