//! Comments under issues and pull requests.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State},
    http::{StatusCode, header::LOCATION},
    response::{IntoResponse as _, Response},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    rest::{Shape, paging::Paging, parsed, seen},
    state::{self, Comment, Repo, Role},
};

/// GitHub takes so many characters.
const LONGEST_BODY: usize = 65_536;

#[derive(Deserialize)]
struct Draft {
    body: Option<String>,
}

/// Which comments are asked for.
#[derive(Deserialize)]
pub(super) struct Filter {
    since: Option<Timestamp>,
}

/// `GET /repos/{owner}/{repo}/issues/{number}/comments`
pub(super) async fn list(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): Path<(String, String, u64)>,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        let shape = Shape { state, address: &hub.address };
        let taken = |comment: &&Comment| filter.since.is_none_or(|since| comment.updated_at >= since);
        let comments = issue.comments.iter().filter(taken);
        let shapes = comments.map(|comment| shape.comment(repo, issue, comment)).collect();
        Ok(paging.answer(shapes))
    })
}

/// `GET /repos/{owner}/{repo}/issues/comments/{comment}`
pub(super) async fn show(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): Path<(String, String, u64)>,
) -> Result<Json<Value>, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        shown(Shape { state, address: &hub.address }, repo, id)
    })
}

/// `POST /repos/{owner}/{repo}/issues/{number}/comments`
pub(super) async fn create(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): Path<(String, String, u64)>,
    body: Bytes,
) -> Result<Response, Problem> {
    let (login, full_name) = (caller.login()?, format!("{owner}/{repo}"));
    hub.change(|state| {
        let repo = seen(state.repo(&full_name), &caller)?;
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        if issue.locked && !caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Unable to create comment because issue is locked."));
        }
        let text = text_of(&body)?;
        let id = state.write_comment(&full_name, number, login, &text).ok_or_else(Problem::not_found)?;
        let repo = seen(state.repo(&full_name), &caller)?;
        let Json(shape) = shown(Shape { state, address: &hub.address }, repo, id)?;
        let location = shape["url"].as_str().unwrap_or_default().to_owned();
        Ok((StatusCode::CREATED, [(LOCATION, location)], Json(shape)).into_response())
    })
}

/// `PATCH /repos/{owner}/{repo}/issues/comments/{comment}`
pub(super) async fn update(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): Path<(String, String, u64)>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let full_name = format!("{owner}/{repo}");
    hub.change(|state| {
        let number = own_comment(state, &full_name, id, &caller)?;
        let (text, now) = (text_of(&body)?, state.clock.now());
        if let Some(comment) = state.issue_mut(&full_name, number).and_then(|issue| issue.comment_mut(id)) {
            comment.body = text;
            comment.updated_at = now;
        }
        let repo = seen(state.repo(&full_name), &caller)?;
        shown(Shape { state, address: &hub.address }, repo, id)
    })
}

/// `DELETE /repos/{owner}/{repo}/issues/comments/{comment}`
pub(super) async fn delete(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): Path<(String, String, u64)>,
) -> Result<StatusCode, Problem> {
    let full_name = format!("{owner}/{repo}");
    hub.change(|state| {
        let number = own_comment(state, &full_name, id, &caller)?;
        if let Some(issue) = state.issue_mut(&full_name, number) {
            issue.comments.retain(|comment| comment.id != id);
        }
        Ok(StatusCode::NO_CONTENT)
    })
}

fn shown(shape: Shape<'_>, repo: &Repo, id: u64) -> Result<Json<Value>, Problem> {
    let (issue, comment) = repo.comment(id).ok_or_else(Problem::not_found)?;
    Ok(Json(shape.comment(repo, issue, comment)))
}

/// Returns the number of the issue under which a comment stands that the caller may change.
fn own_comment(state: &state::State, full_name: &str, id: u64, caller: &Caller) -> Result<u64, Problem> {
    let login = caller.login()?;
    let repo = seen(state.repo(full_name), caller)?;
    let (issue, comment) = repo.comment(id).ok_or_else(Problem::not_found)?;
    if !comment.author.eq_ignore_ascii_case(login) && !caller.has(Role::Write, repo) {
        return Err(Problem::forbidden("Must have admin rights to Repository."));
    }
    Ok(issue.number)
}

/// Reads the text of a comment to be written.
pub(super) fn text_of(body: &Bytes) -> Result<String, Problem> {
    let draft: Draft = parsed(body)?;
    let text = draft.body.ok_or_else(|| Problem::not_supplied("body"))?;
    match blank(&text).or_else(|| too_long(&text)) {
        Some(complaint) => Err(refusal("IssueComment", &complaint)),
        None => Ok(text),
    }
}

/// What is wrong with a text without words.
pub(super) fn blank(text: &str) -> Option<String> {
    text.trim().is_empty().then(|| "Body cannot be blank".to_owned())
}

/// What is wrong with a text of too many words.
pub(super) fn too_long(text: &str) -> Option<String> {
    let long = text.chars().count() > LONGEST_BODY;
    long.then(|| format!("Body is too long (maximum is {LONGEST_BODY} characters)"))
}

pub(super) fn refusal(resource: &str, complaint: &str) -> Problem {
    let error =
        json!({ "resource": resource, "code": "unprocessable", "field": "data", "message": complaint });
    Problem::invalid(error)
}
