//! Check runs: what a program says about a commit.

use axum::{Json, body::Bytes, http::StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::Path,
        parsed, timestamp,
        visit::{Named, Visit},
    },
    state::{CheckRun, Conclusion, Node, Repo, Role, State, node_id},
};

/// `{run}` in an address.
#[derive(Deserialize)]
pub(super) struct One {
    run: u64,
}

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
pub(super) async fn create(visit: Visit, body: Bytes) -> Result<(StatusCode, Json<Value>), Problem> {
    let draft: Draft = parsed(&body)?;
    let bare = visit.open().await?;
    let head = draft.head_sha.clone().ok_or_else(|| Problem::not_supplied("head_sha"))?;
    let name = draft.name.clone().ok_or_else(|| Problem::not_supplied("name"))?;
    let unknown = || Problem::unprocessable(&format!("No commit found for SHA: {head}"));
    let head_oid = bare.commit(&head).await.map_err(|_| unknown())?.oid;
    visit.change(|state| {
        checked_by(&visit, state)?;
        let (id, started_at) = (state.next_id(), state.clock.now());
        let mut run =
            CheckRun { id, name, head_oid, started_at, completed: None, title: None, summary: None };
        draft.apply(&mut run, state.clock.now())?;
        let repo = visit.repo_mut(state)?;
        repo.check_runs.push(run.clone());
        let (shape, repo) = visit.view(state)?;
        Ok((StatusCode::CREATED, Json(shape.check_run(repo, &run))))
    })
}

/// `GET /repos/{owner}/{repo}/check-runs/{id}`
pub(super) async fn show(visit: Visit, Path(One { run: id }): Path<One>) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| {
        let run = repo.check_runs.iter().find(|run| run.id == id).ok_or_else(Problem::not_found)?;
        Ok(Json(shape.check_run(repo, run)))
    })
}

/// `PATCH /repos/{owner}/{repo}/check-runs/{id}`
pub(super) async fn update(
    visit: Visit,
    Path(One { run: id }): Path<One>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let draft: Draft = parsed(&body)?;
    visit.change(|state| {
        checked_by(&visit, state)?;
        let now = state.clock.now();
        let repo = visit.repo_mut(state)?;
        let run = repo.check_runs.iter_mut().find(|run| run.id == id).ok_or_else(Problem::not_found)?;
        draft.apply(run, now)?;
        let run = run.clone();
        let (shape, repo) = visit.view(state)?;
        Ok(Json(shape.check_run(repo, &run)))
    })
}

/// `GET /repos/{owner}/{repo}/commits/{name}/check-runs`
pub(super) async fn of_commit(
    visit: Visit,
    Path(Named { name }): Path<Named>,
) -> Result<Json<Value>, Problem> {
    let bare = visit.open().await?;
    let unknown = || Problem::unprocessable(&format!("No commit found for SHA: {name}"));
    let oid = bare.commit(&name).await.map_err(|_| unknown())?.oid;
    visit.show(|shape, repo| {
        let runs = repo.check_runs.iter().filter(|run| run.head_oid == oid);
        let runs: Vec<_> = runs.map(|run| shape.check_run(repo, run)).collect();
        Ok(Json(json!({ "total_count": runs.len(), "check_runs": runs })))
    })
}

/// Only apps check, and only where they may write.
fn checked_by(visit: &Visit, state: &State) -> Result<(), Problem> {
    if !visit.login()?.ends_with("[bot]") {
        return Err(Problem::forbidden("You must authenticate via a GitHub App."));
    }
    if visit.caller.has(Role::Write, visit.repo(state)?) { Ok(()) } else { Err(Problem::not_accessible()) }
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
