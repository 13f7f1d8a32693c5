//! Where a run takes place: what it is about, what it reacts to and where its answer goes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::chat::ChannelId;

/// What a run is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An issue, by number.
    Issue(u64),
    /// A pull request, by number.
    PullRequest(u64),
    /// A discussion, by number.
    Discussion(u64),
    /// A thread of a chat.
    Thread(ChannelId),
    /// The repository as a whole.
    Repository,
}

impl Subject {
    /// Returns the number people know it by, if it has one.
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Issue(number) | Self::PullRequest(number) | Self::Discussion(number) => Some(number),
            Self::Thread(_) | Self::Repository => None,
        }
    }

    /// Returns what people call such a thing.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Issue(_) => "issue",
            Self::PullRequest(_) => "pull request",
            Self::Discussion(_) => "discussion",
            Self::Thread(_) => "thread",
            Self::Repository => "repository",
        }
    }

    /// Returns what stands after a repository's name, `#7`.
    pub fn mark(self) -> String {
        match self {
            Self::Issue(number) | Self::PullRequest(number) | Self::Discussion(number) => {
                format!("#{number}")
            }
            Self::Thread(thread) => format!("/thread/{thread}"),
            Self::Repository => String::new(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            Some(number) => write!(f, "{} #{number}", self.noun()),
            None => write!(f, "the {}", self.noun()),
        }
    }
}

/// GitHub's own name for a thing, which only GraphQL takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(String);

impl NodeId {
    /// Wraps an id as GitHub gave it.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the id as GitHub gave it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The very thing that a reaction goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A comment of the conversation, by its database id.
    Comment(u64),
    /// A comment in a review thread, by its database id.
    ReviewComment(u64),
    /// A review of a pull request, by its database id.
    Review(u64),
    /// The issue or pull request itself.
    Subject(Subject),
    /// A discussion or a comment in one.
    Node(NodeId),
    /// Nothing: a schedule has nobody to show 👀 to.
    Nowhere,
}

/// Lines of a change that a remark stands beside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The file.
    pub path: String,
    /// Whether the lines are those of the new file or of the old one.
    #[serde(default)]
    pub side: Side,
    /// The first line, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<usize>,
    /// The last line, or the only one.
    pub line: usize,
}

/// The two columns of a diff.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Side {
    /// The old file: lines that are gone.
    Left,
    /// The new file: lines that are new or stayed.
    #[default]
    Right,
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start_line {
            Some(start) => write!(f, "{}:{start}-{}", self.path, self.line),
            None => write!(f, "{}:{}", self.path, self.line),
        }
    }
}

/// Where an answer goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Surface {
    /// The conversation of an issue or a pull request, by number.
    Conversation(u64),
    /// A review thread, by the pull request's number and the thread's first comment.
    ReviewThread {
        /// The pull request.
        pull: u64,
        /// The first comment of the thread: replies to replies do not exist.
        root: u64,
    },
    /// A discussion.
    Discussion {
        /// Its number.
        number: u64,
        /// The discussion itself.
        id: NodeId,
        /// The comment that is answered, if it is one; the answer goes below it.
        comment: Option<NodeId>,
    },
    /// A thread of a chat.
    Thread(ChannelId),
    /// The run's own page, when there is nobody to write to.
    RunPage,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_called_by_its_number_if_it_has_one() {
        let thread = ChannelId::new(1_438_210).unwrap();
        let subjects = [
            Subject::Issue(7),
            Subject::PullRequest(2),
            Subject::Discussion(5),
            Subject::Thread(thread),
            Subject::Repository,
        ];
        let told = subjects.map(|subject| format!("{subject}, octo/garden{}", subject.mark()));
        let expect = [
            "issue #7, octo/garden#7",
            "pull request #2, octo/garden#2",
            "discussion #5, octo/garden#5",
            "the thread, octo/garden/thread/1438210",
            "the repository, octo/garden",
        ];
        assert_eq!(told, expect);
    }
}
