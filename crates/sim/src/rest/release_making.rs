//! New releases: a draft or a published one, its files, and publishing it.

use axum::{
    Json,
    body::Bytes,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        address::{Path, Query},
        paging::Paging,
        parsed,
        releases::OneAsset,
        visit::Visit,
    },
    state::{Asset, File, Release},
};

/// `{release}` in an address.
#[derive(Deserialize)]
pub(super) struct OneRelease {
    release: u64,
}

/// What a release is to be; what is not said stays as it is.
#[derive(Deserialize)]
struct ReleaseDraft {
    tag_name: Option<String>,
    target_commitish: Option<String>,
    name: Option<String>,
    body: Option<String>,
    draft: Option<bool>,
}

/// What a file is called.
#[derive(Deserialize)]
pub(super) struct AssetName {
    name: String,
}

/// `POST /repos/{owner}/{repo}/releases`
pub(super) async fn create(visit: Visit, body: Bytes) -> Result<(StatusCode, Json<Value>), Problem> {
    visit.open_to_write().await?;
    let draft: ReleaseDraft = parsed(&body)?;
    let tag = draft.tag_name.clone().ok_or_else(|| Problem::not_supplied("tag_name"))?;
    let published = draft.draft != Some(true);
    let taken =
        visit.show(|_, repo| Ok(repo.releases.iter().any(|release| !release.draft && release.tag == tag)))?;
    if published && taken {
        return Err(Problem::invalid(
            json!({ "resource": "Release", "code": "already_exists", "field": "tag_name" }),
        ));
    }
    if published {
        tagged(&visit, &tag, draft.target_commitish.as_deref()).await?;
    }
    let author = visit.login()?.to_owned();
    let id = visit.change(|state| {
        let (id, created_at) = (state.next_id(), state.clock.now());
        let (name, body) = (draft.name.unwrap_or_default(), draft.body.unwrap_or_default());
        let release =
            Release { id, tag, name, body, author, draft: !published, created_at, assets: Vec::new() };
        visit.repo_mut(state)?.releases.push(release);
        Ok(id)
    })?;
    Ok((StatusCode::CREATED, drawn(&visit, id)?))
}

/// `GET /repos/{owner}/{repo}/releases/{release}`
pub(super) async fn show(visit: Visit, Path(one): Path<OneRelease>) -> Result<Json<Value>, Problem> {
    drawn(&visit, one.release)
}

/// `PATCH /repos/{owner}/{repo}/releases/{release}`
pub(super) async fn update(
    visit: Visit,
    Path(OneRelease { release: id }): Path<OneRelease>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    visit.open_to_write().await?;
    let draft: ReleaseDraft = parsed(&body)?;
    let tag = visit.change(|state| {
        let mut all = visit.repo_mut(state)?.releases.iter_mut();
        let release = all.find(|release| release.id == id).ok_or_else(Problem::not_found)?;
        release.tag = draft.tag_name.unwrap_or_else(|| release.tag.clone());
        release.name = draft.name.unwrap_or_else(|| release.name.clone());
        release.body = draft.body.unwrap_or_else(|| release.body.clone());
        release.draft = draft.draft.unwrap_or(release.draft);
        Ok((!release.draft).then(|| release.tag.clone()))
    })?;
    if let Some(tag) = tag {
        tagged(&visit, &tag, draft.target_commitish.as_deref()).await?;
    }
    drawn(&visit, id)
}

/// `POST /repos/{owner}/{repo}/releases/{release}/assets`, which GitHub has at a host of its own
pub(super) async fn upload(
    visit: Visit,
    Path(OneRelease { release: id }): Path<OneRelease>,
    Query(AssetName { name }): Query<AssetName>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    visit.open_to_write().await?;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let file = File::new(kind, body);
    visit.change(|state| {
        let asset = Asset { id: state.next_id(), name, file };
        let mut all = visit.repo_mut(state)?.releases.iter_mut();
        let release = all.find(|release| release.id == id).ok_or_else(Problem::not_found)?;
        if release.assets.iter().any(|own| own.name == asset.name) {
            let error = json!({ "resource": "ReleaseAsset", "code": "already_exists", "field": "name" });
            return Err(Problem::invalid(error));
        }
        release.assets.push(asset.clone());
        let release = release.clone();
        let (shape, repo) = visit.view(state)?;
        Ok((StatusCode::CREATED, Json(shape.asset(repo, &release, &asset))))
    })
}

/// `DELETE /repos/{owner}/{repo}/releases/{release}`; its tag stays.
pub(super) async fn delete(
    visit: Visit,
    Path(OneRelease { release: id }): Path<OneRelease>,
) -> Result<StatusCode, Problem> {
    visit.open_to_write().await?;
    visit.change(|state| {
        let releases = &mut visit.repo_mut(state)?.releases;
        let place = releases.iter().position(|release| release.id == id).ok_or_else(Problem::not_found)?;
        releases.remove(place);
        Ok(StatusCode::NO_CONTENT)
    })
}

/// `GET /repos/{owner}/{repo}/releases/{release}/assets`
pub(super) async fn assets(
    visit: Visit,
    Path(OneRelease { release: id }): Path<OneRelease>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let release = repo.releases.iter().find(|release| release.id == id).ok_or_else(Problem::not_found)?;
        Ok(paging.answer(release.assets.iter().map(|asset| shape.asset(repo, release, asset)).collect()))
    })
}

/// `DELETE /repos/{owner}/{repo}/releases/assets/{asset}`
pub(super) async fn delete_asset(
    visit: Visit,
    Path(OneAsset { asset: id }): Path<OneAsset>,
) -> Result<StatusCode, Problem> {
    visit.open_to_write().await?;
    visit.change(|state| {
        let mut all = visit.repo_mut(state)?.releases.iter_mut();
        let release = all.find(|release| release.assets.iter().any(|own| own.id == id));
        release.ok_or_else(Problem::not_found)?.assets.retain(|own| own.id != id);
        Ok(StatusCode::NO_CONTENT)
    })
}

fn drawn(visit: &Visit, id: u64) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| {
        let release = repo.releases.iter().find(|release| release.id == id).ok_or_else(Problem::not_found)?;
        Ok(Json(shape.release(repo, release)))
    })
}

/// Makes the tag, unless it is there.
async fn tagged(visit: &Visit, tag: &str, target: Option<&str>) -> Result<(), Problem> {
    let (bare, name) = (visit.open().await?, format!("refs/tags/{tag}"));
    if bare.run(&["rev-parse", "--verify", "--quiet", &name]).await.is_ok() {
        return Ok(());
    }
    let invalid = |_| {
        Problem::invalid(json!({ "resource": "Release", "code": "invalid", "field": "target_commitish" }))
    };
    let commit = bare.commit(target.unwrap_or("HEAD")).await.map_err(invalid)?;
    bare.run(&["update-ref", &name, &commit.oid]).await.map(drop).map_err(invalid)
}
