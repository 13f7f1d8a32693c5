//! A review of a pull request.

use std::sync::Arc;

use async_graphql::{ComplexObject, Enum, ID, Result, SimpleObject};

use crate::{
    graphql::{
        Asked,
        actor::Actor,
        commit::Commit,
        connection::{Connection, Window},
        issue_comment::CommentAuthorAssociation,
        reaction::{self, ReactionGroup},
        review_thread::{PullRequestReviewComment, PullRequestReviewThread},
        scalar::{BigInt, DateTime, Html, Uri},
    },
    page::markdown,
    state::{self, Node, node_id},
};

#[derive(SimpleObject)]
#[graphql(complex)]
pub(super) struct PullRequestReview {
    #[graphql(skip)]
    asked: Arc<Asked>,
    #[graphql(skip)]
    repo: Arc<state::Repo>,
    database_id: u64,
    pub(super) id: ID,
    full_database_id: BigInt,
    author: Option<Actor>,
    state: PullRequestReviewState,
    body: String,
    created_at: DateTime,
    updated_at: DateTime,
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
    fn given(&self) -> Option<&state::Review> {
        let pulls = self.repo.issues.iter().filter_map(|issue| issue.pull.as_ref());
        pulls.flat_map(|pull| &pull.reviews).find(|review| review.id == self.database_id)
    }

    /// Why it is folded away, if it is.
    pub(super) fn folding(&self) -> Option<&str> {
        self.minimized_reason.as_deref()
    }

    pub(super) fn new(asked: &Arc<Asked>, repo: &Arc<state::Repo>, review: &state::Review) -> Self {
        let state = review.state.into();
        Self {
            asked: Arc::clone(asked),
            repo: Arc::clone(repo),
            database_id: review.id,
            id: node_id(Node::Review { repo: repo.id, id: review.id }).into(),
            full_database_id: BigInt(review.id),
            author: Actor::find(&asked.state, &asked.address, &review.author),
            state,
            body: review.body.clone(),
            created_at: DateTime(review.submitted_at),
            updated_at: DateTime(review.edited_at.unwrap_or(review.submitted_at)),
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

#[ComplexObject]
impl PullRequestReview {
    #[graphql(name = "bodyHTML")]
    async fn body_html(&self) -> Html {
        Html(markdown::to_html(&self.body))
    }

    async fn body_text(&self) -> String {
        markdown::to_text(&self.body)
    }

    async fn url(&self) -> Uri {
        let given = |issue: &&state::Issue| {
            let pull = issue.pull.iter();
            pull.flat_map(|pull| &pull.reviews).any(|review| review.id == self.database_id)
        };
        let page = self.repo.issues.iter().find(given).map(state::Issue::page).unwrap_or_default();
        let repo = format!("{}/{}", self.asked.address, self.repo.full_name());
        Uri(format!("{repo}/{page}#pullrequestreview-{}", self.database_id))
    }

    async fn viewer_did_author(&self) -> bool {
        let author = self.given().map(|review| review.author.as_str());
        author.is_some_and(|author| author.eq_ignore_ascii_case(self.asked.login()))
    }

    /// Its remarks beside the code.
    async fn comments(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<PullRequestReviewComment>> {
        let threads =
            self.repo.issues.iter().filter_map(|issue| issue.pull.as_ref()).flat_map(|pull| &pull.threads);
        let own = threads.flat_map(|thread| {
            let (asked, repo) = (Arc::clone(&self.asked), Arc::clone(&self.repo));
            let all = PullRequestReviewThread { asked, repo, thread: thread.clone() };
            let own = thread.comments.iter().filter(|said| said.review == Some(self.database_id));
            own.map(move |said| all.remark(said)).collect::<Vec<_>>()
        });
        Window { first, last, before, after }.on("comments", own.collect())
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
