//! Workflows: the files that say what runs.

use axum::{Json, http::StatusCode, response::Response};
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::Path,
        paging::Paging,
        timestamp,
        visit::{Named, Visit},
    },
    state::{Repo, Role, Workflow},
};

/// `GET /repos/{owner}/{repo}/actions/workflows`
pub(super) async fn list(visit: Visit, paging: Paging) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let workflows = repo.workflows.iter().map(|workflow| shape.workflow(repo, workflow)).collect();
        Ok(paging.counted_with("workflows", workflows, json!({})))
    })
}

/// `GET /repos/{owner}/{repo}/actions/workflows/{id or file}`
pub(super) async fn show(visit: Visit, Path(Named { name }): Path<Named>) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| Ok(Json(shape.workflow(repo, named(repo, &name)?))))
}

/// `PUT /repos/{owner}/{repo}/actions/workflows/{id or file}/disable`
pub(super) async fn disable(visit: Visit, Path(Named { name }): Path<Named>) -> Result<StatusCode, Problem> {
    switched(&visit, &name, true)
}

/// `PUT /repos/{owner}/{repo}/actions/workflows/{id or file}/enable`
pub(super) async fn enable(visit: Visit, Path(Named { name }): Path<Named>) -> Result<StatusCode, Problem> {
    switched(&visit, &name, false)
}

fn switched(visit: &Visit, name: &str, disabled: bool) -> Result<StatusCode, Problem> {
    visit.login()?;
    visit.change(|state| {
        let repo = visit.repo(state)?;
        if !visit.caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Must have write access to repository."));
        }
        let id = named(repo, name)?.id;
        let mut workflows = visit.repo_mut(state)?.workflows.iter_mut();
        let workflow = workflows.find(|workflow| workflow.id == id).ok_or_else(Problem::not_found)?;
        workflow.disabled = disabled;
        Ok(StatusCode::NO_CONTENT)
    })
}

/// Finds a workflow by its id or by the name of its file.
pub(super) fn named<'a>(repo: &'a Repo, name: &str) -> Result<&'a Workflow, Problem> {
    let meant = |workflow: &&Workflow| {
        workflow.id.to_string() == name || workflow.path.rsplit('/').next() == Some(name)
    };
    repo.workflows.iter().find(meant).ok_or_else(Problem::not_found)
}

impl Shape<'_> {
    fn workflow(&self, repo: &Repo, workflow: &Workflow) -> Value {
        let Workflow { id, name, path, created_at, disabled } = workflow;
        let page = format!("{}/{}", self.address, repo.full_name());
        json!({
            "id": id,
            "node_id": format!("W_{id}"),
            "name": name,
            "path": path,
            "state": if *disabled { "disabled_manually" } else { "active" },
            "created_at": timestamp(*created_at),
            "updated_at": timestamp(*created_at),
            "url": format!("{}/actions/workflows/{id}", self.repo_url(repo)),
            "html_url": format!("{page}/blob/{}/{path}", repo.default_branch),
            "badge_url": format!("{page}/workflows/{}/badge.svg", name.replace(' ', "%20")),
        })
    }
}
