//! Review comments and threads as GitHub's answers have them.

use fro_core::{Anchor, Login, Side};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Somebody on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The name, with or without `[bot]`.
    pub login: Login,
    /// Whether it is an App's. A person may have the same name without `[bot]`.
    #[serde(default)]
    pub is_bot: bool,
}

impl Account {
    /// Tells whether both are the same. REST writes an App's name with `[bot]`, GraphQL without.
    pub fn is(&self, other: &Self) -> bool {
        self.is_bot == other.is_bot && self.login.is_same_identity(&other.login)
    }
}

/// A comment of a review thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewComment {
    /// Its id.
    pub id: u64,
    /// The first comment of its thread, unless it is that itself.
    #[serde(default)]
    pub in_reply_to: Option<u64>,
    /// Who wrote it.
    pub author: Account,
    /// What it says.
    pub body: String,
    /// When it was written; an edit does not change it.
    pub created_at: Timestamp,
    /// The file.
    #[serde(default)]
    pub path: String,
    /// Which side of the diff.
    #[serde(default)]
    pub side: Side,
    /// The line now; none if the code has moved on or the comment is on the whole file.
    #[serde(default)]
    pub line: Option<usize>,
    /// The line when it was written.
    #[serde(default)]
    pub original_line: Option<usize>,
    /// The commit that it was written on.
    #[serde(default)]
    pub original_commit: String,
    /// The piece of the diff that ends with its line.
    #[serde(default)]
    pub diff_hunk: String,
}

impl ReviewComment {
    /// Returns where it stood when it was written.
    pub fn original(&self) -> Option<Anchor> {
        let line = self.original_line.or(self.line)?;
        Some(Anchor { path: self.path.clone(), side: self.side, start_line: None, line })
    }
}

/// What GitHub says of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadFact {
    /// Its first comment.
    pub root: u64,
    /// Its id in GraphQL, which resolving needs.
    #[serde(default)]
    pub node: String,
    /// Whether it is resolved.
    pub resolved: bool,
    /// Who resolved it.
    #[serde(default)]
    pub resolved_by: Option<Account>,
    /// Whether we may resolve it.
    #[serde(default)]
    pub can_resolve: bool,
}
