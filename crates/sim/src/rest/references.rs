//! References: branches and tags, and the heads of pull requests.

use axum::{Json, body::Bytes, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        paging::Paging,
        parsed,
        visit::{Named, Visit},
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

/// Which branches are asked for.
#[derive(Deserialize)]
pub(super) struct BranchFilter {
    protected: Option<bool>,
}

/// `GET /repos/{owner}/{repo}/branches`
pub(super) async fn branches(
    visit: Visit,
    Query(BranchFilter { protected: wanted }): Query<BranchFilter>,
    paging: Paging,
) -> Result<Response, Problem> {
    let found = visit.open().await?.references("refs/heads").await.map_err(|_| Problem::not_found())?;
    visit.show(|shape, repo| {
        let all = found.iter().filter_map(|(name, _, oid)| Some((name.strip_prefix("refs/heads/")?, oid)));
        let all = all.map(|(name, oid)| (name, oid, repo.protected.iter().any(|own| own == name)));
        let meant = all.filter(|(.., protected)| wanted.is_none_or(|wanted| wanted == *protected));
        let drawn = meant.map(|(name, oid, protected)| {
            let url = shape.repo_url(repo);
            json!({
                "name": name,
                "commit": { "sha": oid, "url": format!("{url}/commits/{oid}") },
                "protected": protected,
                "protection": { "enabled": protected },
                "protection_url": format!("{url}/branches/{name}/protection"),
            })
        });
        Ok(paging.answer(drawn.collect()))
    })
}

/// `GET /repos/{owner}/{repo}/branches/{branch}`
pub(super) async fn show_branch(
    visit: Visit,
    Path(Named { name }): Path<Named>,
) -> Result<Json<Value>, Problem> {
    let bare = visit.open().await?;
    let missing = |_| Problem::missing("Branch not found");
    let tip = bare.commit(&bare.tip(&name).await.map_err(missing)?).await.map_err(missing)?;
    visit.show(|shape, repo| {
        let protected = repo.protected.contains(&name);
        let url = format!("{}/branches/{name}", shape.repo_url(repo));
        let page = format!("{}/{}/tree/{name}", shape.address, visit.full_name);
        Ok(Json(json!({
            "name": name,
            "commit": shape.commit(repo, &tip),
            "_links": { "self": url, "html": page },
            "protected": protected,
            "protection": { "enabled": protected },
            "protection_url": format!("{url}/protection"),
        })))
    })
}

/// `GET /repos/{owner}/{repo}/tags`, newest names first
pub(super) async fn tags(visit: Visit, paging: Paging) -> Result<Response, Problem> {
    let bare = visit.open().await?;
    let mut tags = Vec::new();
    for (name, ..) in bare.references("refs/tags").await.map_err(|_| Problem::not_found())? {
        let commit = bare.commit(&name).await.map_err(|_| Problem::not_found())?;
        tags.push((name.trim_start_matches("refs/tags/").to_owned(), commit.oid));
    }
    tags.sort();
    tags.reverse();
    visit.show(|shape, repo| {
        let url = shape.repo_url(repo);
        let drawn = tags.iter().map(|(name, oid)| {
            json!({
                "name": name,
                "node_id": format!("REF_refs_tags_{}", name.replace('/', "_")),
                "commit": { "sha": oid, "url": format!("{url}/commits/{oid}") },
                "zipball_url": format!("{url}/zipball/refs/tags/{name}"),
                "tarball_url": format!("{url}/tarball/refs/tags/{name}"),
            })
        });
        Ok(paging.answer(drawn.collect()))
    })
}

/// `GET /repos/{owner}/{repo}/git/ref/{name}`
pub(super) async fn show(visit: Visit, Path(Named { name }): Path<Named>) -> Result<Json<Value>, Problem> {
    let bare = visit.open().await?;
    let wanted = format!("refs/{name}");
    let found = bare.references(&wanted).await.map_err(|_| Problem::not_found())?;
    let found = found.into_iter().find(|(name, ..)| *name == wanted).ok_or_else(Problem::not_found)?;
    visit.show(|shape, repo| Ok(Json(shape.reference(repo, &found))))
}

/// `GET /repos/{owner}/{repo}/git/matching-refs/{beginning}`
pub(super) async fn matching(
    visit: Visit,
    Path(Named { name }): Path<Named>,
) -> Result<Json<Value>, Problem> {
    let bare = visit.open().await?;
    let beginning = format!("refs/{name}");
    let mut found = bare.references("refs").await.map_err(|_| Problem::not_found())?;
    found.retain(|(name, ..)| name.starts_with(&beginning));
    visit.show(|shape, repo| {
        Ok(Json(found.iter().map(|reference| shape.reference(repo, reference)).collect()))
    })
}

/// `POST /repos/{owner}/{repo}/git/refs`
pub(super) async fn create(visit: Visit, body: Bytes) -> Result<(StatusCode, Json<Value>), Problem> {
    let bare = visit.open_to_write().await?;
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
    visit.show(|shape, repo| {
        Ok((StatusCode::CREATED, Json(shape.reference(repo, &(name, "commit".to_owned(), commit.oid)))))
    })
}

/// `PATCH /repos/{owner}/{repo}/git/refs/{name}`
pub(super) async fn update(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let bare = visit.open_to_write().await?;
    let MovedReference { sha, force } = parsed(&body)?;
    unprotected(&visit, &name)?;
    let name = format!("refs/{name}");
    let missing = |_| Problem::unprocessable("Reference does not exist");
    let before = bare.text(&["rev-parse", "--verify", &name]).await.map_err(missing)?;
    let commit = bare.commit(&sha).await.map_err(|_| Problem::unprocessable("Object does not exist"))?;
    if !force && bare.run(&["merge-base", "--is-ancestor", &before, &commit.oid]).await.is_err() {
        return Err(Problem::unprocessable("Update is not a fast forward"));
    }
    bare.run(&["update-ref", &name, &commit.oid]).await.map_err(missing)?;
    crate::git::pushed(&visit.hub, &visit.full_name, visit.login()?).await.map_err(missing)?;
    visit.show(|shape, repo| Ok(Json(shape.reference(repo, &(name, "commit".to_owned(), commit.oid)))))
}

/// `DELETE /repos/{owner}/{repo}/git/refs/{name}`
pub(super) async fn delete(visit: Visit, Path(Named { name }): Path<Named>) -> Result<StatusCode, Problem> {
    let bare = visit.open_to_write().await?;
    unprotected(&visit, &name)?;
    let name = format!("refs/{name}");
    let missing = |_| Problem::unprocessable("Reference does not exist");
    bare.run(&["rev-parse", "--verify", &name]).await.map_err(missing)?;
    bare.run(&["update-ref", "-d", &name]).await.map_err(missing)?;
    crate::git::pushed(&visit.hub, &visit.full_name, visit.login()?).await.map_err(missing)?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) fn unprotected(visit: &Visit, name: &str) -> Result<(), Problem> {
    let branch = name.strip_prefix("heads/").unwrap_or_default();
    let protected = visit.show(|_, repo| Ok(repo.protected.iter().any(|own| own == branch)))?;
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
