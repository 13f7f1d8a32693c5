//! Issues and the issues that pull requests also are.

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query},
    http::StatusCode,
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        comments::{refusal, too_long},
        paging::Paging,
        parsed,
        visit::{Numbered, Visit},
    },
    state::{Issue, IssueState, Repo, Role, State},
};

/// An issue to be opened.
#[derive(Deserialize)]
struct Draft {
    title: Option<String>,
    body: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
}

/// What is to be another way with one.
#[derive(Deserialize)]
pub(super) struct Edit {
    title: Option<String>,
    body: Option<String>,
    state: Option<String>,
}

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
    visit: Visit,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let newest_first = repo.issues.iter().rev().filter(|issue| filter.takes(issue));
        let shapes = newest_first.map(|issue| shape.issue(repo, issue)).collect();
        Ok(paging.answer(shapes))
    })
}

/// `GET /repos/{owner}/{repo}/issues/{number}`
pub(super) async fn show(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| shown(shape, repo, number))
}

/// `POST /repos/{owner}/{repo}/issues`
pub(super) async fn create(visit: Visit, body: Bytes) -> Result<(StatusCode, Json<Value>), Problem> {
    let login = visit.login()?;
    let draft: Draft = parsed(&body)?;
    let title = draft.title.ok_or_else(|| Problem::not_supplied("title"))?;
    let text = draft.body.unwrap_or_default();
    acceptable(&text)?;
    visit.change(|state| {
        let may = visit.caller.has(Role::Triage, visit.repo(state)?);
        let number =
            state.open_issue(&visit.full_name, login, &title, &text).ok_or_else(Problem::not_found)?;
        // Labels of somebody who may not set them are left out, without a word.
        if let Some(issue) = state.issue_mut(&visit.full_name, number).filter(|_| may) {
            issue.labels = draft.labels;
        }
        let (shape, repo) = visit.view(state)?;
        Ok((StatusCode::CREATED, shown(shape, repo, number)?))
    })
}

/// `PATCH /repos/{owner}/{repo}/issues/{number}`
pub(super) async fn update(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let edit: Edit = parsed(&body)?;
    visit.change(|state| {
        edit.apply(&visit, state, number)?;
        let (shape, repo) = visit.view(state)?;
        shown(shape, repo, number)
    })
}

fn acceptable(text: &str) -> Result<(), Problem> {
    too_long(text).map_or(Ok(()), |complaint| Err(refusal("Issue", &complaint)))
}

fn shown(shape: Shape<'_>, repo: &Repo, number: u64) -> Result<Json<Value>, Problem> {
    let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
    Ok(Json(shape.issue(repo, issue)))
}

impl Edit {
    /// Changes an issue that is the caller's own, or that they may sort.
    pub(super) fn apply(self, visit: &Visit, state: &mut State, number: u64) -> Result<(), Problem> {
        let login = visit.login()?;
        let repo = visit.repo(state)?;
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        if !issue.author.eq_ignore_ascii_case(login) && !visit.caller.has(Role::Triage, repo) {
            return Err(Problem::forbidden("Must have admin rights to Repository."));
        }
        let wanted = match self.state.as_deref() {
            None => issue.state,
            Some("open") => IssueState::Open,
            Some("closed") => IssueState::Closed,
            Some(_) => {
                let error = json!({ "resource": "Issue", "code": "invalid", "field": "state" });
                return Err(Problem::invalid(error));
            }
        };
        acceptable(self.body.as_deref().unwrap_or_default())?;
        let now = state.clock.now();
        let issue = state.issue_mut(&visit.full_name, number).ok_or_else(Problem::not_found)?;
        issue.title = self.title.unwrap_or_else(|| issue.title.clone());
        issue.body = self.body.unwrap_or_else(|| issue.body.clone());
        issue.state = wanted;
        issue.updated_at = now;
        Ok(())
    }
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
