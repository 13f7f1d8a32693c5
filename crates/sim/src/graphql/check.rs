//! What the checks say about a commit, all together.

use std::sync::Arc;

use async_graphql::{Enum, ID, Object, Result, SimpleObject, Union};

use crate::{
    graphql::{
        Asked,
        connection::{Connection, Window},
        scalar::{DateTime, Uri},
        status::{StatusContext, StatusState},
    },
    state::{self, Annotation, AnnotationLevel, Conclusion, Node, Progress, node_id},
};

pub(super) struct StatusCheckRollup {
    runs: Vec<CheckRun>,
    statuses: Vec<StatusContext>,
}

/// Either kind of news about a commit.
#[derive(Clone, Union)]
enum StatusCheckRollupContext {
    CheckRun(CheckRun),
    StatusContext(StatusContext),
}

#[derive(Clone)]
pub(super) struct CheckRun {
    repo: u64,
    run: Arc<state::CheckRun>,
    page: String,
    suite: CheckSuite,
}

/// The runs of one app on one commit.
#[derive(Clone, SimpleObject)]
pub(super) struct CheckSuite {
    pub(super) id: ID,
    database_id: u64,
    workflow_run: Option<WorkflowRun>,
}

/// The run of a workflow behind a check, if there is one.
#[derive(Clone, SimpleObject)]
struct WorkflowRun {
    database_id: u64,
    event: String,
    run_number: u64,
    url: Uri,
    workflow: Workflow,
}

#[derive(Clone, SimpleObject)]
struct Workflow {
    database_id: u64,
    name: String,
}

#[derive(SimpleObject)]
struct CheckAnnotation {
    path: String,
    message: String,
    title: Option<String>,
    raw_details: Option<String>,
    annotation_level: CheckAnnotationLevel,
    location: CheckAnnotationSpan,
}

#[derive(SimpleObject)]
struct CheckAnnotationSpan {
    start: CheckAnnotationPosition,
    end: CheckAnnotationPosition,
}

#[derive(SimpleObject)]
struct CheckAnnotationPosition {
    line: u64,
    column: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "AnnotationLevel")]
enum CheckAnnotationLevel {
    Notice,
    Warning,
    Failure,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum CheckStatusState {
    Queued,
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

/// Puts together what is said about a commit; none if nothing is.
pub(super) fn rollup(asked: &Arc<Asked>, repo: &state::Repo, oid: &str) -> Option<StatusCheckRollup> {
    let about = repo.all_checks(&asked.address).into_iter().filter(|run| run.head_oid == oid);
    let runs: Vec<_> = about.map(|run| CheckRun::new(asked, repo, &run)).collect();
    let statuses = repo.newest_statuses(oid).into_iter();
    let statuses: Vec<_> = statuses.map(|status| StatusContext::new(asked, repo, status)).collect();
    (!runs.is_empty() || !statuses.is_empty()).then_some(StatusCheckRollup { runs, statuses })
}

#[Object]
impl StatusCheckRollup {
    async fn state(&self) -> StatusState {
        let worst = self.runs.iter().map(|run| match run.ended() {
            None => StatusState::Pending,
            Some(
                CheckConclusionState::Neutral | CheckConclusionState::Success | CheckConclusionState::Skipped,
            ) => StatusState::Success,
            Some(_) => StatusState::Failure,
        });
        let said = self.statuses.iter().map(StatusContext::how);
        // A status that broke is no more than a failure of the whole.
        worst.chain(said).max().map_or(StatusState::Success, |worst| worst.min(StatusState::Failure))
    }

    async fn contexts(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<StatusCheckRollupContext>> {
        let runs = self.runs.iter().cloned().map(StatusCheckRollupContext::CheckRun);
        let said = self.statuses.iter().cloned().map(StatusCheckRollupContext::StatusContext);
        Window { first, last, before, after }.on("contexts", runs.chain(said).collect())
    }
}

#[Object]
impl CheckRun {
    pub(super) async fn id(&self) -> ID {
        node_id(Node::CheckRun { repo: self.repo, id: self.run.id }).into()
    }

    async fn database_id(&self) -> u64 {
        self.run.id
    }

    async fn name(&self) -> &str {
        &self.run.name
    }

    async fn status(&self) -> CheckStatusState {
        match self.run.progress {
            Progress::Queued => CheckStatusState::Queued,
            Progress::InProgress => CheckStatusState::InProgress,
            Progress::Completed(..) => CheckStatusState::Completed,
        }
    }

    async fn conclusion(&self) -> Option<CheckConclusionState> {
        self.ended()
    }

    async fn started_at(&self) -> Option<DateTime> {
        self.run.started_at.map(DateTime)
    }

    async fn completed_at(&self) -> Option<DateTime> {
        self.run.progress.end().map(|(_, at)| DateTime(at))
    }

    async fn details_url(&self) -> Option<Uri> {
        Some(Uri(self.page.clone()))
    }

    async fn external_id(&self) -> Option<&str> {
        Some(&self.run.external_id)
    }

    async fn title(&self) -> Option<&str> {
        self.run.title.as_deref()
    }

    async fn summary(&self) -> Option<&str> {
        self.run.summary.as_deref()
    }

    async fn text(&self) -> Option<&str> {
        self.run.text.as_deref()
    }

    async fn check_suite(&self) -> &CheckSuite {
        &self.suite
    }

    /// Nothing here has to be checked before it is merged.
    async fn is_required(&self, pull_request_id: Option<ID>, pull_request_number: Option<i32>) -> bool {
        drop((pull_request_id, pull_request_number));
        false
    }

    async fn annotations(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Option<Connection<CheckAnnotation>>> {
        let annotations = self.run.annotations.iter().map(CheckAnnotation::from).collect();
        Window { first, last, before, after }.on("annotations", annotations).map(Some)
    }
}

impl CheckRun {
    /// Draws a check run with the workflow behind it.
    pub(super) fn new(asked: &Asked, repo: &state::Repo, run: &state::CheckRun) -> Self {
        let page = format!("{}/{}", asked.address, repo.full_name());
        let behind = repo.workflow_runs.iter().find(|own| own.suite == run.suite);
        let workflow_run = behind.map(|own| {
            let known = repo.workflows.iter().find(|known| known.id == own.workflow);
            let name = known.map(|known| known.name.clone()).unwrap_or_default();
            WorkflowRun {
                database_id: own.id,
                event: own.event.clone(),
                run_number: own.number,
                url: Uri(format!("{page}/actions/runs/{}", own.id)),
                workflow: Workflow { database_id: own.workflow, name },
            }
        });
        let details =
            run.details_url.clone().unwrap_or_else(|| format!("{}/apps/{}", asked.address, run.app));
        let id = node_id(Node::CheckSuite { repo: repo.id, id: run.suite }).into();
        let suite = CheckSuite { id, database_id: run.suite, workflow_run };
        Self { repo: repo.id, run: Arc::new(run.clone()), page: details, suite }
    }

    /// The suite that it is in.
    pub(super) fn into_suite(self) -> CheckSuite {
        self.suite
    }

    fn ended(&self) -> Option<CheckConclusionState> {
        self.run.progress.end().map(|(conclusion, _)| conclusion.into())
    }
}

impl From<&Annotation> for CheckAnnotation {
    fn from(annotation: &Annotation) -> Self {
        Self {
            path: annotation.path.clone(),
            message: annotation.message.clone(),
            title: annotation.title.clone(),
            raw_details: annotation.raw_details.clone(),
            annotation_level: annotation.level.into(),
            location: CheckAnnotationSpan {
                start: CheckAnnotationPosition {
                    line: annotation.start_line,
                    column: annotation.start_column,
                },
                end: CheckAnnotationPosition { line: annotation.end_line, column: annotation.end_column },
            },
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
