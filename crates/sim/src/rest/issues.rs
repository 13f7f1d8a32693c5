//! Issues and the issues that pull requests also are.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State},
    response::Response,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    rest::{Shape, paging::Paging, seen},
    state::Issue,
};

/// Which issues are asked for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Filter {
    state: Option<String>,
    creator: Option<String>,
    /// Names with commas between them.
    labels: Option<String>,
}

/// `GET /repos/{owner}/{repo}/issues`
pub(super) async fn list(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo)): Path<(String, String)>,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        let shape = Shape { state, address: &hub.address };
        let newest_first = repo.issues.iter().rev().filter(|issue| filter.takes(issue));
        let shapes = newest_first.map(|issue| shape.issue(repo, issue)).collect();
        Ok(paging.answer(shapes))
    })
}

/// `GET /repos/{owner}/{repo}/issues/{number}`
pub(super) async fn show(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): Path<(String, String, u64)>,
) -> Result<Json<Value>, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        Ok(Json(Shape { state, address: &hub.address }.issue(repo, issue)))
    })
}

impl Filter {
    fn takes(&self, issue: &Issue) -> bool {
        let state = self.state.as_deref().unwrap_or("open");
        let labels = self.labels.as_deref().unwrap_or_default().split(',').filter(|name| !name.is_empty());
        (state == "all" || state == issue.state.word())
            && self.creator.as_ref().is_none_or(|creator| creator.eq_ignore_ascii_case(&issue.author))
            && labels.into_iter().all(|name| issue.labels.iter().any(|own| own.eq_ignore_ascii_case(name)))
    }
}
