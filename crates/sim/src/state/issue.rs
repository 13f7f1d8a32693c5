//! An issue, or the issue that a pull request also is.

use jiff::Timestamp;

use crate::state::{Association, Comment, Pull, Reaction};

/// An issue or pull request.
#[derive(Debug, Clone)]
pub struct Issue {
    /// The database id.
    pub id: u64,
    /// The number in its repository.
    pub number: u64,
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// The author's login.
    pub author: String,
    /// What the author is to the repository.
    pub association: Association,
    /// Names of labels of the repository.
    pub labels: Vec<String>,
    /// Whether only collaborators may comment.
    pub locked: bool,
    /// Open or closed.
    pub state: IssueState,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When something last happened to it.
    pub updated_at: Timestamp,
    /// Oldest first.
    pub comments: Vec<Comment>,
    /// On the opening text.
    pub reactions: Vec<Reaction>,
    /// What makes it a pull request.
    pub pull: Option<Pull>,
}

/// Whether there is still something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueState {
    /// To be done.
    Open,
    /// Done with; a pull request is not merged.
    Closed,
    /// A merged pull request.
    Merged,
}

impl Issue {
    /// An open issue without words.
    pub fn new(id: u64, number: u64, author: &str, now: Timestamp) -> Self {
        Self {
            id,
            number,
            title: String::new(),
            body: String::new(),
            author: author.to_owned(),
            association: Association::None,
            labels: Vec::new(),
            locked: false,
            state: IssueState::Open,
            created_at: now,
            updated_at: now,
            comments: Vec::new(),
            reactions: Vec::new(),
            pull: None,
        }
    }

    /// Finds a comment.
    pub fn comment(&self, id: u64) -> Option<&Comment> {
        self.comments.iter().find(|comment| comment.id == id)
    }

    /// Finds a comment to change it.
    pub fn comment_mut(&mut self, id: u64) -> Option<&mut Comment> {
        self.comments.iter_mut().find(|comment| comment.id == id)
    }

    /// The last part of its page's path.
    pub(crate) fn page(&self) -> String {
        let kind = if self.pull.is_some() { "pull" } else { "issues" };
        format!("{kind}/{}", self.number)
    }
}

impl IssueState {
    /// The word in REST, which knows no merged issues.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed | Self::Merged => "closed",
        }
    }
}
