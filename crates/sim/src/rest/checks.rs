//! Check runs: what a program says about a commit.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    rest::{Shape, git_data, parsed, seen, timestamp},
    state::{CheckRun, Conclusion, Node, Repo, Role, node_id},
};

#[derive(Deserialize)]
struct Draft {
    name: Option<String>,
    head_sha: Option<String>,
    conclusion: Option<String>,
    output: Option<Output>,
}

#[derive(Deserialize)]
struct Output {
    title: Option<String>,
    summary: Option<String>,
}

/// `POST /repos/{owner}/{repo}/check-runs`
pub(super) async fn create(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo)): Path<(String, String)>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let draft: Draft = parsed(&body)?;
    let (bare, full_name) = git_data::opened(&hub, &caller, &owner, &repo).await?;
    let head = draft.head_sha.clone().ok_or_else(|| Problem::not_supplied("head_sha"))?;
    let name = draft.name.clone().ok_or_else(|| Problem::not_supplied("name"))?;
    let unknown = || Problem::unprocessable(&format!("No commit found for SHA: {head}"));
    let head_oid = bare.commit(&head).await.map_err(|_| unknown())?.oid;
    hub.change(|state| {
        checked_by(seen(state.repo(&full_name), &caller)?, &caller)?;
        let (id, started_at) = (state.next_id(), state.clock.now());
        let mut run =
            CheckRun { id, name, head_oid, started_at, completed: None, title: None, summary: None };
        draft.apply(&mut run, state.clock.now())?;
        let repo = state.repo_mut(&full_name).ok_or_else(Problem::not_found)?;
        repo.check_runs.push(run.clone());
        let repo = seen(state.repo(&full_name), &caller)?;
        Ok((StatusCode::CREATED, Json(Shape { state, address: &hub.address }.check_run(repo, &run))))
    })
}

/// `GET /repos/{owner}/{repo}/check-runs/{id}`
pub(super) async fn show(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): Path<(String, String, u64)>,
) -> Result<Json<Value>, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        let run = repo.check_runs.iter().find(|run| run.id == id).ok_or_else(Problem::not_found)?;
        Ok(Json(Shape { state, address: &hub.address }.check_run(repo, run)))
    })
}

/// `PATCH /repos/{owner}/{repo}/check-runs/{id}`
pub(super) async fn update(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): Path<(String, String, u64)>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let draft: Draft = parsed(&body)?;
    let full_name = format!("{owner}/{repo}");
    hub.change(|state| {
        checked_by(seen(state.repo(&full_name), &caller)?, &caller)?;
        let now = state.clock.now();
        let repo = state.repo_mut(&full_name).ok_or_else(Problem::not_found)?;
        let run = repo.check_runs.iter_mut().find(|run| run.id == id).ok_or_else(Problem::not_found)?;
        draft.apply(run, now)?;
        let run = run.clone();
        let repo = seen(state.repo(&full_name), &caller)?;
        Ok(Json(Shape { state, address: &hub.address }.check_run(repo, &run)))
    })
}

/// `GET /repos/{owner}/{repo}/commits/{name}/check-runs`
pub(super) async fn of_commit(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, name)): Path<(String, String, String)>,
) -> Result<Json<Value>, Problem> {
    let (bare, full_name) = git_data::opened(&hub, &caller, &owner, &repo).await?;
    let unknown = || Problem::unprocessable(&format!("No commit found for SHA: {name}"));
    let oid = bare.commit(&name).await.map_err(|_| unknown())?.oid;
    git_data::shaped(&hub, &caller, &full_name, |shape, repo| {
        let runs = repo.check_runs.iter().filter(|run| run.head_oid == oid);
        let runs: Vec<_> = runs.map(|run| shape.check_run(repo, run)).collect();
        Json(json!({ "total_count": runs.len(), "check_runs": runs }))
    })
}

/// Only apps check, and only where they may write.
fn checked_by(repo: &Repo, caller: &Caller) -> Result<(), Problem> {
    let login = caller.login()?;
    if !login.ends_with("[bot]") {
        return Err(Problem::forbidden("You must authenticate via a GitHub App."));
    }
    if caller.has(Role::Write, repo) { Ok(()) } else { Err(Problem::not_accessible()) }
}

impl Draft {
    fn apply(self, run: &mut CheckRun, now: jiff::Timestamp) -> Result<(), Problem> {
        if let Some(word) = self.conclusion {
            let invalid = || {
                Problem::invalid(json!({ "resource": "CheckRun", "code": "invalid", "field": "conclusion" }))
            };
            run.completed = Some((Conclusion::from_word(&word).ok_or_else(invalid)?, now));
        }
        if let Some(name) = self.name {
            run.name = name;
        }
        if let Some(output) = self.output {
            run.title = output.title;
            run.summary = output.summary;
        }
        Ok(())
    }
}

impl Shape<'_> {
    fn check_run(&self, repo: &Repo, run: &CheckRun) -> Value {
        let url = format!("{}/check-runs/{}", self.repo_url(repo), run.id);
        let page = format!("{}/{}/runs/{}", self.address, repo.full_name(), run.id);
        json!({
            "id": run.id,
            "node_id": node_id(Node::CheckRun { repo: repo.id, id: run.id }),
            "name": run.name,
            "head_sha": run.head_oid,
            "external_id": "",
            "url": url,
            "html_url": page,
            "details_url": page,
            "status": if run.completed.is_some() { "completed" } else { "in_progress" },
            "conclusion": run.completed.map(|(conclusion, _)| conclusion.word()),
            "started_at": timestamp(run.started_at),
            "completed_at": run.completed.map(|(_, time)| timestamp(time)),
            "output": {
                "title": run.title,
                "summary": run.summary,
                "text": null,
                "annotations_count": 0,
                "annotations_url": format!("{url}/annotations"),
            },
            "check_suite": { "id": run.id },
            "app": null,
            "pull_requests": [],
        })
    }
}
