//! Threads: whole histories of pull requests, and the status that each thread of ours has at the end.

use std::collections::BTreeMap;

use fro_core::{RepoName, Secret};
use serde::{Deserialize, Serialize};

use super::{BadData, lines, thousandths};
use crate::{
    Seal,
    state::{Account, ReviewComment, State, Status, ThreadFact},
};

/// What happened in the review threads of one pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The repository.
    pub repo: String,
    /// The pull request.
    pub pull: u64,
    /// Who we are.
    pub own: Account,
    /// The `state_key`, if there is one.
    #[serde(default)]
    pub key: Option<String>,
    /// All comments.
    pub comments: Vec<ReviewComment>,
    /// GitHub's word on the threads.
    #[serde(default)]
    pub threads: Vec<ThreadFact>,
    /// The status of each of our threads, by its first comment.
    pub expect: BTreeMap<u64, Status>,
}

/// How many histories were read right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Histories.
    pub histories: usize,
    /// Comments in all of them.
    pub comments: usize,
    /// Threads of ours, each with its status.
    pub threads: usize,
    /// Histories, by number, whose state is not the expected one.
    pub wrong: Vec<usize>,
}

impl Rebuilt {
    /// Rebuilds every state.
    pub fn count(histories: &[History]) -> Self {
        let mut rebuilt = Self { histories: histories.len(), ..Self::default() };
        for (number, history) in (1..).zip(histories) {
            rebuilt.comments += history.comments.len();
            rebuilt.threads += history.expect.len();
            if history.rebuilt().as_ref() != Some(&history.expect) {
                rebuilt.wrong.push(number);
            }
        }
        rebuilt
    }

    /// Returns how many states are right, in thousandths.
    pub fn share(&self) -> usize {
        thousandths(self.histories - self.wrong.len(), self.histories)
    }

    /// Tells whether all of them are, and there was something to rebuild.
    pub fn passes(&self) -> bool {
        self.threads > 0 && self.wrong.is_empty()
    }
}

impl History {
    fn rebuilt(&self) -> Option<BTreeMap<u64, Status>> {
        let repo = RepoName::parse(&self.repo).ok()?;
        let seal = Seal::new(&repo, self.pull, self.key.as_ref().map(Secret::new).as_ref());
        let state = State::rebuild(&self.own, &seal, &self.comments, &self.threads);
        Some(state.threads.iter().map(|thread| (thread.root.id, thread.status)).collect())
    }
}

/// Reads histories, one a line.
pub fn read(text: &str) -> Result<Vec<History>, BadData> {
    lines(text)
}
