//! Files and folders of a branch.

use axum::{
    Json,
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    git::{Depth, Entry},
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        visit::{Named, Visit},
    },
    state::Repo,
};

/// Of which branch or commit.
#[derive(Deserialize)]
pub(super) struct Of {
    #[serde(rename = "ref")]
    name: Option<String>,
}

/// `GET /repos/{owner}/{repo}/readme`
pub(super) async fn readme(
    visit: Visit,
    Query(of): Query<Of>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    found(&visit, "README.md", of, &headers).await
}

/// `GET /repos/{owner}/{repo}/contents`
pub(super) async fn root(
    visit: Visit,
    Query(of): Query<Of>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    found(&visit, "", of, &headers).await
}

/// `GET /repos/{owner}/{repo}/contents/{path}`: a file with its contents, or what is in a folder.
pub(super) async fn show(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    Query(of): Query<Of>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    found(&visit, name.trim_matches('/'), of, &headers).await
}

async fn found(visit: &Visit, path: &str, of: Of, headers: &HeaderMap) -> Result<Response, Problem> {
    let bare = visit.open().await?;
    let name = of.name.unwrap_or_else(|| "HEAD".to_owned());
    let missing = |_| Problem::not_found();
    let object = format!("{name}:{path}");
    let kind = bare.text(&["cat-file", "-t", &object]).await.map_err(missing)?;
    if kind == "tree" {
        let entries = bare.tree(&object, Depth::One).await.map_err(missing)?;
        return visit.show(|shape, repo| {
            let below = |entry: &Entry| Entry {
                mode: entry.mode.clone(),
                kind: entry.kind.clone(),
                oid: entry.oid.clone(),
                size: entry.size,
                path: format!("{path}/{}", entry.path).trim_start_matches('/').to_owned(),
            };
            let contents = entries.iter().map(|entry| shape.content(repo, &name, &below(entry)));
            Ok(Json(contents.collect::<Vec<_>>()).into_response())
        });
    }
    let bytes = bare.run(&["cat-file", "blob", &object]).await.map_err(missing)?;
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepted.contains("raw") {
        return Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response());
    }
    let oid = bare.text(&["rev-parse", &object]).await.map_err(missing)?;
    let size = u64::try_from(bytes.len()).ok();
    let entry = Entry { mode: String::new(), kind: "blob".to_owned(), oid, size, path: path.to_owned() };
    visit.show(|shape, repo| {
        let mut shape = shape.content(repo, &name, &entry);
        shape["content"] = format!("{}\n", BASE64.encode(&bytes)).into();
        shape["encoding"] = "base64".into();
        Ok(Json(shape).into_response())
    })
}

impl Shape<'_> {
    fn content(&self, repo: &Repo, of: &str, entry: &Entry) -> Value {
        let Entry { path, oid, .. } = entry;
        let (url, page) = (self.repo_url(repo), format!("{}/{}", self.address, repo.full_name()));
        let (kind, view) = if entry.kind == "tree" { ("dir", "tree") } else { ("file", "blob") };
        let own = format!("{url}/contents/{path}?ref={of}");
        let git = format!("{url}/git/{}s/{oid}", entry.kind);
        let html = format!("{page}/{view}/{of}/{path}");
        json!({
            "name": path.rsplit('/').next(),
            "path": path,
            "sha": oid,
            "size": entry.size.unwrap_or_default(),
            "type": kind,
            "url": own,
            "git_url": git,
            "html_url": html,
            "download_url": (kind == "file").then(|| format!("{page}/raw/{of}/{path}")),
            "_links": { "self": own, "git": git, "html": html },
        })
    }
}
