//! Issues and the issues that pull requests also are: reading, opening and listing them.

use axum::{Json, body::Bytes, http::StatusCode, response::Response};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        issue_edits::{self, Edit},
        paging::Paging,
        parsed,
        visit::{Numbered, Visit},
    },
    state::{Issue, Repo, Role},
};

/// An issue to be opened.
#[derive(Deserialize)]
struct Draft {
    title: Option<String>,
    body: Option<String>,
    #[serde(default)]
    labels: Vec<issue_edits::Name>,
    #[serde(default)]
    assignees: Vec<String>,
    /// As it used to be asked, when there was one at most.
    assignee: Option<String>,
    milestone: Option<Value>,
}

/// Which issues are asked for, and in which order.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Filter {
    state: Option<String>,
    creator: Option<String>,
    /// A login, `none` or `*` for anybody.
    assignee: Option<String>,
    /// Who is named with an `@`.
    mentioned: Option<String>,
    /// A number, `none` or `*` for any; there are none here.
    milestone: Option<String>,
    /// Names with commas between them.
    labels: Option<String>,
    /// Only what has happened since.
    since: Option<Timestamp>,
    sort: Option<String>,
    direction: Option<String>,
}

/// `GET /repos/{owner}/{repo}/issues`
pub(super) async fn list(
    visit: Visit,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let told = |issue: &&Issue| filter.takes(issue) && (!repo.without_issues || issue.pull.is_some());
        let mut issues: Vec<_> = repo.issues.iter().filter(told).collect();
        filter.arrange(&mut issues);
        Ok(paging.answer(issues.into_iter().map(|issue| shape.issue(repo, issue)).collect()))
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
    issue_edits::acceptable(&title, &text)?;
    issue_edits::known(draft.milestone.as_ref())?;
    let assignees: Vec<_> = draft.assignees.into_iter().chain(draft.assignee).collect();
    visit.change(|state| {
        let may = visit.caller.has(Role::Triage, visit.repo(state)?);
        if may {
            issue_edits::assignable(visit.repo(state)?, &assignees)?;
        }
        let number =
            state.open_issue(&visit.full_name, login, &title, &text).ok_or_else(Problem::not_found)?;
        // Labels and assignees of somebody who may not set them are left out, without a word.
        if may {
            issue_edits::label(state, &visit.full_name, number, issue_edits::names(draft.labels));
            if let Some(issue) = state.issue_mut(&visit.full_name, number) {
                issue.assignees = assignees;
            }
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

pub(super) fn shown(shape: Shape<'_>, repo: &Repo, number: u64) -> Result<Json<Value>, Problem> {
    let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
    Ok(Json(shape.issue(repo, issue)))
}

impl Filter {
    fn takes(&self, issue: &Issue) -> bool {
        let state = self.state.as_deref().unwrap_or("open");
        let labels = self.labels.as_deref().unwrap_or_default().split(',').filter(|name| !name.is_empty());
        (state == "all" || state == issue.state.word())
            && self.creator.as_ref().is_none_or(|creator| creator.eq_ignore_ascii_case(&issue.author))
            && self.since.is_none_or(|since| issue.updated_at >= since)
            && self.mentioned.as_ref().is_none_or(|login| issue.mentions(login))
            && self.milestone.as_ref().is_none_or(|wanted| wanted == "none")
            && self.assignee.as_deref().is_none_or(|wanted| match wanted {
                "none" => issue.assignees.is_empty(),
                "*" => !issue.assignees.is_empty(),
                login => issue.assignees.iter().any(|own| own.eq_ignore_ascii_case(login)),
            })
            && labels.into_iter().all(|name| issue.labels.iter().any(|own| own.eq_ignore_ascii_case(name)))
    }

    /// Newest first, unless something else is said.
    fn arrange(&self, issues: &mut [&Issue]) {
        match self.sort.as_deref() {
            Some("updated") => issues.sort_by_key(|issue| (issue.updated_at, issue.number)),
            Some("comments") => issues.sort_by_key(|issue| (issue.comments.len(), issue.number)),
            _ => issues.sort_by_key(|issue| (issue.created_at, issue.number)),
        }
        if self.direction.as_deref() != Some("asc") {
            issues.reverse();
        }
    }
}
