//! Comments under issues and pull requests.

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query},
    http::{StatusCode, header::LOCATION},
    response::{IntoResponse as _, Response},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        paging::Paging,
        parsed,
        visit::{Numbered, Told, Visit},
    },
    state::{Comment, Repo, State},
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
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        let taken = |comment: &&Comment| filter.since.is_none_or(|since| comment.updated_at >= since);
        let comments = issue.comments.iter().filter(taken);
        let shapes = comments.map(|comment| shape.comment(repo, issue, comment)).collect();
        Ok(paging.answer(shapes))
    })
}

/// `GET /repos/{owner}/{repo}/issues/comments/{comment}`
pub(super) async fn show(
    visit: Visit,
    Path(Told { comment: id }): Path<Told>,
) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| shown(shape, repo, id))
}

/// `POST /repos/{owner}/{repo}/issues/{number}/comments`
pub(super) async fn create(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<Response, Problem> {
    let login = visit.login()?;
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        visit.may_speak(repo, issue)?;
        let text = text_of(&body)?;
        let id =
            state.write_comment(&visit.full_name, number, login, &text).ok_or_else(Problem::not_found)?;
        let (shape, repo) = visit.view(state)?;
        let Json(shape) = shown(shape, repo, id)?;
        let location = shape["url"].as_str().unwrap_or_default().to_owned();
        Ok((StatusCode::CREATED, [(LOCATION, location)], Json(shape)).into_response())
    })
}

/// `PATCH /repos/{owner}/{repo}/issues/comments/{comment}`
pub(super) async fn update(
    visit: Visit,
    Path(Told { comment: id }): Path<Told>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    visit.change(|state| {
        let number = own_comment(&visit, state, id)?;
        let (text, now) = (text_of(&body)?, state.clock.now());
        if let Some(comment) =
            state.issue_mut(&visit.full_name, number).and_then(|issue| issue.comment_mut(id))
        {
            comment.body = text;
            comment.updated_at = now;
        }
        let (shape, repo) = visit.view(state)?;
        shown(shape, repo, id)
    })
}

/// `DELETE /repos/{owner}/{repo}/issues/comments/{comment}`
pub(super) async fn delete(
    visit: Visit,
    Path(Told { comment: id }): Path<Told>,
) -> Result<StatusCode, Problem> {
    visit.change(|state| {
        let number = own_comment(&visit, state, id)?;
        if let Some(issue) = state.issue_mut(&visit.full_name, number) {
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
fn own_comment(visit: &Visit, state: &State, id: u64) -> Result<u64, Problem> {
    let repo = visit.repo(state)?;
    let (issue, comment) = repo.comment(id).ok_or_else(Problem::not_found)?;
    visit.may_edit(repo, &comment.author)?;
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
