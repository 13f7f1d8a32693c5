//! Releases and their files.

use axum::{
    Json,
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    downloads,
    problem::Problem,
    rest::{
        Shape,
        address::Path,
        paging::Paging,
        timestamp,
        visit::{Named, Visit},
    },
    state::{Asset, Release, Repo, Role},
};

/// `{asset}` in an address.
#[derive(Deserialize)]
pub(super) struct OneAsset {
    pub(super) asset: u64,
}

/// `GET /repos/{owner}/{repo}/releases`
pub(super) async fn list(visit: Visit, paging: Paging) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let pushes = visit.caller.has(Role::Write, repo);
        let seen = repo.releases.iter().rev().filter(|release| pushes || !release.draft);
        Ok(paging.answer(seen.map(|release| shape.release(repo, release)).collect()))
    })
}

/// `GET /repos/{owner}/{repo}/releases/latest`
pub(super) async fn latest(visit: Visit) -> Result<Json<Value>, Problem> {
    shown(&visit, |release| !release.draft)
}

/// `GET /repos/{owner}/{repo}/releases/tags/{tag}`
pub(super) async fn tagged(visit: Visit, Path(Named { name }): Path<Named>) -> Result<Json<Value>, Problem> {
    shown(&visit, |release| !release.draft && release.tag == name)
}

/// `GET /repos/{owner}/{repo}/releases/assets/{asset}`: what it is, or where its contents are.
pub(super) async fn asset(
    visit: Visit,
    Path(OneAsset { asset: id }): Path<OneAsset>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    visit.show(|shape, repo| {
        let all =
            repo.releases.iter().flat_map(|release| release.assets.iter().map(move |own| (release, own)));
        let (release, asset) =
            all.into_iter().find(|(_, own)| own.id == id).ok_or_else(Problem::not_found)?;
        if accepted.contains("application/octet-stream") {
            return Ok(downloads::elsewhere(&visit.hub, &asset.name, &asset.file));
        }
        Ok(Json(shape.asset(repo, release, asset)).into_response())
    })
}

/// The newest release that is meant.
fn shown(visit: &Visit, meant: impl Fn(&&Release) -> bool) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| {
        let release = repo.releases.iter().rev().find(meant).ok_or_else(Problem::not_found)?;
        Ok(Json(shape.release(repo, release)))
    })
}

impl Shape<'_> {
    pub(super) fn release(&self, repo: &Repo, release: &Release) -> Value {
        let Release { id, tag, .. } = release;
        let (url, page) = (self.repo_url(repo), format!("{}/{}", self.address, repo.full_name()));
        let assets: Vec<_> = release.assets.iter().map(|asset| self.asset(repo, release, asset)).collect();
        json!({
            "id": id,
            "node_id": format!("RE_{id}"),
            "url": format!("{url}/releases/{id}"),
            "html_url": format!("{page}/releases/tag/{tag}"),
            "assets_url": format!("{url}/releases/{id}/assets"),
            "upload_url": format!("{url}/releases/{id}/assets{{?name,label}}"),
            "tarball_url": format!("{url}/tarball/{tag}"),
            "zipball_url": format!("{url}/zipball/{tag}"),
            "tag_name": tag,
            "target_commitish": repo.default_branch,
            "name": release.name,
            "body": release.body,
            "draft": release.draft,
            "prerelease": false,
            "author": self.user(&release.author),
            "created_at": timestamp(release.created_at),
            "published_at": (!release.draft).then(|| timestamp(release.created_at)),
            "assets": assets,
        })
    }

    pub(super) fn asset(&self, repo: &Repo, release: &Release, asset: &Asset) -> Value {
        let (page, name) = (format!("{}/{}", self.address, repo.full_name()), &asset.name);
        json!({
            "id": asset.id,
            "node_id": format!("RA_{}", asset.id),
            "url": format!("{}/releases/assets/{}", self.repo_url(repo), asset.id),
            "browser_download_url": format!("{page}/releases/download/{}/{name}", release.tag),
            "name": name,
            "label": null,
            "state": "uploaded",
            "content_type": asset.file.kind,
            "size": asset.file.bytes.len(),
            "digest": null,
            "download_count": 0,
            "uploader": self.user(&release.author),
            "created_at": timestamp(release.created_at),
            "updated_at": timestamp(release.created_at),
        })
    }
}
