//! Files and folders of a branch.

use axum::{
    Json,
    http::HeaderMap,
    response::{IntoResponse as _, Response},
};
use data_encoding::BASE64;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    git::{Depth, Entry},
    page::markdown,
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        media::Media,
        visit::{Named, Visit},
    },
    state::Repo,
};

/// A file over so many bytes is told without its contents.
const LARGEST: usize = 1_000_000;
/// What is written in another way where a path is part of an address.
pub(crate) const IN_A_PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}');
/// The mode of a symbolic link.
const LINK: &str = "120000";

/// Of which branch or commit.
#[derive(Deserialize)]
pub(super) struct Of {
    #[serde(rename = "ref")]
    pub(super) name: Option<String>,
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
        let tree = bare.text(&["rev-parse", &object]).await.map_err(missing)?;
        return visit.show(|shape, repo| {
            let media = Media::read(headers);
            let below = |entry: &Entry| Entry {
                mode: entry.mode.clone(),
                kind: entry.kind.clone(),
                oid: entry.oid.clone(),
                size: entry.size,
                path: format!("{path}/{}", entry.path).trim_start_matches('/').to_owned(),
            };
            let contents = entries.iter().map(|entry| shape.content(repo, &name, &below(entry)));
            let contents: Vec<_> = contents.collect();
            if !media.is("object") {
                return Ok(Json(contents).into_response());
            }
            let (mode, kind) = ("040000".to_owned(), "tree".to_owned());
            let folder = Entry { mode, kind, oid: tree, size: None, path: path.to_owned() };
            let mut shape = shape.content(repo, &name, &folder);
            shape["entries"] = contents.into();
            Ok(Json(shape).into_response())
        });
    }
    let bytes = bare.run(&["cat-file", "blob", &object]).await.map_err(missing)?;
    let media = Media::read(headers);
    if media.is("raw") {
        return Ok(media.answer(bytes));
    }
    if media.is("html") {
        return Ok(media.answer(markdown::to_html(&String::from_utf8_lossy(&bytes))));
    }
    let entry = bare.entry(&name, path).await.map_err(missing)?;
    visit.show(|shape, repo| {
        let mut shape = shape.content(repo, &name, &entry);
        // A file over a megabyte is told without its contents.
        let small = bytes.len() <= LARGEST;
        shape["content"] = if small { in_lines(&bytes) } else { String::new() }.into();
        shape["encoding"] = if small { "base64" } else { "none" }.into();
        if entry.mode == LINK {
            shape["target"] = String::from_utf8_lossy(&bytes).into();
            if let Some(fields) = shape.as_object_mut() {
                fields.retain(|name, _| name != "content" && name != "encoding");
            }
        }
        Ok(Json(shape).into_response())
    })
}

/// Contents in lines of sixty letters, as GitHub writes them.
pub(super) fn in_lines(bytes: &[u8]) -> String {
    let text = BASE64.encode(bytes);
    let lines = text.as_bytes().chunks(60).map(|line| format!("{}\n", String::from_utf8_lossy(line)));
    lines.collect::<Vec<_>>().concat()
}

impl Shape<'_> {
    pub(super) fn content(&self, repo: &Repo, of: &str, entry: &Entry) -> Value {
        let Entry { path, oid, .. } = entry;
        let (url, page) = (self.repo_url(repo), format!("{}/{}", self.address, repo.full_name()));
        let (kind, view) = match (entry.kind.as_str(), entry.mode.as_str()) {
            ("tree", _) => ("dir", "tree"),
            ("commit", _) => ("submodule", "tree"),
            (_, LINK) => ("symlink", "blob"),
            _ => ("file", "blob"),
        };
        let place = utf8_percent_encode(path, IN_A_PATH);
        let own = format!("{url}/contents/{place}?ref={of}");
        let git = format!("{url}/git/{}s/{oid}", entry.kind);
        let html = format!("{page}/{view}/{of}/{place}");
        json!({
            "name": path.rsplit('/').next(),
            "path": path,
            "sha": oid,
            "size": entry.size.unwrap_or_default(),
            "type": kind,
            "url": own,
            "git_url": git,
            "html_url": html,
            "download_url": (view == "blob").then(|| format!("{page}/raw/{of}/{place}")),
            "_links": { "self": own, "git": git, "html": html },
        })
    }
}
