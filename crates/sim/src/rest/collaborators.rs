//! Who works on a repository, and who can be asked to see to something in it.

use axum::{Json, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        paging::Paging,
        users::Somebody,
        visit::Visit,
    },
    state::{PersonKind, Repo, Role},
};

/// Which collaborators are asked for.
#[derive(Deserialize)]
pub(super) struct WhoFilter {
    /// The least permission: `pull`, `triage`, `push`, `maintain` or `admin`.
    permission: Option<String>,
}

/// `GET /repos/{owner}/{repo}/collaborators`
pub(super) async fn list(
    visit: Visit,
    Query(WhoFilter { permission }): Query<WhoFilter>,
    paging: Paging,
) -> Result<Response, Problem> {
    let least = match permission.as_deref() {
        None | Some("pull") => Role::Read,
        Some("triage") => Role::Triage,
        Some("push") => Role::Write,
        Some("maintain") => Role::Maintain,
        Some("admin") => Role::Admin,
        Some(_) => return Err(Problem::unprocessable("Validation Failed")),
    };
    visit.show(|shape, repo| {
        pushes(&visit, repo)?;
        let with = |login: &String| Some((shape.state.person(login)?, repo.role(login)?));
        let all = shape.state.people.iter().filter_map(|person| with(&person.login));
        let meant = all.filter(|(person, role)| person.kind == PersonKind::User && *role >= least);
        Ok(paging.answer(meant.map(|(person, role)| shape.with_role(person, Some(role))).collect()))
    })
}

/// `GET /repos/{owner}/{repo}/collaborators/{login}`
pub(super) async fn check(
    visit: Visit,
    Path(Somebody { login }): Path<Somebody>,
) -> Result<StatusCode, Problem> {
    visit.show(|_, repo| {
        pushes(&visit, repo)?;
        repo.role(&login).map(|_| StatusCode::NO_CONTENT).ok_or_else(Problem::not_found)
    })
}

/// `GET /repos/{owner}/{repo}/assignees`
pub(super) async fn assignees(visit: Visit, paging: Paging) -> Result<Response, Problem> {
    visit.show(|shape, repo| Ok(paging.answer(assignable(shape, repo).map(|(_, shape)| shape).collect())))
}

/// `GET /repos/{owner}/{repo}/assignees/{login}`
pub(super) async fn assignee(
    visit: Visit,
    Path(Somebody { login }): Path<Somebody>,
) -> Result<StatusCode, Problem> {
    visit.show(|shape, repo| {
        let known = assignable(shape, repo).any(|(own, _)| own.eq_ignore_ascii_case(&login));
        if known { Ok(StatusCode::NO_CONTENT) } else { Err(Problem::not_found()) }
    })
}

/// `GET /repos/{owner}/{repo}/milestones`: there are none.
pub(super) async fn milestones(visit: Visit) -> Result<Json<Value>, Problem> {
    visit.show(|_, _| Ok(Json(Value::Array(Vec::new()))))
}

/// People with a role here, each with their login.
fn assignable<'a>(shape: Shape<'a>, repo: &'a Repo) -> impl Iterator<Item = (&'a str, Value)> {
    let people = shape.state.people.iter().filter(|person| person.kind == PersonKind::User);
    let known = people.filter(|person| repo.role(&person.login).is_some());
    known.map(move |person| (person.login.as_str(), shape.person(person)))
}

/// Only who may push is told who else works here.
fn pushes(visit: &Visit, repo: &Repo) -> Result<(), Problem> {
    visit.login()?;
    if visit.caller.has(Role::Write, repo) {
        return Ok(());
    }
    Err(Problem::forbidden("Must have push access to view repository collaborators."))
}
