//! A discussion: comments, and replies below each of them.

use std::iter::once;

use jiff::Timestamp;

use crate::state::{Association, Comment, Reaction};

/// A discussion.
#[derive(Debug, Clone)]
pub struct Discussion {
    /// The database id.
    pub id: u64,
    /// The number in its repository, which no issue has.
    pub number: u64,
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// The author's login.
    pub author: String,
    /// What the author is to the repository.
    pub association: Association,
    /// Whether only collaborators may comment.
    pub locked: bool,
    /// Names of labels of the repository.
    pub labels: Vec<String>,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When the opening text was last edited, if it was.
    pub edited_at: Option<Timestamp>,
    /// Oldest first.
    pub comments: Vec<DiscussionComment>,
    /// On the opening text.
    pub reactions: Vec<Reaction>,
}

/// A comment with what was said to it. Replies have no replies.
#[derive(Debug, Clone)]
pub struct DiscussionComment {
    /// The comment itself.
    pub comment: Comment,
    /// Oldest first.
    pub replies: Vec<Comment>,
}

impl Discussion {
    /// Finds a comment or a reply.
    pub fn comment(&self, id: u64) -> Option<&Comment> {
        self.said().find(|comment| comment.id == id)
    }

    /// Finds a comment or a reply to change it.
    pub fn comment_mut(&mut self, id: u64) -> Option<&mut Comment> {
        let tops = self.comments.iter_mut();
        let mut all = tops.flat_map(|top| once(&mut top.comment).chain(&mut top.replies));
        all.find(|comment| comment.id == id)
    }

    /// Finds the comment that a reply stands below.
    pub fn above(&self, reply: u64) -> Option<&Comment> {
        let below = |top: &&DiscussionComment| top.replies.iter().any(|comment| comment.id == reply);
        self.comments.iter().find(below).map(|top| &top.comment)
    }

    /// Everything that was said, oldest thread first.
    pub fn said(&self) -> impl Iterator<Item = &Comment> {
        self.comments.iter().flat_map(|top| once(&top.comment).chain(&top.replies))
    }
}
