//! What a program says about a commit in the older, simpler way.

use std::sync::Arc;

use async_graphql::{Enum, ID, Object};

use crate::{
    graphql::{
        Asked,
        actor::Actor,
        scalar::{DateTime, Uri},
    },
    state::{self, CommitState, CommitStatus, Node, node_id},
};

#[derive(Clone)]
pub(super) struct StatusContext {
    asked: Arc<Asked>,
    repo: u64,
    told: CommitStatus,
}

/// How a commit is; the worst comes last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Enum)]
pub(super) enum StatusState {
    Success,
    Pending,
    Failure,
    Error,
}

impl StatusContext {
    pub(super) fn new(asked: &Arc<Asked>, repo: &state::Repo, status: &CommitStatus) -> Self {
        Self { asked: Arc::clone(asked), repo: repo.id, told: status.clone() }
    }

    /// How it is, to be compared.
    pub(super) fn how(&self) -> StatusState {
        match self.told.state {
            CommitState::Error => StatusState::Error,
            CommitState::Failure => StatusState::Failure,
            CommitState::Pending => StatusState::Pending,
            CommitState::Success => StatusState::Success,
        }
    }
}

#[Object]
impl StatusContext {
    pub(super) async fn id(&self) -> ID {
        node_id(Node::Status { repo: self.repo, id: self.told.id }).into()
    }

    async fn context(&self) -> &str {
        &self.told.context
    }

    async fn state(&self) -> StatusState {
        self.how()
    }

    async fn description(&self) -> Option<&str> {
        self.told.description.as_deref()
    }

    async fn target_url(&self) -> Option<Uri> {
        self.told.target_url.clone().map(Uri)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.told.created_at)
    }

    async fn creator(&self) -> Option<Actor> {
        Actor::find(&self.asked.state, &self.asked.address, &self.told.creator)
    }

    /// Nothing here has to be good before it is merged.
    async fn is_required(&self, pull_request_id: Option<ID>, pull_request_number: Option<i32>) -> bool {
        drop((pull_request_id, pull_request_number));
        false
    }
}
