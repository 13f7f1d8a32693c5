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
    /// The slug of the app that checks.
    pub app: String,
    /// The id of the suite: all runs of one app on one commit.
    pub suite: u64,
    /// What the app calls it.
    pub external_id: String,
    /// Where the app tells more, if it said so.
    pub details_url: Option<String>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// How far it has come.
    pub progress: Progress,
    /// One line for people.
    pub title: Option<String>,
    /// Markdown for people.
    pub summary: Option<String>,
    /// More Markdown for people.
    pub text: Option<String>,
    /// What it says about lines of the code.
    pub annotations: Vec<Annotation>,
}

/// How far something that runs has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Not begun.
    Queued,
    /// Begun.
    InProgress,
    /// Ended, how and when.
    Completed(Conclusion, Timestamp),
}

/// A remark of a check on lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// The file.
    pub path: String,
    /// The first line.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
    /// The first column, on one line only.
    pub start_column: Option<u64>,
    /// The last column, on one line only.
    pub end_column: Option<u64>,
    /// How bad it is.
    pub level: AnnotationLevel,
    /// What it says.
    pub message: String,
    /// What stands above that.
    pub title: Option<String>,
    /// More of it.
    pub raw_details: Option<String>,
}

/// How bad a remark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnotationLevel {
    /// To be known.
    Notice,
    /// To be looked at.
    Warning,
    /// To be mended.
    Failure,
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

impl Progress {
    /// The word in REST.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::InProgress => "in_progress",
            Self::Completed(..) => "completed",
        }
    }

    /// How and when it ended, if it did.
    pub fn end(self) -> Option<(Conclusion, Timestamp)> {
        match self {
            Self::Queued | Self::InProgress => None,
            Self::Completed(conclusion, at) => Some((conclusion, at)),
        }
    }

    /// How it ended, in REST's word.
    pub(crate) fn conclusion(self) -> Option<&'static str> {
        self.end().map(|(conclusion, _)| conclusion.word())
    }
}

impl AnnotationLevel {
    /// The word in REST.
    pub fn word(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }

    /// Reads the word in REST.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Notice, Self::Warning, Self::Failure].into_iter().find(|level| level.word() == word)
    }
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
