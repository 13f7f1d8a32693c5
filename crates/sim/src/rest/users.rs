//! Accounts: who the token belongs to, and what somebody may do in a repository.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    hub::Hub,
    page,
    problem::Problem,
    rest::{Shape, seen, timestamp},
    state::{PersonKind, Role},
};

/// `GET /`: the addresses of the API for those who show a token, the page for everybody else.
pub(super) async fn root(hub: State<Arc<Hub>>, caller: Caller) -> Response {
    match caller {
        Caller::Anonymous => page::home(hub).await,
        Caller::Known { .. } => {
            let address = &hub.address;
            let urls = json!({
                "current_user_url": format!("{address}/user"),
                "rate_limit_url": format!("{address}/rate_limit"),
                "repository_url": format!("{address}/repos/{{owner}}/{{repo}}"),
            });
            Json(urls).into_response()
        }
    }
}

/// `GET /user`
pub(super) async fn viewer(State(hub): State<Arc<Hub>>, caller: Caller) -> Result<Json<Value>, Problem> {
    let login = caller.login()?;
    hub.read(|state| {
        let person = state.person(login).ok_or_else(Problem::bad_credentials)?;
        // An installation is nobody's account.
        if person.kind == PersonKind::Bot {
            return Err(Problem::not_accessible());
        }
        let mut shape = Shape { state, address: &hub.address }.person(person);
        let born = state.repos.iter().map(|repo| repo.created_at).min().unwrap_or_default();
        let n_repos = state.repos.iter().filter(|repo| repo.owner == person.login && !repo.private).count();
        shape["name"] = person.name.clone().into();
        shape["public_repos"] = n_repos.into();
        for field in ["created_at", "updated_at"] {
            shape[field] = timestamp(born).into();
        }
        for none in ["company", "blog", "location", "email", "hireable", "bio"] {
            shape[none] = Value::Null;
        }
        for zero in ["public_gists", "followers", "following"] {
            shape[zero] = 0.into();
        }
        Ok(Json(shape))
    })
}

/// `GET /repos/{owner}/{repo}/collaborators/{login}/permission`
pub(super) async fn permission(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, login)): Path<(String, String, String)>,
) -> Result<Json<Value>, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        if !caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Must have push access to view collaborator permission."));
        }
        let person = state.person(&login).filter(|person| person.kind == PersonKind::User);
        let person = person.ok_or_else(|| Problem::missing(&format!("{login} is not a user")))?;
        let everyone = (!repo.private).then_some(Role::Read);
        let role = repo.role(&person.login).or(everyone);
        let may = |least: Role| role.is_some_and(|own| own >= least);
        let role_name = role.map_or("none", Role::name);
        let mut user = Shape { state, address: &hub.address }.person(person);
        user["role_name"] = role_name.into();
        user["permissions"] = json!({
            "admin": may(Role::Admin),
            "maintain": may(Role::Maintain),
            "push": may(Role::Write),
            "triage": may(Role::Triage),
            "pull": may(Role::Read),
        });
        let permission = role.map_or("none", Role::permission);
        Ok(Json(json!({ "permission": permission, "role_name": role_name, "user": user })))
    })
}
