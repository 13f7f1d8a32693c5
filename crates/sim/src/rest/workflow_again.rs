//! Workflows that are set off by hand, runs that are asked for again, and runs that are deleted.

use axum::{Json, body::Bytes, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        address::{Path, Query},
        paging::Paging,
        parsed,
        visit::{Named, Visit},
        workflow_jobs, workflow_runs,
        workflow_runs::{OneRun, RunFilter},
        workflows,
    },
    state::{Role, RunStart, WorkflowRun},
};

/// `{attempt}` in an address.
#[derive(Deserialize)]
pub(super) struct OneAttempt {
    attempt: u64,
}

#[derive(Deserialize)]
struct Dispatch {
    #[serde(rename = "ref")]
    name: String,
}

/// `POST /repos/{owner}/{repo}/actions/workflows/{id or file}/dispatches`: a run that waits for a runner, which never comes.
pub(super) async fn dispatch(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let bare = visit.open_to_write().await?;
    let Dispatch { name: branch } = parsed(&body)?;
    let branch = branch.trim_start_matches("refs/heads/");
    let missing = |_| Problem::unprocessable(&format!("No ref found for: {branch}"));
    let oid = bare.tip(branch).await.map_err(missing)?;
    let actor = visit.login()?.to_owned();
    visit.change(|state| {
        let (id, now) = (state.next_id(), state.clock.now());
        let repo = visit.repo_mut(state)?;
        let workflow = workflows::named(repo, &name)?.clone();
        let start = RunStart {
            id,
            path: &workflow.path,
            workflow: &workflow.name,
            title: &workflow.name,
            event: "workflow_dispatch",
            branch,
            oid: &oid,
            actor: &actor,
        };
        repo.begin_run(&start, now);
        Ok(StatusCode::NO_CONTENT)
    })
}

/// `POST /repos/{owner}/{repo}/actions/runs/{run}/rerun`
pub(super) async fn rerun(
    visit: Visit,
    Path(OneRun { run: id }): Path<OneRun>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    again(&visit, id, WorkflowRun::again)
}

/// `POST /repos/{owner}/{repo}/actions/runs/{run}/rerun-failed-jobs`
pub(super) async fn rerun_failed(
    visit: Visit,
    Path(OneRun { run: id }): Path<OneRun>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    again(&visit, id, WorkflowRun::failed_again)
}

/// `DELETE /repos/{owner}/{repo}/actions/runs/{run}`
pub(super) async fn delete(
    visit: Visit,
    Path(OneRun { run: id }): Path<OneRun>,
) -> Result<StatusCode, Problem> {
    writer(&visit)?;
    visit.change(|state| {
        let runs = &mut visit.repo_mut(state)?.workflow_runs;
        let place = runs.iter().position(|run| run.id == id).ok_or_else(Problem::not_found)?;
        if runs[place].progress().end().is_none() {
            return Err(Problem::forbidden("Could not delete the workflow run"));
        }
        runs.remove(place);
        Ok(StatusCode::NO_CONTENT)
    })
}

/// `GET /repos/{owner}/{repo}/actions/runs/{run}/attempts/{attempt}`: only the last one is kept.
pub(super) async fn attempt(
    visit: Visit,
    run: Path<OneRun>,
    Path(OneAttempt { attempt }): Path<OneAttempt>,
    filter: Query<RunFilter>,
) -> Result<Json<Value>, Problem> {
    last(&visit, run.0.run, attempt)?;
    workflow_runs::show(visit, run, filter).await
}

/// `GET /repos/{owner}/{repo}/actions/runs/{run}/attempts/{attempt}/jobs`
pub(super) async fn jobs(
    visit: Visit,
    run: Path<OneRun>,
    Path(OneAttempt { attempt }): Path<OneAttempt>,
    paging: Paging,
) -> Result<Response, Problem> {
    last(&visit, run.0.run, attempt)?;
    workflow_jobs::listed(&visit, run.0.run, &paging)
}

/// `GET /repos/{owner}/{repo}/actions/runs/{run}/attempts/{attempt}/logs`
pub(super) async fn logs(
    visit: Visit,
    run: Path<OneRun>,
    Path(OneAttempt { attempt }): Path<OneAttempt>,
) -> Result<Response, Problem> {
    last(&visit, run.0.run, attempt)?;
    workflow_jobs::logs(visit, run).await
}

fn again(
    visit: &Visit,
    id: u64,
    begin: impl FnOnce(&mut WorkflowRun, jiff::Timestamp),
) -> Result<(StatusCode, Json<Value>), Problem> {
    writer(visit)?;
    visit.change(|state| {
        let now = state.clock.now();
        let run = visit.repo_mut(state)?.workflow_run_mut(id).ok_or_else(Problem::not_found)?;
        if run.progress().end().is_none() {
            return Err(Problem::forbidden("This workflow is already running"));
        }
        begin(run, now);
        Ok((StatusCode::CREATED, Json(json!({}))))
    })
}

fn writer(visit: &Visit) -> Result<(), Problem> {
    visit.login()?;
    visit.show(|_, repo| {
        let may = visit.caller.has(Role::Write, repo);
        if may { Ok(()) } else { Err(Problem::forbidden("Must have admin rights to Repository.")) }
    })
}

fn last(visit: &Visit, id: u64, attempt: u64) -> Result<(), Problem> {
    visit.show(|_, repo| {
        let run = workflow_runs::found(repo, id)?;
        if run.attempt == attempt { Ok(()) } else { Err(Problem::not_found()) }
    })
}
