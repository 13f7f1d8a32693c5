//! What a program says about a commit in the older, simpler way.

use jiff::Timestamp;

use crate::state::Repo;

/// A commit status.
#[derive(Debug, Clone)]
pub struct CommitStatus {
    /// The database id.
    pub id: u64,
    /// The commit.
    pub oid: String,
    /// What it is about; the newest of each counts.
    pub context: String,
    /// How it is.
    pub state: CommitState,
    /// One line for people.
    pub description: Option<String>,
    /// Where more is told.
    pub target_url: Option<String>,
    /// Who said it.
    pub creator: String,
    /// When it was said.
    pub created_at: Timestamp,
}

/// How a commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitState {
    /// Something broke on the way.
    Error,
    /// It is bad.
    Failure,
    /// It is not known yet.
    Pending,
    /// It is good.
    Success,
}

impl Repo {
    /// The newest status of each context of a commit, newest first.
    pub(crate) fn newest_statuses(&self, oid: &str) -> Vec<&CommitStatus> {
        let mut newest: Vec<&CommitStatus> = Vec::new();
        for status in self.statuses.iter().rev().filter(|status| status.oid == oid) {
            if newest.iter().all(|seen| seen.context != status.context) {
                newest.push(status);
            }
        }
        newest
    }
}

impl CommitState {
    /// Reads GitHub's word.
    pub(crate) fn read(word: &str) -> Option<Self> {
        [Self::Error, Self::Failure, Self::Pending, Self::Success].into_iter().find(|it| it.word() == word)
    }

    /// GitHub's word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Failure => "failure",
            Self::Pending => "pending",
            Self::Success => "success",
        }
    }

    /// What several come to: bad if one is, and nothing is good before all of them are.
    pub(crate) fn of_all(states: &[Self]) -> Self {
        let has = |state| states.contains(&state);
        if has(Self::Error) || has(Self::Failure) {
            return Self::Failure;
        }
        if states.is_empty() || has(Self::Pending) { Self::Pending } else { Self::Success }
    }
}

#[cfg(test)]
mod tests {
    use super::CommitState::{self, Error, Failure, Pending, Success};

    #[test]
    fn several_come_to_what_the_documentation_says() {
        let check =
            |states: &[CommitState], expect| assert_eq!(CommitState::of_all(states), expect, "{states:?}");
        check(&[], Pending);
        check(&[Success, Success], Success);
        check(&[Success, Pending], Pending);
        check(&[Pending, Failure], Failure);
        check(&[Success, Error], Failure);
    }
}
