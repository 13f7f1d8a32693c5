//! An issue.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, MergedObject, Object, Result, SimpleObject};

use crate::{
    graphql::{
        absent::IssueType,
        connection::{Connection, Window},
        pull_request::{self, PullRequest},
        thread::Thread,
        timeline::{self, IssueTimelineItems, IssueTimelineItemsItemType},
    },
    state,
};

/// An issue: what every thread has, and what only issues have.
#[derive(MergedObject)]
#[graphql(name = "Issue")]
pub(super) struct Issue(Thread, IssueAlone);

struct IssueAlone {
    thread: Thread,
    state: IssueState,
    reason: Option<IssueStateReason>,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum IssueState {
    Open,
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum IssueStateReason {
    Completed,
    Duplicate,
    NotPlanned,
    Reopened,
}

/// How much of the issues below is done.
#[derive(SimpleObject)]
struct SubIssuesSummary {
    total: i32,
    completed: i32,
    percent_completed: i32,
}

/// Takes a thread for an issue.
pub(super) fn from_thread(thread: Thread) -> Issue {
    let state = thread.issue.state.into();
    let reason = thread.issue.state_reason().map(|word| match word {
        "duplicate" => IssueStateReason::Duplicate,
        "not_planned" => IssueStateReason::NotPlanned,
        "reopened" => IssueStateReason::Reopened,
        _ => IssueStateReason::Completed,
    });
    Issue(thread.clone(), IssueAlone { thread, state, reason })
}

impl Issue {
    /// What the interface `Lockable` asks for.
    pub(super) async fn is_locked(&self, _: &Context<'_>) -> Result<bool> {
        Ok(self.0.issue.locked)
    }

    /// What the interface `Node` asks for.
    pub(super) async fn id(&self, _: &Context<'_>) -> Result<ID> {
        Ok(self.0.node_id())
    }
}

#[Object]
impl IssueAlone {
    async fn state(&self) -> IssueState {
        self.state
    }

    async fn state_reason(&self) -> Option<IssueStateReason> {
        self.reason
    }

    async fn is_pinned(&self) -> Option<bool> {
        Some(self.thread.issue.pinned)
    }

    async fn timeline_items(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        item_types: Option<Vec<IssueTimelineItemsItemType>>,
    ) -> Result<Connection<IssueTimelineItems>> {
        let items = timeline::of_issue(&self.thread, item_types.as_deref());
        Window { first, last, before, after }.on("timelineItems", items)
    }

    /// The pull requests whose texts say that they close it.
    async fn closed_by_pull_requests_references(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        include_closed_prs: Option<bool>,
    ) -> Result<Option<Connection<PullRequest>>> {
        let Thread { asked, repo, issue } = &self.thread;
        let closes = |other: &&state::Issue| state::closed_by_words(&other.body).contains(&issue.number);
        let counts = |other: &&state::Issue| {
            include_closed_prs == Some(true) || other.state == state::IssueState::Open
        };
        let pulls = repo.issues.iter().filter(closes).filter(counts).filter_map(|other| {
            let (asked, repo) = (Arc::clone(asked), Arc::clone(repo));
            pull_request::from_thread(Thread { asked, repo, issue: Arc::new(other.clone()) })
        });
        Window { first, last, before, after }.on("closedByPullRequestsReferences", pulls.collect()).map(Some)
    }

    async fn issue_type(&self) -> Option<IssueType> {
        None
    }

    async fn parent(&self) -> Option<Issue> {
        None
    }

    async fn sub_issues_summary(&self) -> SubIssuesSummary {
        SubIssuesSummary { total: 0, completed: 0, percent_completed: 0 }
    }

    async fn sub_issues(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<Issue>> {
        Window { first, last, before, after }.on("subIssues", Vec::new())
    }

    async fn blocked_by(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<Issue>> {
        Window { first, last, before, after }.on("blockedBy", Vec::new())
    }

    async fn blocking(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<Issue>> {
        Window { first, last, before, after }.on("blocking", Vec::new())
    }
}

impl From<state::IssueState> for IssueState {
    fn from(state: state::IssueState) -> Self {
        match state {
            state::IssueState::Open => Self::Open,
            state::IssueState::Closed | state::IssueState::Merged => Self::Closed,
        }
    }
}
