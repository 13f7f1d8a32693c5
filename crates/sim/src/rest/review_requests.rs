//! Who is asked for a review.

use axum::{Json, body::Bytes, http::StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        address::Path,
        parsed,
        pulls::found,
        visit::{Numbered, Visit},
    },
    state::{Pull, Role},
};

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    reviewers: Vec<String>,
}

/// `GET /repos/{owner}/{repo}/pulls/{number}/requested_reviewers`
pub(super) async fn list(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| {
        let (_, pull) = found(repo, number)?;
        let users: Vec<_> = pull.requested_reviewers.iter().map(|login| shape.user(login)).collect();
        Ok(Json(json!({ "users": users, "teams": [] })))
    })
}

/// `POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers`
pub(super) async fn add(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let Asked { reviewers } = parsed(&body)?;
    visit.show(|_, repo| {
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
    let shape = change(&visit, number, |pull| {
        pull.requested_reviewers.retain(|login| !reviewers.contains(login));
        pull.requested_reviewers.extend(reviewers);
    })?;
    Ok((StatusCode::CREATED, shape))
}

/// `DELETE /repos/{owner}/{repo}/pulls/{number}/requested_reviewers`
pub(super) async fn remove(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let Asked { reviewers } = parsed(&body)?;
    change(&visit, number, |pull| {
        pull.requested_reviewers.retain(|login| !reviewers.contains(login));
    })
}

fn change(visit: &Visit, number: u64, change: impl FnOnce(&mut Pull)) -> Result<Json<Value>, Problem> {
    visit.change(|state| {
        if !visit.caller.has(Role::Write, visit.repo(state)?) {
            return Err(Problem::forbidden("Must have push access to request reviews."));
        }
        let pull = state.issue_mut(&visit.full_name, number).and_then(|issue| issue.pull.as_mut());
        change(pull.ok_or_else(Problem::not_found)?);
        let (shape, repo) = visit.view(state)?;
        let (issue, pull) = found(repo, number)?;
        Ok(Json(shape.pull(repo, issue, pull)))
    })
}
