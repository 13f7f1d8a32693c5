//! Apps and the tokens of their installations.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    auth::{self, Caller},
    hub::Hub,
    jwt,
    problem::Problem,
    rest::{Shape, address::Path, paging::Paging, parsed, timestamp},
    state::{self, App, Grant, Installation, Level, Repo, Role, Token},
};

/// A token of an installation lives so long.
const LIFE: SignedDuration = SignedDuration::from_hours(1);

/// What a token is to be good for; all that was granted, if nothing is said.
#[derive(Deserialize)]
struct Wish {
    repositories: Option<Vec<String>>,
    repository_ids: Option<Vec<u64>>,
    permissions: Option<BTreeMap<String, String>>,
}

/// `GET /app`
pub(super) async fn show(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Json<Value>, Problem> {
    let app = signer(&hub, &headers)?;
    hub.read(|state| Ok(Json(hub.shape(state).app(&app))))
}

/// `GET /app/installations`
pub(super) async fn installations(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    paging: Paging,
) -> Result<Response, Problem> {
    let app = signer(&hub, &headers)?;
    hub.read(|state| {
        let shape = hub.shape(state);
        Ok(paging.answer(app.installations.iter().map(|own| shape.installation(&app, own)).collect()))
    })
}

/// `GET /app/installations/{installation}`
pub(super) async fn installation(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    Path(id): Path<u64>,
) -> Result<Json<Value>, Problem> {
    let app = signer(&hub, &headers)?;
    let found = app.installations.iter().find(|own| own.id == id).ok_or_else(Problem::not_found)?;
    hub.read(|state| Ok(Json(hub.shape(state).installation(&app, found))))
}

/// `GET /users/{login}/installation`
pub(super) async fn of_account(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    Path(login): Path<String>,
) -> Result<Json<Value>, Problem> {
    let app = signer(&hub, &headers)?;
    let own = |own: &&Installation| own.account.eq_ignore_ascii_case(&login);
    let found = app.installations.iter().find(own).ok_or_else(Problem::not_found)?;
    hub.read(|state| Ok(Json(hub.shape(state).installation(&app, found))))
}

/// `GET /repos/{owner}/{repo}/installation`
pub(super) async fn of_repo(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    Path((owner, repo)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let (app, full_name) = (signer(&hub, &headers)?, format!("{owner}/{repo}"));
    let installed = |own: &&Installation| own.repos.contains(&full_name);
    let found = app.installations.iter().find(installed).ok_or_else(Problem::not_found)?;
    hub.read(|state| Ok(Json(hub.shape(state).installation(&app, found))))
}

/// `POST /app/installations/{installation}/access_tokens`
pub(super) async fn give_token(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    Path(id): Path<u64>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let app = signer(&hub, &headers)?;
    let installation = app.installations.iter().find(|own| own.id == id).ok_or_else(Problem::not_found)?;
    let wish: Wish = parsed(&body)?;
    hub.change(|state| {
        let expires_at = state.clock.now() + LIFE;
        let chosen = wish.repositories.is_some() || wish.repository_ids.is_some();
        let repos = wish.repos(state, installation)?;
        let permissions = wish.permissions(installation)?;
        let grant = Grant { repos, permissions, expires_at };
        let token = state.grant_token(&app.bot(), grant.clone());
        let shape = hub.shape(state);
        let mut told = json!({
            "token": token,
            "expires_at": timestamp(expires_at),
            "permissions": words(&grant.permissions),
            "repository_selection": "selected",
        });
        if chosen {
            told["repositories"] =
                grant.repos.iter().filter_map(|name| state.repo(name)).map(|repo| shape.repo(repo)).collect();
        }
        Ok((StatusCode::CREATED, Json(told)))
    })
}

/// `GET /installation/repositories`
pub(super) async fn repositories(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    paging: Paging,
) -> Result<Response, Problem> {
    let grant = caller.grant().ok_or_else(|| Problem::forbidden("You must authenticate with an installation access token in order to list repositories for an installation."))?;
    hub.read(|state| {
        let shape = hub.shape(state);
        let repos = grant.repos.iter().filter_map(|name| state.repo(name)).map(|repo| shape.repo(repo));
        let more = json!({ "repository_selection": "selected" });
        Ok(paging.counted_with("repositories", repos.collect(), more))
    })
}

/// `GET /user/installations`: those of the app that the person signed in by, where they can see a repository
pub(super) async fn of_person(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    headers: HeaderMap,
    paging: Paging,
) -> Result<Response, Problem> {
    signed_in(&caller, &headers)?;
    hub.read(|state| {
        let shape = hub.shape(state);
        let seen = |own: &&Installation| !seen_in(state, &caller, own).is_empty();
        let all = state
            .apps
            .iter()
            .flat_map(|app| app.installations.iter().filter(seen).map(move |own| (app, own)));
        let told = all.map(|(app, own)| shape.installation(app, own)).collect();
        Ok(paging.counted_with("installations", told, json!({})))
    })
}

/// `GET /user/installations/{installation}/repositories`
pub(super) async fn repositories_of_person(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<u64>,
    paging: Paging,
) -> Result<Response, Problem> {
    signed_in(&caller, &headers)?;
    hub.read(|state| {
        let shape = hub.shape(state);
        let mut all = state.apps.iter().flat_map(|app| &app.installations);
        let found = all.find(|own| own.id == id).ok_or_else(Problem::not_found)?;
        let seen = seen_in(state, &caller, found);
        if seen.is_empty() {
            return Err(Problem::not_found());
        }
        let repos = seen.into_iter().map(|repo| shape.repo(repo)).collect();
        Ok(paging.counted_with("repositories", repos, json!({ "repository_selection": "selected" })))
    })
}

/// Only a token that somebody got by an app tells which app is meant.
fn signed_in(caller: &Caller, headers: &HeaderMap) -> Result<(), Problem> {
    caller.login()?;
    match auth::bearer(headers) {
        Some(token) if token.starts_with("ghu_") => Ok(()),
        _ => Err(Problem::forbidden(
            "You must authenticate with an access token authorized to a GitHub App in order to list installations",
        )),
    }
}

/// The repositories of an installation that somebody has a part in: seeing what is public is none.
fn seen_in<'a>(state: &'a state::State, caller: &Caller, installation: &Installation) -> Vec<&'a Repo> {
    let repos = installation.repos.iter().filter_map(|name| state.repo(name));
    repos.filter(|repo| caller.has(Role::Read, repo)).collect()
}

/// `DELETE /installation/token`
pub(super) async fn revoke(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    caller.grant().ok_or_else(Problem::not_accessible)?;
    let text = auth::bearer(&headers).unwrap_or_default();
    hub.change(|state| {
        let own = |token: &&mut Token| token.text == text;
        if let Some(token) = state.tokens.iter_mut().find(own) {
            token.expired = true;
        }
    });
    Ok(StatusCode::NO_CONTENT)
}

/// The app that signed the request's token.
fn signer(hub: &Hub, headers: &HeaderMap) -> Result<App, Problem> {
    let text = auth::bearer(headers).ok_or_else(Problem::requires_authentication)?;
    hub.read(|state| jwt::signer(state, &text, Timestamp::now()).cloned())
}

fn words(permissions: &BTreeMap<String, Level>) -> Value {
    permissions.iter().map(|(name, level)| (name.clone(), Value::from(level.word()))).collect()
}

impl Wish {
    /// The repositories that are meant, all of them within the installation.
    fn repos(&self, state: &state::State, installation: &Installation) -> Result<Vec<String>, Problem> {
        let all = || installation.repos.iter().filter_map(|name| state.repo(name));
        let by_name = self.repositories.iter().flatten().map(|name| all().find(|repo| repo.name == *name));
        let by_id = self.repository_ids.iter().flatten().map(|id| all().find(|repo| repo.id == *id));
        let meant: Option<Vec<&Repo>> = by_name.chain(by_id).collect();
        let meant = meant.ok_or_else(|| {
            Problem::unprocessable("There is at least one repository that does not exist or is not accessible to the parent installation.")
        })?;
        let meant = if meant.is_empty() { all().collect() } else { meant };
        Ok(meant.into_iter().map(Repo::full_name).collect())
    }

    /// The permissions that are meant, none of them beyond the installation's.
    fn permissions(&self, installation: &Installation) -> Result<BTreeMap<String, Level>, Problem> {
        let Some(wanted) = &self.permissions else { return Ok(installation.permissions.clone()) };
        let beyond =
            || Problem::unprocessable("The permissions requested are not granted to this installation.");
        let read = |(name, word): (&String, &String)| {
            let level = Level::from_word(word).ok_or_else(beyond)?;
            let enough = installation.permissions.get(name) >= Some(&level);
            if enough { Ok((name.clone(), level)) } else { Err(beyond()) }
        };
        let metadata = ("metadata".to_owned(), Level::Read);
        wanted.iter().map(read).chain([Ok(metadata)]).collect()
    }
}

impl Shape<'_> {
    /// The app whose bot somebody is; null for people.
    pub(crate) fn app_of(&self, login: &str) -> Value {
        let app = self.state.apps.iter().find(|app| app.bot() == login);
        let mut shape = app.map_or(Value::Null, |app| self.app(app));
        if let Some(fields) = shape.as_object_mut() {
            fields.remove("installations_count");
        }
        shape
    }

    fn app(&self, app: &App) -> Value {
        let installed = app.installations.first();
        let permissions = installed.map_or_else(|| json!({}), |own| words(&own.permissions));
        json!({
            "id": app.id,
            "slug": app.slug,
            "node_id": format!("A_{}", app.id),
            "client_id": app.client_id(),
            "owner": self.user(&app.owner),
            "name": app.name,
            "description": null,
            "external_url": format!("{}/apps/{}", self.address, app.slug),
            "html_url": format!("{}/apps/{}", self.address, app.slug),
            "created_at": timestamp(app.created_at),
            "updated_at": timestamp(app.created_at),
            "permissions": permissions,
            "events": [],
            "installations_count": app.installations.len(),
        })
    }

    fn installation(&self, app: &App, installation: &Installation) -> Value {
        let Installation { id, account, .. } = installation;
        let target = self.state.person(account).map(|person| person.id);
        json!({
            "id": id,
            "account": self.user(account),
            "repository_selection": "selected",
            "access_tokens_url": format!("{}/app/installations/{id}/access_tokens", self.address),
            "repositories_url": format!("{}/installation/repositories", self.address),
            "html_url": format!("{}/settings/installations/{id}", self.address),
            "app_id": app.id,
            "app_slug": app.slug,
            "target_id": target,
            "target_type": "User",
            "permissions": words(&installation.permissions),
            "events": [],
            "created_at": timestamp(app.created_at),
            "updated_at": timestamp(app.created_at),
            "single_file_name": null,
            "suspended_by": null,
            "suspended_at": null,
        })
    }
}
