//! Who sees to an issue, and whether everybody may talk about it.

use axum::{Json, body::Bytes, http::StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        address::Path,
        issues::shown,
        parsed,
        visit::{Numbered, Visit},
    },
    state::{Issue, Repo, Role},
};

/// The reasons that GitHub knows for locking.
const LOCK_REASONS: [&str; 4] = ["off-topic", "too heated", "resolved", "spam"];

#[derive(Deserialize)]
struct Assigned {
    #[serde(default)]
    assignees: Vec<String>,
}

#[derive(Deserialize)]
struct Lock {
    lock_reason: Option<String>,
}

/// `POST /repos/{owner}/{repo}/issues/{number}/assignees`. Who could not see to anything here is left out.
pub(super) async fn assign(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let Assigned { assignees } = parsed(&body)?;
    let known = |repo: &Repo| assignees.into_iter().filter(|login| repo.role(login).is_some()).collect();
    let assignees: Vec<String> = visit.show(|_, repo| Ok(known(repo)))?;
    changed(&visit, number, |issue| {
        issue.assignees.retain(|login| !assignees.contains(login));
        issue.assignees.extend(assignees);
    })?;
    Ok((StatusCode::CREATED, visit.show(|shape, repo| shown(shape, repo, number))?))
}

/// `DELETE /repos/{owner}/{repo}/issues/{number}/assignees`
pub(super) async fn unassign(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let Assigned { assignees } = parsed(&body)?;
    changed(&visit, number, |issue| issue.assignees.retain(|login| !assignees.contains(login)))?;
    visit.show(|shape, repo| shown(shape, repo, number))
}

/// `PUT /repos/{owner}/{repo}/issues/{number}/lock`
pub(super) async fn lock(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    let Lock { lock_reason } = parsed(&body)?;
    if lock_reason.as_deref().is_some_and(|reason| !LOCK_REASONS.contains(&reason)) {
        let error = json!({ "resource": "Issue", "code": "invalid", "field": "lock_reason" });
        return Err(Problem::invalid(error));
    }
    changed(&visit, number, |issue| {
        issue.locked = true;
        issue.lock_reason = lock_reason;
    })?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /repos/{owner}/{repo}/issues/{number}/lock`
pub(super) async fn unlock(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
) -> Result<StatusCode, Problem> {
    changed(&visit, number, |issue| {
        issue.locked = false;
        issue.lock_reason = None;
    })?;
    Ok(StatusCode::NO_CONTENT)
}

/// Changes an issue for those who may sort.
fn changed(visit: &Visit, number: u64, change: impl FnOnce(&mut Issue)) -> Result<(), Problem> {
    visit.login()?;
    visit.change(|state| {
        if !visit.caller.has(Role::Triage, visit.repo(state)?) {
            return Err(Problem::forbidden("Must have admin rights to Repository."));
        }
        let now = state.clock.now();
        let issue = state.issue_mut(&visit.full_name, number).ok_or_else(Problem::not_found)?;
        change(issue);
        issue.updated_at = now;
        Ok(())
    })
}
