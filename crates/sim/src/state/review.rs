//! What reviewers say about a pull request: verdicts, and threads beside the code.

use jiff::Timestamp;

use crate::state::{Anchor, Comment, Side};

/// A review of a pull request.
#[derive(Debug, Clone)]
pub struct Review {
    /// The database id.
    pub id: u64,
    /// The author's login.
    pub author: String,
    /// Its verdict.
    pub state: ReviewState,
    /// Markdown.
    pub body: String,
    /// The commit it is about.
    pub commit_oid: String,
    /// When it was given; until then, when it was begun.
    pub submitted_at: Timestamp,
    /// When its words were last edited, if they were.
    pub edited_at: Option<Timestamp>,
    /// Why it is folded away, if it is.
    pub minimized: Option<String>,
}

/// Verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewState {
    /// For it.
    Approved,
    /// Against it.
    ChangesRequested,
    /// Neither.
    Commented,
    /// Taken away by a maintainer.
    Dismissed,
    /// Not given yet: only its author sees it.
    Pending,
}

/// A thread beside the code.
#[derive(Debug, Clone)]
pub struct ReviewThread {
    /// The database id.
    pub id: u64,
    /// The file.
    pub path: String,
    /// The line in the head; none if the code has moved on, or for a whole file.
    pub line: Option<u64>,
    /// The line as it was when the thread began; none for a whole file.
    pub original_line: Option<u64>,
    /// So many lines below the header of the file's first hunk, as it used to be told; none if the code has moved on.
    pub position: Option<usize>,
    /// So many when the thread began; 0 for a whole file.
    pub original_position: usize,
    /// Which side of the diff.
    pub side: Side,
    /// The first line and its side, if it is about several and the code has not moved on.
    pub start: Option<(u64, Side)>,
    /// The first line as it was when the thread began.
    pub original_start: Option<(u64, Side)>,
    /// The commit it is about.
    pub commit_oid: String,
    /// The lines around it.
    pub diff_hunk: String,
    /// Whether it is done with.
    pub resolved: bool,
    /// Who said so.
    pub resolved_by: Option<String>,
    /// Oldest first; the first one is the thread's own.
    pub comments: Vec<Comment>,
}

impl ReviewState {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::ChangesRequested => "CHANGES_REQUESTED",
            Self::Commented => "COMMENTED",
            Self::Dismissed => "DISMISSED",
            Self::Pending => "PENDING",
        }
    }
}

impl Review {
    /// A review that says nothing itself: it carries a remark or a reply that somebody made alone.
    pub(crate) fn carrier(id: u64, author: &str, commit_oid: &str, now: Timestamp) -> Self {
        Self {
            id,
            author: author.to_owned(),
            state: ReviewState::Commented,
            body: String::new(),
            commit_oid: commit_oid.to_owned(),
            submitted_at: now,
            edited_at: None,
            minimized: None,
        }
    }

    /// Whether somebody sees it.
    pub fn is_seen_by(&self, login: Option<&str>) -> bool {
        self.state != ReviewState::Pending
            || login.is_some_and(|login| login.eq_ignore_ascii_case(&self.author))
    }
}

impl ReviewThread {
    /// A thread that begins with a comment.
    pub(crate) fn new(id: u64, path: &str, anchor: Anchor, commit_oid: &str, first: Comment) -> Self {
        Self {
            id,
            path: path.to_owned(),
            line: anchor.line,
            original_line: anchor.line,
            position: anchor.line.map(|_| anchor.position),
            original_position: anchor.position,
            side: anchor.side,
            start: anchor.start,
            original_start: anchor.start,
            commit_oid: commit_oid.to_owned(),
            diff_hunk: anchor.diff_hunk,
            resolved: false,
            resolved_by: None,
            comments: vec![first],
        }
    }

    /// Whether its line is gone.
    pub(crate) fn is_outdated(&self) -> bool {
        self.original_line.is_some() && self.line.is_none()
    }

    pub(crate) fn anchor(&self) -> Anchor {
        Anchor {
            line: self.line,
            side: self.side,
            start: self.start,
            position: self.original_position,
            diff_hunk: self.diff_hunk.clone(),
        }
    }
}
