//! Labels of a repository and of its issues.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    rest::{Shape, paging::Paging, parsed, seen},
    state::{self, Label, Repo, Role},
};

/// The grey that a label has when nobody chose a colour.
const GREY: &str = "ededed";
/// GitHub takes so many characters.
const LONGEST_DESCRIPTION: usize = 100;

#[derive(Deserialize)]
struct Draft {
    name: Option<String>,
    color: Option<String>,
    description: Option<String>,
}

/// The body of an addition: the names, bare or in an object.
#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    Object { labels: Vec<String> },
    List(Vec<String>),
}

/// `GET /repos/{owner}/{repo}/labels`
pub(super) async fn list(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo)): Path<(String, String)>,
    paging: Paging,
) -> Result<Response, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        let shape = Shape { state, address: &hub.address };
        let shapes = repo.labels.iter().map(|label| shape.label(repo, label)).collect();
        Ok(paging.answer(shapes))
    })
}

/// `GET /repos/{owner}/{repo}/labels/{name}`
pub(super) async fn show(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, name)): Path<(String, String, String)>,
) -> Result<Json<Value>, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        let label = repo.label(&name).ok_or_else(Problem::not_found)?;
        Ok(Json(Shape { state, address: &hub.address }.label(repo, label)))
    })
}

/// `POST /repos/{owner}/{repo}/labels`
pub(super) async fn create(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo)): Path<(String, String)>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let full_name = format!("{owner}/{repo}");
    let draft: Draft = parsed(&body)?;
    let name = draft.name.ok_or_else(|| Problem::not_supplied("name"))?;
    let invalid = |code: &str, field: &str| {
        Problem::invalid(json!({ "resource": "Label", "code": code, "field": field }))
    };
    hub.change(|state| {
        let repo = sorted_by(state, &full_name, &caller)?;
        if repo.label(&name).is_some() {
            return Err(invalid("already_exists", "name"));
        }
        if draft.description.as_ref().is_some_and(|text| text.chars().count() > LONGEST_DESCRIPTION) {
            return Err(invalid("invalid", "description"));
        }
        let color = draft.color.unwrap_or_else(|| GREY.to_owned());
        if color.len() != 6 || !color.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(invalid("invalid", "color"));
        }
        let label = Label { id: state.next_id(), name, color, description: draft.description };
        if let Some(repo) = state.repo_mut(&full_name) {
            repo.labels.push(label.clone());
        }
        let repo = seen(state.repo(&full_name), &caller)?;
        Ok((StatusCode::CREATED, Json(Shape { state, address: &hub.address }.label(repo, &label))))
    })
}

/// `GET /repos/{owner}/{repo}/issues/{number}/labels`
pub(super) async fn of_issue(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): Path<(String, String, u64)>,
) -> Result<Json<Value>, Problem> {
    hub.read(|state| shown(&hub, state, &format!("{owner}/{repo}"), number, &caller))
}

/// `POST /repos/{owner}/{repo}/issues/{number}/labels`
pub(super) async fn add(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): Path<(String, String, u64)>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let full_name = format!("{owner}/{repo}");
    let (Names::Object { labels: names } | Names::List(names)) = parsed(&body)?;
    hub.change(|state| {
        sorted_by(state, &full_name, &caller)?;
        for name in names {
            let id = state.next_id();
            let repo = state.repo_mut(&full_name).ok_or_else(Problem::not_found)?;
            let known = repo.label(&name).map(|label| label.name.clone());
            let name = known.unwrap_or_else(|| {
                // A name that nobody made a label of becomes one, grey and unexplained.
                repo.labels.push(Label { id, name: name.clone(), color: GREY.to_owned(), description: None });
                name
            });
            let issue = repo.issue_mut(number).ok_or_else(Problem::not_found)?;
            if !issue.labels.contains(&name) {
                issue.labels.push(name);
            }
        }
        shown(&hub, state, &full_name, number, &caller)
    })
}

/// `DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}`
pub(super) async fn remove(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number, name)): Path<(String, String, u64, String)>,
) -> Result<Json<Value>, Problem> {
    let full_name = format!("{owner}/{repo}");
    hub.change(|state| {
        sorted_by(state, &full_name, &caller)?;
        let issue = state.issue_mut(&full_name, number).ok_or_else(Problem::not_found)?;
        let before = issue.labels.len();
        issue.labels.retain(|own| !own.eq_ignore_ascii_case(&name));
        if issue.labels.len() == before {
            return Err(Problem::missing("Label does not exist"));
        }
        shown(&hub, state, &full_name, number, &caller)
    })
}

fn shown(
    hub: &Hub,
    state: &state::State,
    full_name: &str,
    number: u64,
    caller: &Caller,
) -> Result<Json<Value>, Problem> {
    let repo = seen(state.repo(full_name), caller)?;
    let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
    Ok(Json(Shape { state, address: &hub.address }.labels_of(repo, issue).into()))
}

/// Finds a repository whose labels the caller may change.
fn sorted_by<'a>(state: &'a state::State, full_name: &str, caller: &Caller) -> Result<&'a Repo, Problem> {
    caller.login()?;
    let repo = seen(state.repo(full_name), caller)?;
    if !caller.has(Role::Triage, repo) {
        return Err(Problem::forbidden("Must have push access to repository."));
    }
    Ok(repo)
}
