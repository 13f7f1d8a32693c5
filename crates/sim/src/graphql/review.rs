//! A review of a pull request.

use async_graphql::{Enum, ID, SimpleObject};

use crate::{
    graphql::{
        Asked,
        actor::Actor,
        scalar::{BigInt, DateTime},
    },
    state::{self, Node, node_id},
};

#[derive(Clone, SimpleObject)]
pub(super) struct PullRequestReview {
    id: ID,
    full_database_id: BigInt,
    author: Option<Actor>,
    state: PullRequestReviewState,
    body: String,
    submitted_at: Option<DateTime>,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum PullRequestReviewState {
    Approved,
    ChangesRequested,
    Commented,
}

impl PullRequestReview {
    pub(super) fn new(asked: &Asked, repo: &state::Repo, review: &state::Review) -> Self {
        let state = match review.state {
            state::ReviewState::Approved => PullRequestReviewState::Approved,
            state::ReviewState::ChangesRequested => PullRequestReviewState::ChangesRequested,
            state::ReviewState::Commented => PullRequestReviewState::Commented,
        };
        Self {
            id: node_id(Node::Review { repo: repo.id, id: review.id }).into(),
            full_database_id: BigInt(review.id),
            author: Actor::find(&asked.state, &asked.address, &review.author),
            state,
            body: review.body.clone(),
            submitted_at: Some(DateTime(review.submitted_at)),
        }
    }
}
