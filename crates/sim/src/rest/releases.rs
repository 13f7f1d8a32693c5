//! Releases and their files.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    downloads,
    hub::Hub,
    problem::Problem,
    rest::{Shape, paging::Paging, seen, timestamp},
    state::{Asset, Release, Repo},
};

/// `GET /repos/{owner}/{repo}/releases`
pub(super) async fn list(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo)): Path<(String, String)>,
    paging: Paging,
) -> Result<Response, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        let shape = Shape { state, address: &hub.address };
        Ok(paging.answer(repo.releases.iter().rev().map(|release| shape.release(repo, release)).collect()))
    })
}

/// `GET /repos/{owner}/{repo}/releases/latest`
pub(super) async fn latest(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    shown(&hub, &caller, &format!("{owner}/{repo}"), |_| true)
}

/// `GET /repos/{owner}/{repo}/releases/tags/{tag}`
pub(super) async fn tagged(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, tag)): Path<(String, String, String)>,
) -> Result<Json<Value>, Problem> {
    shown(&hub, &caller, &format!("{owner}/{repo}"), |release| release.tag == tag)
}

/// `GET /repos/{owner}/{repo}/releases/assets/{asset}`: what it is, or where its contents are.
pub(super) async fn asset(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): Path<(String, String, u64)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        let all =
            repo.releases.iter().flat_map(|release| release.assets.iter().map(move |own| (release, own)));
        let (release, asset) =
            all.into_iter().find(|(_, own)| own.id == id).ok_or_else(Problem::not_found)?;
        if accepted.contains("application/octet-stream") {
            return Ok(downloads::elsewhere(&hub, &asset.name, &asset.file));
        }
        Ok(Json(Shape { state, address: &hub.address }.asset(repo, release, asset)).into_response())
    })
}

/// The newest release that is meant.
fn shown(
    hub: &Hub,
    caller: &Caller,
    full_name: &str,
    meant: impl Fn(&&Release) -> bool,
) -> Result<Json<Value>, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(full_name), caller)?;
        let release = repo.releases.iter().rev().find(meant).ok_or_else(Problem::not_found)?;
        Ok(Json(Shape { state, address: &hub.address }.release(repo, release)))
    })
}

impl Shape<'_> {
    fn release(&self, repo: &Repo, release: &Release) -> Value {
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
            "draft": false,
            "prerelease": false,
            "author": self.user(&release.author),
            "created_at": timestamp(release.created_at),
            "published_at": timestamp(release.created_at),
            "assets": assets,
        })
    }

    fn asset(&self, repo: &Repo, release: &Release, asset: &Asset) -> Value {
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
