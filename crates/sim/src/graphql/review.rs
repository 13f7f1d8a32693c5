//! A review of a pull request.

use std::sync::Arc;

use async_graphql::{Enum, ID, SimpleObject};

use crate::{
    graphql::{
        Asked,
        actor::Actor,
        commit::Commit,
        issue_comment::CommentAuthorAssociation,
        reaction::{self, ReactionGroup},
        scalar::{BigInt, DateTime},
    },
    state::{self, Node, node_id},
};

#[derive(SimpleObject)]
pub(super) struct PullRequestReview {
    pub(super) id: ID,
    full_database_id: BigInt,
    author: Option<Actor>,
    state: PullRequestReviewState,
    body: String,
    submitted_at: Option<DateTime>,
    last_edited_at: Option<DateTime>,
    author_association: CommentAuthorAssociation,
    commit: Option<Commit>,
    reaction_groups: Option<Vec<ReactionGroup>>,
    is_minimized: bool,
    minimized_reason: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum PullRequestReviewState {
    Approved,
    ChangesRequested,
    Commented,
    Dismissed,
    Pending,
}

impl PullRequestReview {
    /// Why it is folded away, if it is.
    pub(super) fn folding(&self) -> Option<&str> {
        self.minimized_reason.as_deref()
    }

    pub(super) fn new(asked: &Arc<Asked>, repo: &Arc<state::Repo>, review: &state::Review) -> Self {
        let state = review.state.into();
        Self {
            id: node_id(Node::Review { repo: repo.id, id: review.id }).into(),
            full_database_id: BigInt(review.id),
            author: Actor::find(&asked.state, &asked.address, &review.author),
            state,
            body: review.body.clone(),
            submitted_at: (review.state != state::ReviewState::Pending)
                .then_some(DateTime(review.submitted_at)),
            last_edited_at: review.edited_at.map(DateTime),
            author_association: repo.association(&review.author).into(),
            commit: Commit::find(asked, repo, &review.commit_oid),
            reaction_groups: Some(reaction::groups(asked, &[])),
            is_minimized: review.minimized.is_some(),
            minimized_reason: review.minimized.clone(),
        }
    }
}

impl From<state::ReviewState> for PullRequestReviewState {
    fn from(state: state::ReviewState) -> Self {
        match state {
            state::ReviewState::Approved => Self::Approved,
            state::ReviewState::ChangesRequested => Self::ChangesRequested,
            state::ReviewState::Commented => Self::Commented,
            state::ReviewState::Dismissed => Self::Dismissed,
            state::ReviewState::Pending => Self::Pending,
        }
    }
}
