//! References: branches and tags, and the heads of pull requests.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    rest::{
        Shape,
        git_data::{InRepo, OneInRepo, opened, shaped, writable},
        parsed,
    },
    state::Repo,
};

#[derive(Deserialize)]
struct NewReference {
    #[serde(rename = "ref")]
    name: String,
    sha: String,
}

#[derive(Deserialize)]
struct MovedReference {
    sha: String,
    #[serde(default)]
    force: bool,
}

/// `GET /repos/{owner}/{repo}/branches/{branch}`
pub(super) async fn show_branch(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, name)): OneInRepo,
) -> Result<Json<Value>, Problem> {
    let (bare, full_name) = opened(&hub, &caller, &owner, &repo).await?;
    let missing = |_| Problem::missing("Branch not found");
    let tip = bare.commit(&bare.tip(&name).await.map_err(missing)?).await.map_err(missing)?;
    shaped(&hub, &caller, &full_name, |shape, repo| {
        let protected = repo.protected.contains(&name);
        let url = format!("{}/branches/{name}", shape.repo_url(repo));
        let page = format!("{}/{full_name}/tree/{name}", shape.address);
        Json(json!({
            "name": name,
            "commit": shape.commit(repo, &tip),
            "_links": { "self": url, "html": page },
            "protected": protected,
            "protection": { "enabled": protected },
            "protection_url": format!("{url}/protection"),
        }))
    })
}

/// `GET /repos/{owner}/{repo}/git/ref/{name}`
pub(super) async fn show(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, name)): OneInRepo,
) -> Result<Json<Value>, Problem> {
    let (bare, full_name) = opened(&hub, &caller, &owner, &repo).await?;
    let wanted = format!("refs/{name}");
    let found = bare.references(&wanted).await.map_err(|_| Problem::not_found())?;
    let found = found.into_iter().find(|(name, ..)| *name == wanted).ok_or_else(Problem::not_found)?;
    shaped(&hub, &caller, &full_name, |shape, repo| Json(shape.reference(repo, &found)))
}

/// `GET /repos/{owner}/{repo}/git/matching-refs/{beginning}`
pub(super) async fn matching(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, beginning)): OneInRepo,
) -> Result<Json<Value>, Problem> {
    let (bare, full_name) = opened(&hub, &caller, &owner, &repo).await?;
    let beginning = format!("refs/{beginning}");
    let mut found = bare.references("refs").await.map_err(|_| Problem::not_found())?;
    found.retain(|(name, ..)| name.starts_with(&beginning));
    shaped(&hub, &caller, &full_name, |shape, repo| {
        Json(found.iter().map(|reference| shape.reference(repo, reference)).collect())
    })
}

/// `POST /repos/{owner}/{repo}/git/refs`
pub(super) async fn create(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo)): InRepo,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (bare, full_name) = writable(&hub, &caller, &owner, &repo).await?;
    let NewReference { name, sha } = parsed(&body)?;
    if !name.starts_with("refs/") || name.split('/').count() < 3 || name.starts_with("refs/pull/") {
        return Err(Problem::unprocessable(
            "Reference name must start with 'refs/' and have at least two slashes.",
        ));
    }
    let commit = bare.commit(&sha).await.map_err(|_| Problem::unprocessable("Object does not exist"))?;
    // An empty old value means that it must be new.
    let made = bare.run(&["update-ref", &name, &commit.oid, ""]).await;
    made.map_err(|_| Problem::unprocessable("Reference already exists"))?;
    shaped(&hub, &caller, &full_name, |shape, repo| {
        (StatusCode::CREATED, Json(shape.reference(repo, &(name, "commit".to_owned(), commit.oid))))
    })
}

/// `PATCH /repos/{owner}/{repo}/git/refs/{name}`
pub(super) async fn update(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, name)): OneInRepo,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let (bare, full_name) = writable(&hub, &caller, &owner, &repo).await?;
    let MovedReference { sha, force } = parsed(&body)?;
    unprotected(&hub, &full_name, &name)?;
    let name = format!("refs/{name}");
    let missing = |_| Problem::unprocessable("Reference does not exist");
    let before = bare.text(&["rev-parse", "--verify", &name]).await.map_err(missing)?;
    let commit = bare.commit(&sha).await.map_err(|_| Problem::unprocessable("Object does not exist"))?;
    if !force && bare.run(&["merge-base", "--is-ancestor", &before, &commit.oid]).await.is_err() {
        return Err(Problem::unprocessable("Update is not a fast forward"));
    }
    bare.run(&["update-ref", &name, &commit.oid]).await.map_err(missing)?;
    crate::git::pushed(&hub, &full_name).await.map_err(missing)?;
    shaped(&hub, &caller, &full_name, |shape, repo| {
        Json(shape.reference(repo, &(name, "commit".to_owned(), commit.oid)))
    })
}

/// `DELETE /repos/{owner}/{repo}/git/refs/{name}`
pub(super) async fn delete(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, name)): OneInRepo,
) -> Result<StatusCode, Problem> {
    let (bare, full_name) = writable(&hub, &caller, &owner, &repo).await?;
    unprotected(&hub, &full_name, &name)?;
    let name = format!("refs/{name}");
    let missing = |_| Problem::unprocessable("Reference does not exist");
    bare.run(&["rev-parse", "--verify", &name]).await.map_err(missing)?;
    bare.run(&["update-ref", "-d", &name]).await.map_err(missing)?;
    Ok(StatusCode::NO_CONTENT)
}

fn unprotected(hub: &Hub, full_name: &str, name: &str) -> Result<(), Problem> {
    let branch = name.strip_prefix("heads/").unwrap_or_default();
    let protected = hub.read(|state| {
        state.repo(full_name).is_some_and(|repo| repo.protected.iter().any(|own| own == branch))
    });
    if protected || name.starts_with("pull/") {
        return Err(Problem::unprocessable("Protected branch update failed"));
    }
    Ok(())
}

impl Shape<'_> {
    fn reference(&self, repo: &Repo, (name, kind, oid): &(String, String, String)) -> Value {
        let url = self.repo_url(repo);
        json!({
            "ref": name,
            "node_id": format!("REF_{}", name.replace('/', "_")),
            "url": format!("{url}/git/{name}"),
            "object": { "type": kind, "sha": oid, "url": format!("{url}/git/{kind}s/{oid}") },
        })
    }
}
