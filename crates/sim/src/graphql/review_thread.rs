//! What is said beside the code of a pull request.

use std::sync::Arc;

use async_graphql::{Enum, ID, Object, Result};

use crate::{
    graphql::{
        Asked,
        actor::User,
        connection::{Connection, Window},
    },
    state::{Comment, Node, Repo, ReviewThread, Role, Side, node_id},
};

#[derive(Clone)]
pub(super) struct PullRequestReviewThread {
    pub(super) asked: Arc<Asked>,
    pub(super) repo: Arc<Repo>,
    pub(super) thread: ReviewThread,
}

#[derive(Clone)]
pub(super) struct PullRequestReviewComment {
    pub(super) thread: Arc<PullRequestReviewThread>,
    pub(super) comment: Comment,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "Side")]
pub(super) enum DiffSide {
    Left,
    Right,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum PullRequestReviewThreadSubjectType {
    File,
    Line,
}

impl PullRequestReviewThread {
    /// Whether whoever asks may say that it is done with: people who may push, and the pull request's author.
    fn is_for_viewer_to_settle(&self) -> bool {
        let (caller, repo) = (&self.asked.caller, &self.repo);
        let Some(login) = caller.writer() else { return false };
        let first = self.thread.comments.first().and_then(|first| repo.review_comment(first.id));
        let own = first.is_some_and(|(issue, ..)| issue.author.eq_ignore_ascii_case(login));
        let granted = caller.may(repo, &["pull_requests"]) && caller.may(repo, &["contents"]);
        granted && (own || caller.has(Role::Write, repo))
    }
}

impl PullRequestReviewThread {
    /// One of its remarks.
    pub(super) fn remark(&self, comment: &Comment) -> PullRequestReviewComment {
        PullRequestReviewComment { thread: Arc::new(self.clone()), comment: comment.clone() }
    }
}

#[Object]
impl PullRequestReviewThread {
    pub(super) async fn id(&self) -> ID {
        node_id(Node::ReviewThread { repo: self.repo.id, id: self.thread.id }).into()
    }

    async fn is_resolved(&self) -> bool {
        self.thread.resolved
    }

    async fn is_outdated(&self) -> bool {
        self.thread.is_outdated()
    }

    async fn is_collapsed(&self) -> bool {
        self.thread.resolved
    }

    async fn resolved_by(&self) -> Option<User> {
        let person = self.asked.state.person(self.thread.resolved_by.as_deref()?)?;
        Some(User::new(person, &self.asked.address))
    }

    async fn path(&self) -> &str {
        &self.thread.path
    }

    async fn line(&self) -> Option<u64> {
        self.thread.line
    }

    async fn original_line(&self) -> Option<u64> {
        self.thread.original_line
    }

    async fn start_line(&self) -> Option<u64> {
        self.thread.start.map(|(line, _)| line)
    }

    async fn original_start_line(&self) -> Option<u64> {
        self.thread.original_start.map(|(line, _)| line)
    }

    async fn diff_side(&self) -> DiffSide {
        self.thread.side.into()
    }

    async fn start_diff_side(&self) -> Option<DiffSide> {
        self.thread.original_start.map(|(_, side)| side.into())
    }

    async fn subject_type(&self) -> PullRequestReviewThreadSubjectType {
        match self.thread.original_line {
            Some(_) => PullRequestReviewThreadSubjectType::Line,
            None => PullRequestReviewThreadSubjectType::File,
        }
    }

    async fn viewer_can_resolve(&self) -> bool {
        !self.thread.resolved && self.is_for_viewer_to_settle()
    }

    async fn viewer_can_unresolve(&self) -> bool {
        self.thread.resolved && self.is_for_viewer_to_settle()
    }

    async fn viewer_can_reply(&self) -> bool {
        self.asked.caller.writer().is_some()
    }

    async fn comments(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<PullRequestReviewComment>> {
        let comments = self.thread.comments.iter().map(|comment| self.remark(comment));
        Window { first, last, before, after }.on("comments", comments.collect())
    }
}

impl PullRequestReviewComment {
    /// Why it is folded away, if it is.
    pub(super) fn folding(&self) -> Option<&str> {
        self.comment.minimized.as_deref()
    }
}
