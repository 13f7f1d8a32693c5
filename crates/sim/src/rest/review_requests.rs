//! Who is asked for a review.

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
    rest::{Shape, parsed, pulls::found, seen},
    state::{Pull, Role},
};

type OfPull = Path<(String, String, u64)>;

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    reviewers: Vec<String>,
}

/// `GET /repos/{owner}/{repo}/pulls/{number}/requested_reviewers`
pub(super) async fn list(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): OfPull,
) -> Result<Json<Value>, Problem> {
    hub.read(|state| {
        let (_, pull) = found(seen(state.repo(&format!("{owner}/{repo}")), &caller)?, number)?;
        let shape = Shape { state, address: &hub.address };
        let users: Vec<_> = pull.requested_reviewers.iter().map(|login| shape.user(login)).collect();
        Ok(Json(json!({ "users": users, "teams": [] })))
    })
}

/// `POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers`
pub(super) async fn add(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): OfPull,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (Asked { reviewers }, full_name) = (parsed(&body)?, format!("{owner}/{repo}"));
    hub.read(|state| {
        let repo = seen(state.repo(&full_name), &caller)?;
        let (issue, _) = found(repo, number)?;
        if reviewers.contains(&issue.author) {
            return Err(Problem::unprocessable("Review cannot be requested from pull request author."));
        }
        if !reviewers.iter().all(|login| repo.role(login).is_some()) {
            let message = "Reviews may only be requested from collaborators. One or more of the users or teams you \
                           specified is not a collaborator of the repository.";
            return Err(Problem::unprocessable(message));
        }
        Ok(())
    })?;
    let shape = change(&hub, &caller, (&full_name, number), |pull| {
        pull.requested_reviewers.retain(|login| !reviewers.contains(login));
        pull.requested_reviewers.extend(reviewers);
    })?;
    Ok((StatusCode::CREATED, shape))
}

/// `DELETE /repos/{owner}/{repo}/pulls/{number}/requested_reviewers`
pub(super) async fn remove(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): OfPull,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let (Asked { reviewers }, full_name) = (parsed(&body)?, format!("{owner}/{repo}"));
    change(&hub, &caller, (&full_name, number), |pull| {
        pull.requested_reviewers.retain(|login| !reviewers.contains(login));
    })
}

fn change(
    hub: &Hub,
    caller: &Caller,
    (full_name, number): (&str, u64),
    change: impl FnOnce(&mut Pull),
) -> Result<Json<Value>, Problem> {
    hub.change(|state| {
        if !caller.has(Role::Write, seen(state.repo(full_name), caller)?) {
            return Err(Problem::forbidden("Must have push access to request reviews."));
        }
        let pull = state.issue_mut(full_name, number).and_then(|issue| issue.pull.as_mut());
        change(pull.ok_or_else(Problem::not_found)?);
        let repo = seen(state.repo(full_name), caller)?;
        let (issue, pull) = found(repo, number)?;
        Ok(Json(Shape { state, address: &hub.address }.pull(repo, issue, pull)))
    })
}
