//! What is said beside the code of a pull request.

use std::sync::Arc;

use async_graphql::{ID, Object, Result};

use crate::{
    graphql::{
        Asked,
        actor::Actor,
        connection::{Connection, Window},
        scalar::{BigInt, DateTime},
    },
    state::{Comment, Node, ReviewThread, node_id},
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

#[Object]
impl PullRequestReviewThread {
    pub(super) async fn id(&self) -> ID {
        node_id(Node::ReviewThread { repo: self.repo, id: self.thread.id }).into()
    }

    async fn is_resolved(&self) -> bool {
        self.thread.resolved
    }

    async fn is_outdated(&self) -> bool {
        self.thread.line.is_none()
    }

    async fn path(&self) -> &str {
        &self.thread.path
    }

    async fn line(&self) -> Option<u64> {
        self.thread.line
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
}
