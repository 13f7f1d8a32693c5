//! A comment under an issue or pull request.

use jiff::Timestamp;

use crate::state::{Association, Reaction};

/// A comment.
#[derive(Debug, Clone)]
pub struct Comment {
    /// The database id.
    pub id: u64,
    /// The author's login.
    pub author: String,
    /// What the author is to the repository.
    pub association: Association,
    /// Markdown.
    pub body: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last edited.
    pub updated_at: Timestamp,
    /// Why it is folded away, if it is: `outdated`, `resolved` …
    pub minimized: Option<String>,
    /// The review that it came with, if it stands beside the code: every such comment has one.
    pub review: Option<u64>,
    /// On this comment.
    pub reactions: Vec<Reaction>,
}

impl Comment {
    /// A comment just written.
    pub fn new(id: u64, author: &str, association: Association, body: &str, now: Timestamp) -> Self {
        Self {
            id,
            author: author.to_owned(),
            association,
            body: body.to_owned(),
            created_at: now,
            updated_at: now,
            minimized: None,
            review: None,
            reactions: Vec::new(),
        }
    }
}
