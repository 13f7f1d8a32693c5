//! Labels of a repository and of its issues.

use axum::{Json, body::Bytes, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::Path,
        issue_edits::{Name, label, names},
        paging::Paging,
        parsed,
        visit::{Named, Numbered, Visit},
    },
    state::{Label, Repo, Role, State},
};

/// The grey that a label has when nobody chose a colour.
const GREY: &str = "ededed";
/// GitHub takes so many characters.
const LONGEST_DESCRIPTION: usize = 100;
/// And so many of a name.
const LONGEST_NAME: usize = 50;

#[derive(Deserialize)]
struct Draft {
    name: Option<String>,
    /// Only of a label that there is.
    new_name: Option<String>,
    color: Option<String>,
    description: Option<String>,
}

/// The body of an addition: the names, bare or in an object.
#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    Object { labels: Vec<Name> },
    List(Vec<Name>),
}

/// `GET /repos/{owner}/{repo}/labels`
pub(super) async fn list(visit: Visit, paging: Paging) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let shapes = repo.labels.iter().map(|label| shape.label(repo, label)).collect();
        Ok(paging.answer(shapes))
    })
}

/// `GET /repos/{owner}/{repo}/labels/{name}`
pub(super) async fn show(visit: Visit, Path(Named { name }): Path<Named>) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| {
        let label = repo.label(&name).ok_or_else(Problem::not_found)?;
        Ok(Json(shape.label(repo, label)))
    })
}

/// `POST /repos/{owner}/{repo}/labels`
pub(super) async fn create(visit: Visit, body: Bytes) -> Result<(StatusCode, Json<Value>), Problem> {
    let draft: Draft = parsed(&body)?;
    let name = draft.name.ok_or_else(|| Problem::not_supplied("name"))?;
    let color = draft.color.unwrap_or_else(|| GREY.to_owned());
    visit.change(|state| {
        let repo = sorted_by(&visit, state)?;
        if repo.label(&name).is_some() {
            return Err(invalid("already_exists", "name"));
        }
        acceptable(&name, &color, draft.description.as_deref())?;
        let label = Label { id: state.next_id(), name, color, description: draft.description };
        visit.repo_mut(state)?.labels.push(label.clone());
        let (shape, repo) = visit.view(state)?;
        Ok((StatusCode::CREATED, Json(shape.label(repo, &label))))
    })
}

/// `PATCH /repos/{owner}/{repo}/labels/{name}`: what wears it wears it under its new name.
pub(super) async fn update(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let draft: Draft = parsed(&body)?;
    visit.change(|state| {
        let repo = sorted_by(&visit, state)?;
        let before = repo.label(&name).ok_or_else(Problem::not_found)?.clone();
        let after = Label {
            id: before.id,
            name: draft.new_name.unwrap_or_else(|| before.name.clone()),
            color: draft.color.unwrap_or_else(|| before.color.clone()),
            description: draft.description.or_else(|| before.description.clone()),
        };
        if repo.label(&after.name).is_some_and(|other| other.id != before.id) {
            return Err(invalid("already_exists", "name"));
        }
        acceptable(&after.name, &after.color, after.description.as_deref())?;
        let repo = visit.repo_mut(state)?;
        let worn = repo.issues.iter_mut().flat_map(|issue| &mut issue.labels);
        worn.filter(|own| **own == before.name).for_each(|own| own.clone_from(&after.name));
        if let Some(own) = repo.labels.iter_mut().find(|own| own.id == before.id) {
            own.clone_from(&after);
        }
        let (shape, repo) = visit.view(state)?;
        Ok(Json(shape.label(repo, &after)))
    })
}

/// `DELETE /repos/{owner}/{repo}/labels/{name}`
pub(super) async fn delete(visit: Visit, Path(Named { name }): Path<Named>) -> Result<StatusCode, Problem> {
    visit.change(|state| {
        let own = sorted_by(&visit, state)?.label(&name).ok_or_else(Problem::not_found)?.name.clone();
        let repo = visit.repo_mut(state)?;
        repo.labels.retain(|label| label.name != own);
        repo.issues.iter_mut().for_each(|issue| issue.labels.retain(|worn| *worn != own));
        Ok(StatusCode::NO_CONTENT)
    })
}

fn invalid(code: &str, field: &str) -> Problem {
    Problem::invalid(json!({ "resource": "Label", "code": code, "field": field }))
}

/// Refuses what no label can be like.
fn acceptable(name: &str, color: &str, description: Option<&str>) -> Result<(), Problem> {
    if name.trim().is_empty() {
        return Err(invalid("missing_field", "name"));
    }
    for (field, text, most) in
        [("name", name, LONGEST_NAME), ("description", description.unwrap_or_default(), LONGEST_DESCRIPTION)]
    {
        if text.chars().count() > most {
            let message = format!("{field} is too long (maximum is {most} characters)");
            let error = json!({ "resource": "Label", "code": "custom", "field": field, "message": message });
            return Err(Problem::invalid(error));
        }
    }
    if color.len() != 6 || !color.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(invalid("invalid", "color"));
    }
    Ok(())
}

/// `GET /repos/{owner}/{repo}/issues/{number}/labels`
pub(super) async fn of_issue(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| shown(shape, repo, number))
}

/// `POST /repos/{owner}/{repo}/issues/{number}/labels`
pub(super) async fn add(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let (Names::Object { labels } | Names::List(labels)) = parsed(&body)?;
    let names = names(labels);
    if names.is_empty() {
        return Err(Problem::unprocessable("Invalid request."));
    }
    wearable(&names)?;
    put_on(&visit, number, names)
}

/// `PUT /repos/{owner}/{repo}/issues/{number}/labels`: these and no others.
pub(super) async fn set(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let (Names::Object { labels } | Names::List(labels)) = parsed(&body)?;
    let names = names(labels);
    wearable(&names)?;
    clear(&visit, number)?;
    put_on(&visit, number, names)
}

/// `DELETE /repos/{owner}/{repo}/issues/{number}/labels`
pub(super) async fn remove_all(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
) -> Result<StatusCode, Problem> {
    clear(&visit, number)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses names that no label can have.
fn wearable(names: &[String]) -> Result<(), Problem> {
    let Some(long) = names.iter().find(|name| name.chars().count() > LONGEST_NAME) else { return Ok(()) };
    Err(Problem::invalid(json!({ "value": long, "resource": "Label", "field": "name", "code": "invalid" })))
}

fn put_on(visit: &Visit, number: u64, names: Vec<String>) -> Result<Json<Value>, Problem> {
    visit.change(|state| {
        sorted_by(visit, state)?.issue(number).ok_or_else(Problem::not_found)?;
        label(state, &visit.full_name, number, names);
        let (shape, repo) = visit.view(state)?;
        shown(shape, repo, number)
    })
}

fn clear(visit: &Visit, number: u64) -> Result<(), Problem> {
    visit.change(|state| {
        sorted_by(visit, state)?;
        let now = state.clock.now();
        let issue = state.issue_mut(&visit.full_name, number).ok_or_else(Problem::not_found)?;
        issue.labels.clear();
        issue.updated_at = now;
        Ok(())
    })
}

/// `DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}`
pub(super) async fn remove(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    Path(Named { name }): Path<Named>,
) -> Result<Json<Value>, Problem> {
    visit.change(|state| {
        sorted_by(&visit, state)?;
        let now = state.clock.now();
        let issue = state.issue_mut(&visit.full_name, number).ok_or_else(Problem::not_found)?;
        let before = issue.labels.len();
        issue.labels.retain(|own| !own.eq_ignore_ascii_case(&name));
        if issue.labels.len() == before {
            return Err(Problem::missing("Label does not exist"));
        }
        issue.updated_at = now;
        let (shape, repo) = visit.view(state)?;
        shown(shape, repo, number)
    })
}

fn shown(shape: Shape<'_>, repo: &Repo, number: u64) -> Result<Json<Value>, Problem> {
    let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
    Ok(Json(shape.labels_of(repo, issue).into()))
}

/// Finds a repository whose labels the caller may change.
fn sorted_by<'a>(visit: &'a Visit, state: &'a State) -> Result<&'a Repo, Problem> {
    visit.login()?;
    let repo = visit.repo(state)?;
    if !visit.caller.has(Role::Triage, repo) {
        return Err(Problem::forbidden("Must have push access to repository."));
    }
    Ok(repo)
}
