//! What is said beside the code of a pull request.

use std::sync::Arc;

use async_graphql::{Enum, ID, Object, Result};

use crate::{
    graphql::{
        Asked,
        actor::{Actor, User},
        connection::{Connection, Window},
        issue_comment::CommentAuthorAssociation,
        reaction::{self, ReactionGroup},
        scalar::{BigInt, DateTime},
    },
    state::{Comment, Node, ReviewThread, Role, Side, node_id},
};

#[derive(Clone)]
pub(super) struct PullRequestReviewThread {
    pub(super) asked: Arc<Asked>,
    pub(super) repo: u64,
    pub(super) thread: ReviewThread,
}

#[derive(Clone)]
pub(super) struct PullRequestReviewComment {
    asked: Arc<Asked>,
    repo: u64,
    path: String,
    comment: Comment,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "Side")]
enum DiffSide {
    Left,
    Right,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum PullRequestReviewThreadSubjectType {
    File,
    Line,
}

impl PullRequestReviewThread {
    /// Whether whoever asks may say that it is done with: people who may push, and the pull request's author.
    fn is_for_viewer_to_settle(&self) -> bool {
        let Asked { state, caller, .. } = &*self.asked;
        let Some(login) = caller.writer() else { return false };
        let Some(repo) = state.repos.iter().find(|repo| repo.id == self.repo) else { return false };
        let first = self.thread.comments.first().and_then(|first| repo.review_comment(first.id));
        let own = first.is_some_and(|(issue, ..)| issue.author.eq_ignore_ascii_case(login));
        let granted = caller.may(repo, &["pull_requests"]) && caller.may(repo, &["contents"]);
        granted && (own || caller.has(Role::Write, repo))
    }
}

#[Object]
impl PullRequestReviewThread {
    pub(super) async fn id(&self) -> ID {
        node_id(Node::ReviewThread { repo: self.repo, id: self.thread.id }).into()
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
        let comments = self.thread.comments.iter().map(|comment| PullRequestReviewComment {
            asked: Arc::clone(&self.asked),
            repo: self.repo,
            path: self.thread.path.clone(),
            comment: comment.clone(),
        });
        Window { first, last, before, after }.on("comments", comments.collect())
    }
}

#[Object]
impl PullRequestReviewComment {
    async fn id(&self) -> ID {
        node_id(Node::ReviewComment { repo: self.repo, id: self.comment.id }).into()
    }

    async fn database_id(&self) -> u64 {
        self.comment.id
    }

    async fn full_database_id(&self) -> BigInt {
        BigInt(self.comment.id)
    }

    async fn author(&self) -> Option<Actor> {
        Actor::find(&self.asked.state, &self.asked.address, &self.comment.author)
    }

    async fn path(&self) -> &str {
        &self.path
    }

    async fn body(&self) -> &str {
        &self.comment.body
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.comment.created_at)
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
        Some(reaction::groups(&self.asked, &self.comment.reactions))
    }

    async fn viewer_did_author(&self) -> bool {
        self.asked.caller.login().is_ok_and(|login| login.eq_ignore_ascii_case(&self.comment.author))
    }
}
