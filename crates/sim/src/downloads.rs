//! Files beside the API: each address leads to a signed one at another host, which wants no token.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    routes::Routes,
    state::{self, File},
};

/// The routes of files.
pub(crate) fn routes() -> Routes {
    Routes::below("")
        .on("GET /user-attachments/assets/{id}", attachment)
        .on("GET /user-attachments/files/{id}/{name}", attached_file)
        .on("GET /{owner}/{repo}/releases/download/{tag}/{name}", asset)
        .on("GET /stored-files/{signature}/{name}", stored)
}

/// Leads to where a file is. The other host has another name, so that clients leave their tokens behind.
pub(crate) fn elsewhere(hub: &Hub, name: &str, file: &File) -> Response {
    let host = hub.address.replace("127.0.0.1", "localhost");
    let location = format!("{host}/stored-files/{}/{name}", file.signature);
    (StatusCode::FOUND, [(header::LOCATION, location)]).into_response()
}

async fn attachment(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    hub.read(|state| {
        let found = state.attachments.iter().find(|attachment| attachment.id == id);
        let seen = found.filter(|found| state.repo(&found.repo).is_some_and(|repo| caller.sees(repo)));
        let attachment = seen.ok_or_else(Problem::not_found)?;
        Ok(elsewhere(&hub, &attachment.name, &attachment.file))
    })
}

async fn attached_file(
    state: State<Arc<Hub>>,
    caller: Caller,
    Path((id, _)): Path<(String, String)>,
) -> Result<Response, Problem> {
    attachment(state, caller, Path(id)).await
}

async fn asset(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, tag, name)): Path<(String, String, String, String)>,
) -> Result<Response, Problem> {
    hub.read(|state| {
        let repo = state.repo(&format!("{owner}/{repo}")).filter(|repo| caller.sees(repo));
        let release = repo.and_then(|repo| repo.releases.iter().find(|release| release.tag == tag));
        let asset = release.and_then(|release| release.assets.iter().find(|asset| asset.name == name));
        let asset = asset.ok_or_else(Problem::not_found)?;
        Ok(elsewhere(&hub, &asset.name, &asset.file))
    })
}

/// The contents themselves. Like the real store, it refuses a token beside its signature.
async fn stored(
    State(hub): State<Arc<Hub>>,
    Path((signature, _)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if headers.contains_key(header::AUTHORIZATION) {
        return (StatusCode::BAD_REQUEST, "Only one auth mechanism allowed\n").into_response();
    }
    let found = hub.read(|state| all(state).find(|file| file.signature == signature).cloned());
    let Some(File { kind, bytes, .. }) = found else {
        return (StatusCode::FORBIDDEN, "Request has expired\n").into_response();
    };
    ([(header::CONTENT_TYPE, kind)], bytes).into_response()
}

fn all(state: &state::State) -> impl Iterator<Item = &File> {
    let assets = state.repos.iter().flat_map(|repo| &repo.releases).flat_map(|release| &release.assets);
    assets
        .map(|asset| &asset.file)
        .chain(state.attachments.iter().map(|attachment| &attachment.file))
        .chain(&state.stored)
}
