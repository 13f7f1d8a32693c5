//! A commit of a pull request.

use async_graphql::SimpleObject;

use crate::{
    graphql::scalar::{DateTime, GitObjectId},
    state,
};

#[derive(Clone, SimpleObject)]
pub(super) struct PullRequestCommit {
    commit: Commit,
}

#[derive(Clone, SimpleObject)]
struct Commit {
    oid: GitObjectId,
    message: String,
    message_headline: String,
    committed_date: DateTime,
}

impl From<&state::Commit> for PullRequestCommit {
    fn from(commit: &state::Commit) -> Self {
        Self {
            commit: Commit {
                oid: GitObjectId(commit.oid.clone()),
                message: commit.message.clone(),
                message_headline: commit.message.lines().next().unwrap_or_default().to_owned(),
                committed_date: DateTime(commit.committed_at),
            },
        }
    }
}
