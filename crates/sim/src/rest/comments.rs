//! Comments under issues and pull requests.

use axum::{
    Json,
    body::Bytes,
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
        address::{Path, Query},
        paging::Paging,
        parsed,
        visit::{Numbered, Told, Visit},
    },
    state::{Comment, Issue, Repo, State},
    words,
};

#[derive(Deserialize)]
struct Draft {
    body: Option<String>,
}

/// Which comments are asked for.
#[derive(Deserialize)]
pub(super) struct Filter {
    since: Option<Timestamp>,
}

/// Which comments of a whole repository are asked for. Without `sort` they come as they were written.
#[derive(Deserialize)]
pub(super) struct Order {
    since: Option<Timestamp>,
    sort: Option<String>,
    direction: Option<String>,
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

/// `GET /repos/{owner}/{repo}/issues/comments`
pub(super) async fn list_all(
    visit: Visit,
    Query(order): Query<Order>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let all = repo.issues.iter().flat_map(|issue| issue.comments.iter().map(move |said| (issue, said)));
        let mut all: Vec<_> = all.collect();
        order.arrange(&mut all, |(_, comment): &(&Issue, &Comment)| comment);
        Ok(paging.answer(all.into_iter().map(|(issue, said)| shape.comment(repo, issue, said)).collect()))
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

impl Order {
    /// Leaves out what is too old, and sorts the rest. `direction` counts only beside `sort`.
    pub(super) fn arrange<T>(&self, all: &mut Vec<T>, comment: impl Fn(&T) -> &Comment) {
        all.retain(|one| self.since.is_none_or(|since| comment(one).updated_at >= since));
        match self.sort.as_deref() {
            Some("updated") => all.sort_by_key(|one| (comment(one).updated_at, comment(one).id)),
            _ => all.sort_by_key(|one| comment(one).id),
        }
        if self.sort.is_some() && self.direction.as_deref() == Some("desc") {
            all.reverse();
        }
    }
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
    match words::comment(&text) {
        Some(complaint) => Err(refusal("IssueComment", &complaint)),
        None => Ok(text),
    }
}

fn refusal(resource: &str, complaint: &str) -> Problem {
    let error =
        json!({ "resource": resource, "code": "unprocessable", "field": "data", "message": complaint });
    Problem::invalid(error)
}
