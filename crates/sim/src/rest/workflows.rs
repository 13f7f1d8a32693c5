//! Workflows: the files that say what runs.

use axum::{Json, response::Response};
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
    state::{Repo, Workflow},
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

/// Finds a workflow by its id or by the name of its file.
pub(super) fn named<'a>(repo: &'a Repo, name: &str) -> Result<&'a Workflow, Problem> {
    let meant = |workflow: &&Workflow| {
        workflow.id.to_string() == name || workflow.path.rsplit('/').next() == Some(name)
    };
    repo.workflows.iter().find(meant).ok_or_else(Problem::not_found)
}

impl Shape<'_> {
    fn workflow(&self, repo: &Repo, workflow: &Workflow) -> Value {
        let Workflow { id, name, path, created_at } = workflow;
        let page = format!("{}/{}", self.address, repo.full_name());
        json!({
            "id": id,
            "node_id": format!("W_{id}"),
            "name": name,
            "path": path,
            "state": "active",
            "created_at": timestamp(*created_at),
            "updated_at": timestamp(*created_at),
            "url": format!("{}/actions/workflows/{id}", self.repo_url(repo)),
            "html_url": format!("{page}/blob/{}/{path}", repo.default_branch),
            "badge_url": format!("{page}/workflows/{}/badge.svg", name.replace(' ', "%20")),
        })
    }
}
