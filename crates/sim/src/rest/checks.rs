//! Check runs: what a program says about a commit.

use axum::{Json, body::Bytes, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        check_drafts::Draft,
        paging::Paging,
        parsed, timestamp,
        visit::{Named, Visit},
    },
    state::{Annotation, CheckRun, Node, Progress, Repo, Role, State, node_id},
};

/// `{run}` in an address.
#[derive(Deserialize)]
pub(super) struct One {
    run: u64,
}

/// Which check runs are asked for.
#[derive(Deserialize)]
pub(super) struct CheckFilter {
    check_name: Option<String>,
    status: Option<String>,
    app_id: Option<u64>,
    /// `latest`, or `all`.
    #[serde(rename = "filter")]
    which: Option<String>,
}

/// `POST /repos/{owner}/{repo}/check-runs`
pub(super) async fn create(visit: Visit, body: Bytes) -> Result<(StatusCode, Json<Value>), Problem> {
    let draft: Draft = parsed(&body)?;
    let (name, head) = draft.complete()?;
    let bare = visit.open().await?;
    let unknown = || Problem::unprocessable(&format!("No commit found for SHA: {head}"));
    let head_oid = bare.commit(&head).await.map_err(|_| unknown())?.oid;
    visit.change(|state| {
        let app = checked_by(&visit, state)?;
        let (id, now) = (state.next_id(), state.clock.now());
        let repo = visit.repo_mut(state)?;
        let same = |run: &&CheckRun| run.head_oid == head_oid && run.app == app;
        let suite = repo.check_runs.iter().find(same).map(|run| run.suite);
        let mut run = CheckRun {
            id,
            name,
            head_oid,
            app,
            suite: suite.unwrap_or(id + 1_000_000_000),
            external_id: String::new(),
            details_url: None,
            started_at: Some(now),
            progress: Progress::Queued,
            title: None,
            summary: None,
            text: None,
            annotations: Vec::new(),
        };
        draft.apply(&mut run, now)?;
        repo.check_runs.push(run.clone());
        let (shape, repo) = visit.view(state)?;
        Ok((StatusCode::CREATED, Json(shape.check_run(repo, &run))))
    })
}

/// `GET /repos/{owner}/{repo}/check-runs/{id}`
pub(super) async fn show(visit: Visit, Path(One { run: id }): Path<One>) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| Ok(Json(shape.check_run(repo, &found(shape, repo, id)?))))
}

/// `GET /repos/{owner}/{repo}/check-runs/{id}/annotations`
pub(super) async fn annotations(
    visit: Visit,
    Path(One { run: id }): Path<One>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let run = found(shape, repo, id)?;
        let drawn = run.annotations.iter().map(|annotation| shape.annotation(repo, &run, annotation));
        Ok(paging.answer(drawn.collect()))
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
        let app = checked_by(&visit, state)?;
        let now = state.clock.now();
        let repo = visit.repo_mut(state)?;
        let run = repo.check_runs.iter_mut().find(|run| run.id == id).ok_or_else(Problem::not_found)?;
        if run.app != app {
            return Err(Problem::forbidden(
                "Invalid app_id - check run can only be modified by the GitHub App that created it.",
            ));
        }
        draft.apply(run, now)?;
        let run = run.clone();
        let (shape, repo) = visit.view(state)?;
        Ok(Json(shape.check_run(repo, &run)))
    })
}

/// `POST /repos/{owner}/{repo}/check-runs/{id}/rerequest`: its app is to check once more.
pub(super) async fn rerequest(
    visit: Visit,
    Path(One { run: id }): Path<One>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    visit.change(|state| {
        checked_by(&visit, state)?;
        let mut runs = visit.repo_mut(state)?.check_runs.iter_mut();
        let run = runs.find(|run| run.id == id).ok_or_else(Problem::not_found)?;
        if run.progress.end().is_none() {
            return Err(Problem::unprocessable("This check run is not rerequestable"));
        }
        run.progress = Progress::Queued;
        Ok((StatusCode::CREATED, Json(json!({}))))
    })
}

/// `GET /repos/{owner}/{repo}/commits/{name}/check-runs`
pub(super) async fn of_commit(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    Query(filter): Query<CheckFilter>,
    paging: Paging,
) -> Result<Response, Problem> {
    let bare = visit.open().await?;
    let unknown = || Problem::unprocessable(&format!("No commit found for SHA: {name}"));
    let oid = bare.commit(&name).await.map_err(|_| unknown())?.oid;
    listed(&visit, &filter, &paging, |run| run.head_oid == oid)
}

/// Answers with those of the check runs that are meant and pass, newest first.
pub(super) fn listed(
    visit: &Visit,
    filter: &CheckFilter,
    paging: &Paging,
    meant: impl Fn(&CheckRun) -> bool,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let mut runs = repo.all_checks(shape.address);
        runs.retain(|run| meant(run));
        runs.reverse();
        if filter.which.as_deref() != Some("all") {
            let mut seen = Vec::new();
            runs.retain(|run| {
                let own = (run.app.clone(), run.name.clone());
                let new = !seen.contains(&own);
                seen.push(own);
                new
            });
        }
        runs.retain(|run| filter.takes(shape.state, run));
        let drawn = runs.iter().map(|run| shape.check_run(repo, run)).collect();
        Ok(paging.counted_with("check_runs", drawn, json!({})))
    })
}

fn found(shape: Shape<'_>, repo: &Repo, id: u64) -> Result<CheckRun, Problem> {
    repo.all_checks(shape.address).into_iter().find(|run| run.id == id).ok_or_else(Problem::not_found)
}

/// Only apps check, and only where they may write; the slug of the app.
fn checked_by(visit: &Visit, state: &State) -> Result<String, Problem> {
    let Some(slug) = visit.login()?.strip_suffix("[bot]") else {
        return Err(Problem::forbidden("You must authenticate via a GitHub App."));
    };
    let may = visit.caller.has(Role::Write, visit.repo(state)?);
    if may { Ok(slug.to_owned()) } else { Err(Problem::not_accessible()) }
}

impl CheckFilter {
    pub(super) fn takes(&self, state: &State, run: &CheckRun) -> bool {
        let app = state.apps.iter().find(|app| app.slug == run.app).map(|app| app.id);
        self.check_name.as_ref().is_none_or(|name| *name == run.name)
            && self.status.as_ref().is_none_or(|status| status == run.progress.word())
            && self.app_id.is_none_or(|id| app == Some(id))
    }
}

impl Shape<'_> {
    fn check_run(&self, repo: &Repo, run: &CheckRun) -> Value {
        let url = format!("{}/check-runs/{}", self.repo_url(repo), run.id);
        let page = format!("{}/{}/runs/{}", self.address, repo.full_name(), run.id);
        let app = self.app_of(&format!("{}[bot]", run.app));
        // Without an address of its own, that of the app.
        let details = run.details_url.clone().map_or_else(|| app["external_url"].clone(), Value::from);
        json!({
            "id": run.id,
            "node_id": node_id(Node::CheckRun { repo: repo.id, id: run.id }),
            "name": run.name,
            "head_sha": run.head_oid,
            "external_id": run.external_id,
            "url": url,
            "html_url": page,
            "details_url": details,
            "status": run.progress.word(),
            "conclusion": run.progress.conclusion(),
            "started_at": run.started_at.map(timestamp),
            "completed_at": run.progress.end().map(|(_, time)| timestamp(time)),
            "output": {
                "title": run.title,
                "summary": run.summary,
                "text": run.text,
                "annotations_count": run.annotations.len(),
                "annotations_url": format!("{url}/annotations"),
            },
            "check_suite": { "id": run.suite },
            "app": app,
            "pull_requests": self.pulls_at(repo, &run.head_oid),
        })
    }

    fn annotation(&self, repo: &Repo, run: &CheckRun, annotation: &Annotation) -> Value {
        let Annotation { path, .. } = annotation;
        let page = format!("{}/{}", self.address, repo.full_name());
        json!({
            "path": path,
            "blob_href": format!("{page}/blob/{}/{path}", run.head_oid),
            "start_line": annotation.start_line,
            "end_line": annotation.end_line,
            "start_column": annotation.start_column,
            "end_column": annotation.end_column,
            "annotation_level": annotation.level.word(),
            "title": annotation.title,
            "message": annotation.message,
            "raw_details": annotation.raw_details,
        })
    }
}
