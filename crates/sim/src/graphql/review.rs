//! A review of a pull request.

use async_graphql::{Enum, ID, SimpleObject};

use crate::{
    graphql::{
        Asked,
        actor::Actor,
        issue_comment::CommentAuthorAssociation,
        reaction::{self, ReactionGroup},
        scalar::{BigInt, DateTime, GitObjectId},
    },
    state::{self, Node, node_id},
};

#[derive(SimpleObject)]
pub(super) struct PullRequestReview {
    id: ID,
    full_database_id: BigInt,
    author: Option<Actor>,
    state: PullRequestReviewState,
    body: String,
    submitted_at: Option<DateTime>,
    author_association: CommentAuthorAssociation,
    commit: Option<ReviewedCommit>,
    reaction_groups: Option<Vec<ReactionGroup>>,
}

/// The commit that a review is about; of the type `Commit` to GitHub, of which only this is told here.
#[derive(SimpleObject)]
struct ReviewedCommit {
    oid: GitObjectId,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum PullRequestReviewState {
    Approved,
    ChangesRequested,
    Commented,
    Dismissed,
    Pending,
}

impl PullRequestReview {
    pub(super) fn new(asked: &Asked, repo: &state::Repo, review: &state::Review) -> Self {
        let state = match review.state {
            state::ReviewState::Approved => PullRequestReviewState::Approved,
            state::ReviewState::ChangesRequested => PullRequestReviewState::ChangesRequested,
            state::ReviewState::Commented => PullRequestReviewState::Commented,
            state::ReviewState::Dismissed => PullRequestReviewState::Dismissed,
            state::ReviewState::Pending => PullRequestReviewState::Pending,
        };
        Self {
            id: node_id(Node::Review { repo: repo.id, id: review.id }).into(),
            full_database_id: BigInt(review.id),
            author: Actor::find(&asked.state, &asked.address, &review.author),
            state,
            body: review.body.clone(),
            submitted_at: (review.state != state::ReviewState::Pending)
                .then_some(DateTime(review.submitted_at)),
            author_association: repo.association(&review.author).into(),
            commit: Some(ReviewedCommit { oid: GitObjectId(review.commit_oid.clone()) }),
            reaction_groups: Some(reaction::groups(asked, &[])),
        }
    }
}
