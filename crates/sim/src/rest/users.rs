//! Accounts: who the token belongs to, and what somebody may do in a repository.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    hub::Hub,
    page,
    problem::Problem,
    rest::{Shape, address::Path, timestamp, visit::Visit},
    state::{Person, PersonKind, Role},
};

/// What the API has, as far as GitHub tells on its first page.
const PLACES: [(&str, &str); 31] = [
    ("authorizations_url", "/authorizations"),
    ("code_search_url", "/search/code?q={query}{&page,per_page,sort,order}"),
    ("commit_search_url", "/search/commits?q={query}{&page,per_page,sort,order}"),
    ("current_user_authorizations_html_url", "/settings/connections/applications{/client_id}"),
    ("current_user_repositories_url", "/user/repos{?type,page,per_page,sort}"),
    ("current_user_url", "/user"),
    ("emails_url", "/user/emails"),
    ("emojis_url", "/emojis"),
    ("events_url", "/events"),
    ("feeds_url", "/feeds"),
    ("followers_url", "/user/followers"),
    ("following_url", "/user/following{/target}"),
    ("gists_url", "/gists{/gist_id}"),
    ("issue_search_url", "/search/issues?q={query}{&page,per_page,sort,order}"),
    ("issues_url", "/issues"),
    ("keys_url", "/user/keys"),
    ("label_search_url", "/search/labels?q={query}&repository_id={repository_id}{&page,per_page}"),
    ("notifications_url", "/notifications"),
    ("organization_repositories_url", "/orgs/{org}/repos{?type,page,per_page,sort}"),
    ("organization_teams_url", "/orgs/{org}/teams"),
    ("organization_url", "/orgs/{org}"),
    ("public_gists_url", "/gists/public"),
    ("rate_limit_url", "/rate_limit"),
    ("repository_search_url", "/search/repositories?q={query}{&page,per_page,sort,order}"),
    ("repository_url", "/repos/{owner}/{repo}"),
    ("starred_gists_url", "/gists/starred"),
    ("starred_url", "/user/starred{/owner}{/repo}"),
    ("user_organizations_url", "/user/orgs"),
    ("user_repositories_url", "/users/{user}/repos{?type,page,per_page,sort}"),
    ("user_search_url", "/search/users?q={query}{&page,per_page,sort,order}"),
    ("user_url", "/users/{user}"),
];

/// `{login}` in an address.
#[derive(Deserialize)]
pub(super) struct Somebody {
    pub(super) login: String,
}

/// `GET /`: the addresses of the API for those who show a token, the page for everybody else.
pub(super) async fn root(hub: State<Arc<Hub>>, caller: Caller) -> Response {
    match caller {
        Caller::Anonymous => page::home(hub).await,
        Caller::Known { .. } => {
            let address = &hub.address;
            let urls = PLACES.map(|(field, place)| (field.to_owned(), format!("{address}{place}").into()));
            Json(Value::Object(urls.into_iter().collect())).into_response()
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
        Ok(Json(hub.shape(state).whole_person(person)))
    })
}

/// `GET /users/{login}`
pub(super) async fn show(
    State(hub): State<Arc<Hub>>,
    _: Caller,
    Path(login): Path<String>,
) -> Result<Json<Value>, Problem> {
    hub.read(|state| {
        let person = state.person(&login).ok_or_else(Problem::not_found)?;
        Ok(Json(hub.shape(state).whole_person(person)))
    })
}

/// `GET /repos/{owner}/{repo}/collaborators/{login}/permission`
pub(super) async fn permission(
    visit: Visit,
    Path(Somebody { login }): Path<Somebody>,
) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| {
        if !visit.caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Must have push access to view collaborator permission."));
        }
        let person = shape.state.person(&login).filter(|person| person.kind == PersonKind::User);
        let person = person.ok_or_else(|| Problem::missing(&format!("{login} is not a user")))?;
        let everyone = (!repo.private).then_some(Role::Read);
        let role = repo.role(&person.login).or(everyone);
        let permission = role.map_or("none", Role::permission);
        let user = shape.with_role(person, role);
        Ok(Json(json!({ "permission": permission, "role_name": user["role_name"], "user": user })))
    })
}

impl Shape<'_> {
    /// A person with what they may do in a repository.
    pub(super) fn with_role(&self, person: &Person, role: Option<Role>) -> Value {
        let may = |least: Role| role.is_some_and(|own| own >= least);
        let mut user = self.person(person);
        user["role_name"] = role.map_or("none", Role::name).into();
        user["permissions"] = json!({
            "admin": may(Role::Admin),
            "maintain": may(Role::Maintain),
            "push": may(Role::Write),
            "triage": may(Role::Triage),
            "pull": may(Role::Read),
        });
        user
    }

    /// A person on their own page.
    fn whole_person(&self, person: &Person) -> Value {
        let mut shape = self.person(person);
        let repos = &self.state.repos;
        let born = repos.iter().map(|repo| repo.created_at).min().unwrap_or_default();
        let n_repos = repos.iter().filter(|repo| repo.owner == person.login && !repo.private).count();
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
        shape
    }
}
