//! Runs of workflows: finding them, and cancelling one.

use std::collections::BTreeMap;

use axum::{Json, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    git::CommitObject,
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        paging::Paging,
        timestamp,
        visit::{Named, Visit},
        workflows,
    },
    span::Span,
    state::{Conclusion, IssueState, Node, Repo, Role, WorkflowRun, node_id},
};

/// `{run}` in an address.
#[derive(Deserialize)]
pub(super) struct OneRun {
    pub(super) run: u64,
}

/// Which runs are asked for.
#[derive(Deserialize)]
pub(super) struct RunFilter {
    actor: Option<String>,
    branch: Option<String>,
    event: Option<String>,
    /// How far it has come, or how it ended.
    status: Option<String>,
    head_sha: Option<String>,
    check_suite_id: Option<u64>,
    /// A span of time, such as `>=2026-05-04` or `2026-05-04..2026-05-06`.
    created: Option<Span>,
    #[serde(default)]
    exclude_pull_requests: bool,
}

/// `GET /repos/{owner}/{repo}/actions/runs`
pub(super) async fn list(
    visit: Visit,
    Query(filter): Query<RunFilter>,
    paging: Paging,
) -> Result<Response, Problem> {
    let commits = commits(&visit).await?;
    visit.show(|shape, repo| {
        let newest_first = repo.workflow_runs.iter().rev().filter(|run| filter.takes(run));
        let runs = newest_first.map(|run| filter.draw(shape, repo, run, &commits)).collect();
        Ok(paging.counted_with("workflow_runs", runs, json!({})))
    })
}

/// `GET /repos/{owner}/{repo}/actions/workflows/{id or file}/runs`
pub(super) async fn of_workflow(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    Query(filter): Query<RunFilter>,
    paging: Paging,
) -> Result<Response, Problem> {
    let commits = commits(&visit).await?;
    visit.show(|shape, repo| {
        let workflow = workflows::named(repo, &name)?.id;
        let own = repo.workflow_runs.iter().rev().filter(|run| run.workflow == workflow);
        let runs = own.filter(|run| filter.takes(run)).map(|run| filter.draw(shape, repo, run, &commits));
        Ok(paging.counted_with("workflow_runs", runs.collect(), json!({})))
    })
}

/// `GET /repos/{owner}/{repo}/actions/runs/{run}`
pub(super) async fn show(
    visit: Visit,
    Path(OneRun { run: id }): Path<OneRun>,
    Query(filter): Query<RunFilter>,
) -> Result<Json<Value>, Problem> {
    let commits = commits(&visit).await?;
    visit.show(|shape, repo| Ok(Json(filter.draw(shape, repo, found(repo, id)?, &commits))))
}

/// `GET /repos/{owner}/{repo}/actions/runs/{run}/artifacts`: nothing here leaves any.
pub(super) async fn artifacts(
    visit: Visit,
    Path(OneRun { run: id }): Path<OneRun>,
) -> Result<Json<Value>, Problem> {
    visit.show(|_, repo| {
        found(repo, id)?;
        Ok(Json(json!({ "total_count": 0, "artifacts": [] })))
    })
}

/// `POST /repos/{owner}/{repo}/actions/runs/{run}/cancel`, and `…/force-cancel`
pub(super) async fn cancel(
    visit: Visit,
    Path(OneRun { run: id }): Path<OneRun>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    visit.login()?;
    visit.change(|state| {
        let now = state.clock.now();
        let (_, repo) = visit.view(state)?;
        if !visit.caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Must have admin rights to Repository."));
        }
        let run = visit.repo_mut(state)?.workflow_run_mut(id).ok_or_else(Problem::not_found)?;
        if run.progress().end().is_some() {
            return Err(Problem::conflict("Cannot cancel a workflow run that is completed."));
        }
        run.end(Conclusion::Cancelled, now);
        Ok((StatusCode::ACCEPTED, Json(json!({}))))
    })
}

/// Finds a run.
pub(super) fn found(repo: &Repo, id: u64) -> Result<&WorkflowRun, Problem> {
    repo.workflow_run(id).ok_or_else(Problem::not_found)
}

/// The commits that any run is about, by their hashes.
async fn commits(visit: &Visit) -> Result<BTreeMap<String, CommitObject>, Problem> {
    let about: Vec<_> =
        visit.show(|_, repo| Ok(repo.workflow_runs.iter().map(|run| run.head_oid.clone()).collect()))?;
    let (bare, mut commits) = (visit.open().await?, BTreeMap::new());
    for oid in about {
        if let Ok(commit) = bare.commit(&oid).await {
            commits.insert(oid, commit);
        }
    }
    Ok(commits)
}

impl RunFilter {
    fn draw(
        &self,
        shape: Shape<'_>,
        repo: &Repo,
        run: &WorkflowRun,
        commits: &BTreeMap<String, CommitObject>,
    ) -> Value {
        let mut shape = shape.workflow_run(repo, run, commits);
        if self.exclude_pull_requests {
            shape["pull_requests"] = json!([]);
        }
        shape
    }

    fn takes(&self, run: &WorkflowRun) -> bool {
        let said = |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|wanted| wanted == own);
        let progress = run.progress();
        let status = self
            .status
            .as_deref()
            .is_none_or(|word| [Some(progress.word()), progress.conclusion()].contains(&Some(word)));
        status
            && said(&self.actor, &run.actor)
            && said(&self.branch, &run.head_branch)
            && said(&self.event, &run.event)
            && said(&self.head_sha, &run.head_oid)
            && self.check_suite_id.is_none_or(|suite| suite == run.suite)
            && self.created.as_ref().is_none_or(|span| span.has(run.created_at))
    }
}

impl Shape<'_> {
    fn workflow_run(
        &self,
        repo: &Repo,
        run: &WorkflowRun,
        commits: &BTreeMap<String, CommitObject>,
    ) -> Value {
        let WorkflowRun { id, workflow, suite, .. } = run;
        let (repo_url, progress) = (self.repo_url(repo), run.progress());
        let url = format!("{repo_url}/actions/runs/{id}");
        let known = repo.workflows.iter().find(|known| known.id == *workflow);
        let person = self.user(&run.actor);
        json!({
            "id": id,
            "name": known.map(|known| &known.name),
            "node_id": format!("WFR_{id}"),
            "check_suite_id": suite,
            "check_suite_node_id": node_id(Node::CheckSuite { repo: repo.id, id: *suite }),
            "head_branch": run.head_branch,
            "head_sha": run.head_oid,
            "path": known.map(|known| &known.path),
            "display_title": run.title,
            "run_number": run.number,
            "run_attempt": run.attempt,
            "event": run.event,
            "status": progress.word(),
            "conclusion": progress.conclusion(),
            "workflow_id": workflow,
            "url": url,
            "html_url": format!("{}/{}/actions/runs/{id}", self.address, repo.full_name()),
            "pull_requests": self.pulls_at(repo, &run.head_oid),
            "created_at": timestamp(run.created_at),
            "updated_at": timestamp(run.updated_at()),
            "run_started_at": timestamp(run.created_at),
            "actor": person,
            "triggering_actor": person,
            "referenced_workflows": [],
            "jobs_url": format!("{url}/jobs"),
            "logs_url": format!("{url}/logs"),
            "check_suite_url": format!("{repo_url}/check-suites/{suite}"),
            "artifacts_url": format!("{url}/artifacts"),
            "cancel_url": format!("{url}/cancel"),
            "rerun_url": format!("{url}/rerun"),
            "previous_attempt_url": null,
            "workflow_url": format!("{repo_url}/actions/workflows/{workflow}"),
            "head_commit": commits.get(&run.head_oid).map(short),
            "repository": self.repo(repo),
            "head_repository": self.repo(repo),
        })
    }

    /// The open pull requests of this repository that a commit is the head of, in few words.
    pub(super) fn pulls_at(&self, repo: &Repo, oid: &str) -> Vec<Value> {
        let open = repo.issues.iter().filter(|issue| issue.state == IssueState::Open);
        let own = |name: &str| json!({ "id": repo.id, "url": self.repo_url(repo), "name": name });
        open.filter_map(|issue| {
            let pull = issue.pull.as_ref().filter(|pull| pull.head_oid == oid)?;
            // Those of forks are not told.
            pull.head_repo.as_ref().filter(|name| **name == repo.full_name())?;
            Some(json!({
                "id": issue.id,
                "number": issue.number,
                "url": format!("{}/pulls/{}", self.repo_url(repo), issue.number),
                "head": { "ref": pull.head_ref, "sha": pull.head_oid, "repo": own(&repo.name) },
                "base": { "ref": pull.base_ref, "sha": pull.base_oid, "repo": own(&repo.name) },
            }))
        })
        .collect()
    }
}

/// A commit in few words.
pub(super) fn short(commit: &CommitObject) -> Value {
    json!({
        "id": commit.oid,
        "tree_id": commit.tree,
        "message": commit.message,
        "timestamp": commit.committer.date,
        "author": { "name": commit.author.name, "email": commit.author.email },
        "committer": { "name": commit.committer.name, "email": commit.committer.email },
    })
}
