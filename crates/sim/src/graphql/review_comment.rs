//! A remark beside the code.

use async_graphql::{ID, Object};

use crate::{
    graphql::{
        actor::Actor,
        issue_comment::CommentAuthorAssociation,
        reaction::{self, ReactionGroup},
        review::PullRequestReview,
        review_thread::PullRequestReviewComment,
        scalar::{BigInt, DateTime, Html, Uri},
    },
    page::markdown,
    state::{Node, node_id},
};

#[Object]
impl PullRequestReviewComment {
    pub(super) async fn id(&self) -> ID {
        node_id(Node::ReviewComment { repo: self.thread.repo.id, id: self.comment.id }).into()
    }

    async fn database_id(&self) -> u64 {
        self.comment.id
    }

    async fn full_database_id(&self) -> BigInt {
        BigInt(self.comment.id)
    }

    async fn author(&self) -> Option<Actor> {
        let asked = &self.thread.asked;
        Actor::find(&asked.state, &asked.address, &self.comment.author)
    }

    async fn path(&self) -> &str {
        &self.thread.thread.path
    }

    async fn body(&self) -> &str {
        &self.comment.body
    }

    #[graphql(name = "bodyHTML")]
    async fn body_html(&self) -> Html {
        Html(markdown::to_html(&self.comment.body))
    }

    async fn body_text(&self) -> String {
        markdown::to_text(&self.comment.body)
    }

    async fn diff_hunk(&self) -> &str {
        &self.thread.thread.diff_hunk
    }

    async fn position(&self) -> Option<u64> {
        self.thread.thread.position.and_then(|position| u64::try_from(position).ok())
    }

    async fn line(&self) -> Option<u64> {
        self.thread.thread.line
    }

    async fn original_line(&self) -> Option<u64> {
        self.thread.thread.original_line
    }

    async fn start_line(&self) -> Option<u64> {
        self.thread.thread.start.map(|(line, _)| line)
    }

    async fn original_start_line(&self) -> Option<u64> {
        self.thread.thread.original_start.map(|(line, _)| line)
    }

    async fn outdated(&self) -> bool {
        self.thread.thread.is_outdated()
    }

    /// The remark above it: the thread's first, which has none.
    async fn reply_to(&self) -> Option<Self> {
        let first = self.thread.thread.comments.first()?;
        (first.id != self.comment.id).then(|| self.thread.remark(first))
    }

    async fn pull_request_review(&self) -> Option<PullRequestReview> {
        let pulls = self.thread.repo.issues.iter().filter_map(|issue| issue.pull.as_ref());
        let mut reviews = pulls.flat_map(|pull| &pull.reviews);
        let review = reviews.find(|review| Some(review.id) == self.comment.review)?;
        Some(PullRequestReview::new(&self.thread.asked, &self.thread.repo, review))
    }

    async fn url(&self) -> Uri {
        let repo = &self.thread.repo;
        let issue = repo.review_comment(self.comment.id).map(|(issue, ..)| issue.page()).unwrap_or_default();
        let page = format!("{}/{}/{issue}", self.thread.asked.address, repo.full_name());
        Uri(format!("{page}#discussion_r{}", self.comment.id))
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.comment.created_at)
    }

    async fn last_edited_at(&self) -> Option<DateTime> {
        let (created, updated) = (self.comment.created_at, self.comment.updated_at);
        (updated > created).then_some(DateTime(updated))
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.comment.updated_at)
    }

    async fn author_association(&self) -> CommentAuthorAssociation {
        self.comment.association.into()
    }

    async fn is_minimized(&self) -> bool {
        self.comment.minimized.is_some()
    }

    async fn minimized_reason(&self) -> Option<&str> {
        self.comment.minimized.as_deref()
    }

    async fn reaction_groups(&self) -> Option<Vec<ReactionGroup>> {
        Some(reaction::groups(&self.thread.asked, &self.comment.reactions))
    }

    async fn viewer_did_author(&self) -> bool {
        let login = self.thread.asked.caller.login();
        login.is_ok_and(|login| login.eq_ignore_ascii_case(&self.comment.author))
    }
}
