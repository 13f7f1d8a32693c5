//! Repositories.

use std::sync::Arc;

use axum::{Json, body::Bytes, extract::State, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    rest::{Shape, address::Path, paging::Paging, parsed, timestamp, users::Somebody, visit::Visit},
    state::{IssueState, Node, Repo, Role, node_id},
};

/// Addresses below a repository's own, by the names of their fields.
const PLACES: [(&str, &str); 37] = [
    ("archive_url", "/{archive_format}{/ref}"),
    ("assignees_url", "/assignees{/user}"),
    ("blobs_url", "/git/blobs{/sha}"),
    ("branches_url", "/branches{/branch}"),
    ("collaborators_url", "/collaborators{/collaborator}"),
    ("comments_url", "/comments{/number}"),
    ("commits_url", "/commits{/sha}"),
    ("compare_url", "/compare/{base}...{head}"),
    ("contents_url", "/contents/{+path}"),
    ("contributors_url", "/contributors"),
    ("deployments_url", "/deployments"),
    ("downloads_url", "/downloads"),
    ("events_url", "/events"),
    ("forks_url", "/forks"),
    ("git_commits_url", "/git/commits{/sha}"),
    ("git_refs_url", "/git/refs{/sha}"),
    ("git_tags_url", "/git/tags{/sha}"),
    ("hooks_url", "/hooks"),
    ("issue_comment_url", "/issues/comments{/number}"),
    ("issue_events_url", "/issues/events{/number}"),
    ("issues_url", "/issues{/number}"),
    ("keys_url", "/keys{/key_id}"),
    ("labels_url", "/labels{/name}"),
    ("languages_url", "/languages"),
    ("merges_url", "/merges"),
    ("milestones_url", "/milestones{/number}"),
    ("notifications_url", "/notifications{?since,all,participating}"),
    ("pulls_url", "/pulls{/number}"),
    ("releases_url", "/releases{/id}"),
    ("stargazers_url", "/stargazers"),
    ("statuses_url", "/statuses/{sha}"),
    ("subscribers_url", "/subscribers"),
    ("subscription_url", "/subscription"),
    ("tags_url", "/tags"),
    ("teams_url", "/teams"),
    ("trees_url", "/git/trees{/sha}"),
    ("url", ""),
];

/// What is to be another way with a repository.
#[derive(Deserialize)]
struct Wanted {
    description: Option<String>,
    private: Option<bool>,
    has_issues: Option<bool>,
    archived: Option<bool>,
    default_branch: Option<String>,
}

/// `GET /repos/{owner}/{repo}`
pub(super) async fn show(visit: Visit) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| Ok(shown(&visit, shape, repo)))
}

/// `PATCH /repos/{owner}/{repo}`
pub(super) async fn update(visit: Visit, body: Bytes) -> Result<Json<Value>, Problem> {
    visit.login()?;
    let wanted: Wanted = parsed(&body)?;
    let branch = wanted.default_branch.clone();
    if let Some(branch) = &branch {
        let error = json!({ "resource": "Repository", "code": "invalid", "field": "default_branch" });
        visit.open().await?.tip(branch).await.map_err(|_| Problem::invalid(error))?;
    }
    visit.change(|state| {
        if !visit.caller.has(Role::Admin, visit.repo(state)?) {
            return Err(Problem::forbidden("Must have admin rights to Repository."));
        }
        let repo = visit.repo_mut(state)?;
        repo.archived = wanted.archived.unwrap_or(repo.archived);
        repo.without_issues = wanted.has_issues.map_or(repo.without_issues, |has| !has);
        repo.private = wanted.private.unwrap_or(repo.private);
        repo.description = wanted.description.unwrap_or_else(|| repo.description.clone());
        repo.default_branch = branch.unwrap_or_else(|| repo.default_branch.clone());
        let (shape, repo) = visit.view(state)?;
        Ok(shown(&visit, shape, repo))
    })
}

/// A repository by itself: who says who they are hears what they may do.
fn shown(visit: &Visit, shape: Shape<'_>, repo: &Repo) -> Json<Value> {
    let mut shape = shape.repo(repo);
    if visit.login().is_ok() {
        shape["permissions"] = json!({
            "admin": visit.caller.has(Role::Admin, repo),
            "maintain": visit.caller.has(Role::Maintain, repo),
            "push": visit.caller.has(Role::Write, repo),
            "triage": visit.caller.has(Role::Triage, repo),
            "pull": true,
        });
    }
    Json(shape)
}

/// `GET /user/repos`: those that the caller has a role in
pub(super) async fn of_viewer(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    paging: Paging,
) -> Result<Response, Problem> {
    caller.login()?;
    hub.read(|state| {
        let shape = hub.shape(state);
        let own = state.repos.iter().filter(|repo| caller.has(Role::Read, repo));
        Ok(paging.answer(own.map(|repo| shape.repo(repo)).collect()))
    })
}

/// `GET /users/{login}/repos`: the public ones
pub(super) async fn of_person(
    State(hub): State<Arc<Hub>>,
    _: Caller,
    Path(Somebody { login }): Path<Somebody>,
    paging: Paging,
) -> Result<Response, Problem> {
    hub.read(|state| {
        let person = state.person(&login).ok_or_else(Problem::not_found)?;
        let shape = hub.shape(state);
        let own = state.repos.iter().filter(|repo| !repo.private && repo.owner == person.login);
        Ok(paging.answer(own.map(|repo| shape.repo(repo)).collect()))
    })
}

impl Shape<'_> {
    /// A whole repository, which has all fields that a webhook event has too.
    pub(crate) fn repo(&self, repo: &Repo) -> Value {
        let (url, page) = (self.repo_url(repo), format!("{}/{}", self.address, repo.full_name()));
        let n_open = repo.issues.iter().filter(|issue| issue.state == IssueState::Open).count();
        let pushed_at = repo.changed_at();
        let mut shape = json!({
            "id": repo.id,
            "node_id": node_id(Node::Repo(repo.id)),
            "name": repo.name,
            "full_name": repo.full_name(),
            "private": repo.private,
            "visibility": if repo.private { "private" } else { "public" },
            "owner": self.user(&repo.owner),
            "html_url": page,
            "description": repo.description,
            "default_branch": repo.default_branch,
            "clone_url": format!("{page}.git"),
            "git_url": format!("{page}.git"),
            "ssh_url": format!("{page}.git"),
            "svn_url": page,
            "created_at": timestamp(repo.created_at),
            "updated_at": timestamp(pushed_at),
            "pushed_at": timestamp(pushed_at),
            "open_issues": n_open,
            "open_issues_count": n_open,
            "has_issues": !repo.without_issues,
            "archived": repo.archived,
            "topics": [],
            "size": 1,
        });
        for (field, place) in PLACES {
            shape[field] = format!("{url}{place}").into();
        }
        for none in ["homepage", "language", "license", "mirror_url"] {
            shape[none] = Value::Null;
        }
        for no in
            ["disabled", "fork", "has_discussions", "has_downloads", "has_pages", "has_projects", "has_wiki"]
        {
            shape[no] = false.into();
        }
        for zero in [
            "forks",
            "forks_count",
            "network_count",
            "stargazers_count",
            "subscribers_count",
            "watchers",
            "watchers_count",
        ] {
            shape[zero] = 0.into();
        }
        shape
    }
}
