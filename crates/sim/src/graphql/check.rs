//! What the checks say about a commit, all together.

use async_graphql::{Enum, ID, Object, Result, SimpleObject, Union};

use crate::{
    graphql::{
        Asked,
        absent::{StatusContext, WorkflowRun},
        connection::{Connection, Window},
        scalar::{DateTime, Uri},
    },
    state::{self, Conclusion, Node, node_id},
};

pub(super) struct StatusCheckRollup {
    runs: Vec<CheckRun>,
}

/// Either kind of news about a commit; the older kind is not in the garden.
#[derive(Clone, Union)]
enum StatusCheckRollupContext {
    CheckRun(CheckRun),
    StatusContext(StatusContext),
}

#[derive(Clone, SimpleObject)]
struct CheckRun {
    id: ID,
    database_id: u64,
    name: String,
    status: CheckStatusState,
    conclusion: Option<CheckConclusionState>,
    started_at: Option<DateTime>,
    completed_at: Option<DateTime>,
    details_url: Option<Uri>,
    title: Option<String>,
    summary: Option<String>,
    check_suite: CheckSuite,
}

/// The runs of one app on one commit.
#[derive(Clone, SimpleObject)]
struct CheckSuite {
    workflow_run: Option<WorkflowRun>,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum CheckStatusState {
    InProgress,
    Completed,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum CheckConclusionState {
    ActionRequired,
    Cancelled,
    Failure,
    Neutral,
    Success,
    Skipped,
    TimedOut,
}

/// The worst of all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Enum)]
pub(super) enum StatusState {
    Success,
    Pending,
    Failure,
}

/// Puts together what is said about a commit; none if nothing is.
pub(super) fn rollup(asked: &Asked, repo: &state::Repo, oid: &str) -> Option<StatusCheckRollup> {
    let about = repo.check_runs.iter().filter(|run| run.head_oid == oid);
    let page = format!("{}/{}/runs", asked.address, repo.full_name());
    let runs: Vec<_> = about.map(|run| CheckRun::new(repo.id, &page, run)).collect();
    (!runs.is_empty()).then_some(StatusCheckRollup { runs })
}

#[Object]
impl StatusCheckRollup {
    async fn state(&self) -> StatusState {
        let worst = self.runs.iter().map(|run| match run.conclusion {
            None => StatusState::Pending,
            Some(
                CheckConclusionState::Neutral | CheckConclusionState::Success | CheckConclusionState::Skipped,
            ) => StatusState::Success,
            Some(_) => StatusState::Failure,
        });
        worst.max().unwrap_or(StatusState::Success)
    }

    async fn contexts(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<StatusCheckRollupContext>> {
        let runs = self.runs.iter().cloned().map(StatusCheckRollupContext::CheckRun).collect();
        Window { first, last, before, after }.on("contexts", runs)
    }
}

impl CheckRun {
    fn new(repo: u64, page: &str, run: &state::CheckRun) -> Self {
        let completed = run.completed;
        Self {
            id: node_id(Node::CheckRun { repo, id: run.id }).into(),
            database_id: run.id,
            name: run.name.clone(),
            status: completed.map_or(CheckStatusState::InProgress, |_| CheckStatusState::Completed),
            conclusion: completed.map(|(conclusion, _)| conclusion.into()),
            started_at: Some(DateTime(run.started_at)),
            completed_at: completed.map(|(_, time)| DateTime(time)),
            details_url: Some(Uri(format!("{page}/{}", run.id))),
            title: run.title.clone(),
            summary: run.summary.clone(),
            check_suite: CheckSuite { workflow_run: None },
        }
    }
}

impl From<Conclusion> for CheckConclusionState {
    fn from(conclusion: Conclusion) -> Self {
        match conclusion {
            Conclusion::ActionRequired => Self::ActionRequired,
            Conclusion::Cancelled => Self::Cancelled,
            Conclusion::Failure => Self::Failure,
            Conclusion::Neutral => Self::Neutral,
            Conclusion::Success => Self::Success,
            Conclusion::Skipped => Self::Skipped,
            Conclusion::TimedOut => Self::TimedOut,
        }
    }
}
