//! What git holds: references, commits, trees and blobs.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State},
    http::StatusCode,
    response::Response,
};
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    git::{Bare, CommitObject, Depth},
    hub::Hub,
    problem::Problem,
    rest::{Shape, paging::Paging, parsed, seen},
    state::{Repo, Role},
};

type InRepo = Path<(String, String)>;
type OneInRepo = Path<(String, String, String)>;

/// Where a list of commits begins.
#[derive(Deserialize)]
pub(super) struct From {
    sha: Option<String>,
}

/// How deep a tree is asked for.
#[derive(Deserialize)]
pub(super) struct Deep {
    recursive: Option<String>,
}

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

#[derive(Deserialize)]
struct NewBlob {
    content: String,
    encoding: Option<String>,
}

/// `GET /repos/{owner}/{repo}/commits`
pub(super) async fn list_commits(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo)): InRepo,
    Query(from): Query<From>,
    paging: Paging,
) -> Result<Response, Problem> {
    let (bare, name) = opened(&hub, &caller, &owner, &repo).await?;
    let from = from.sha.unwrap_or_else(|| "HEAD".to_owned());
    let commits = bare.commits(&from, 1000).await.map_err(|_| Problem::not_found())?;
    shaped(&hub, &caller, &name, |shape, repo| {
        paging.answer(commits.iter().map(|commit| shape.commit(repo, commit)).collect())
    })
}

/// `GET /repos/{owner}/{repo}/commits/{name}`
pub(super) async fn show_commit(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, name)): OneInRepo,
) -> Result<Json<Value>, Problem> {
    let (bare, full_name) = opened(&hub, &caller, &owner, &repo).await?;
    let missing = || Problem::unprocessable(&format!("No commit found for SHA: {name}"));
    let commit = bare.commit(&name).await.map_err(|_| missing())?;
    shaped(&hub, &caller, &full_name, |shape, repo| Json(shape.commit(repo, &commit)))
}

/// `GET /repos/{owner}/{repo}/git/commits/{sha}`
pub(super) async fn show_commit_object(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, oid)): OneInRepo,
) -> Result<Json<Value>, Problem> {
    let (bare, full_name) = opened(&hub, &caller, &owner, &repo).await?;
    let commit = bare.commit(&oid).await.map_err(|_| Problem::not_found())?;
    shaped(&hub, &caller, &full_name, |shape, repo| Json(shape.commit_object(repo, &commit)))
}

/// `GET /repos/{owner}/{repo}/git/trees/{sha}`
pub(super) async fn show_tree(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, name)): OneInRepo,
    Query(deep): Query<Deep>,
) -> Result<Json<Value>, Problem> {
    let (bare, full_name) = opened(&hub, &caller, &owner, &repo).await?;
    let missing = |_| Problem::not_found();
    let oid = bare.text(&["rev-parse", "--verify", &format!("{name}^{{tree}}")]).await.map_err(missing)?;
    let depth = if deep.recursive.is_some() { Depth::All } else { Depth::One };
    let entries = bare.tree(&oid, depth).await.map_err(missing)?;
    shaped(&hub, &caller, &full_name, |shape, repo| {
        let url = shape.repo_url(repo);
        let tree = entries.iter().map(|entry| {
            let (kind, oid) = (&entry.kind, &entry.oid);
            let mut shape = json!({
                "path": entry.path,
                "mode": entry.mode,
                "type": kind,
                "sha": oid,
                "url": format!("{url}/git/{kind}s/{oid}"),
            });
            if let Some(size) = entry.size {
                shape["size"] = size.into();
            }
            shape
        });
        let tree: Vec<_> = tree.collect();
        Json(json!({ "sha": oid, "url": format!("{url}/git/trees/{oid}"), "tree": tree, "truncated": false }))
    })
}

/// `GET /repos/{owner}/{repo}/git/blobs/{sha}`
pub(super) async fn show_blob(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, oid)): OneInRepo,
) -> Result<Json<Value>, Problem> {
    let (bare, full_name) = opened(&hub, &caller, &owner, &repo).await?;
    let bytes = bare.run(&["cat-file", "blob", &oid]).await.map_err(|_| Problem::not_found())?;
    shaped(&hub, &caller, &full_name, |shape, repo| {
        Json(json!({
            "sha": oid,
            "node_id": format!("B_{oid}"),
            "size": bytes.len(),
            "url": format!("{}/git/blobs/{oid}", shape.repo_url(repo)),
            "content": BASE64.encode(&bytes),
            "encoding": "base64",
        }))
    })
}

/// `POST /repos/{owner}/{repo}/git/blobs`
pub(super) async fn create_blob(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo)): InRepo,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (bare, full_name) = writable(&hub, &caller, &owner, &repo).await?;
    let draft: NewBlob = parsed(&body)?;
    let bytes = match draft.encoding.as_deref() {
        Some("base64") => BASE64.decode(draft.content.as_bytes()).map_err(|_| Problem::no_json())?,
        _ => draft.content.into_bytes(),
    };
    let said = bare.feed(&["hash-object", "-w", "--stdin"], &bytes).await;
    let oid = said.map_err(|_| Problem::not_found())?;
    let oid = String::from_utf8_lossy(&oid).trim().to_owned();
    shaped(&hub, &caller, &full_name, |shape, repo| {
        let url = format!("{}/git/blobs/{oid}", shape.repo_url(repo));
        (StatusCode::CREATED, Json(json!({ "sha": oid, "url": url })))
    })
}

/// `GET /repos/{owner}/{repo}/git/ref/{name}`
pub(super) async fn show_reference(
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
pub(super) async fn matching_references(
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
pub(super) async fn create_reference(
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
pub(super) async fn move_reference(
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
pub(super) async fn delete_reference(
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

/// Opens a repository that the caller can see, and tells its full name.
pub(super) async fn opened(
    hub: &Hub,
    caller: &Caller,
    owner: &str,
    repo: &str,
) -> Result<(Bare, String), Problem> {
    let asked = format!("{owner}/{repo}");
    let full_name = hub.read(|state| seen(state.repo(&asked), caller).map(Repo::full_name))?;
    let bare = hub.git.open(&full_name).await.map_err(|_| Problem::not_found())?;
    Ok((bare, full_name))
}

/// Opens a repository that the caller may push to.
async fn writable(hub: &Hub, caller: &Caller, owner: &str, repo: &str) -> Result<(Bare, String), Problem> {
    caller.login()?;
    let (bare, full_name) = opened(hub, caller, owner, repo).await?;
    let may = hub.read(|state| state.repo(&full_name).is_some_and(|repo| caller.has(Role::Write, repo)));
    // Who may not push is told that there is nothing.
    if may { Ok((bare, full_name)) } else { Err(Problem::not_found()) }
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

/// Draws something of a repository that was looked up before.
pub(super) fn shaped<T>(
    hub: &Hub,
    caller: &Caller,
    full_name: &str,
    draw: impl FnOnce(Shape<'_>, &Repo) -> T,
) -> Result<T, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(full_name), caller)?;
        Ok(draw(Shape { state, address: &hub.address }, repo))
    })
}

impl Shape<'_> {
    /// A commit with the accounts behind it.
    pub(super) fn commit(&self, repo: &Repo, commit: &CommitObject) -> Value {
        let CommitObject { oid, .. } = commit;
        let (url, page) = (self.repo_url(repo), format!("{}/{}", self.address, repo.full_name()));
        let account = |name: &str| {
            let person = self.state.people.iter().find(|person| person.name == name);
            person.map(|person| self.person(person))
        };
        let parents = commit.parents.iter().map(|parent| {
            json!({
                "sha": parent,
                "url": format!("{url}/commits/{parent}"),
                "html_url": format!("{page}/commit/{parent}"),
            })
        });
        let parents: Vec<_> = parents.collect();
        let mut inner = self.commit_object(repo, commit);
        if let Some(fields) = inner.as_object_mut() {
            fields.retain(|name, _| {
                ["author", "committer", "message", "tree", "verification"].contains(&name.as_str())
            });
        }
        inner["url"] = format!("{url}/git/commits/{oid}").into();
        inner["comment_count"] = 0.into();
        json!({
            "sha": oid,
            "node_id": format!("C_{oid}"),
            "commit": inner,
            "url": format!("{url}/commits/{oid}"),
            "html_url": format!("{page}/commit/{oid}"),
            "comments_url": format!("{url}/commits/{oid}/comments"),
            "author": account(&commit.author.name),
            "committer": account(&commit.committer.name),
            "parents": parents,
        })
    }

    /// A commit as git has it.
    fn commit_object(&self, repo: &Repo, commit: &CommitObject) -> Value {
        let CommitObject { oid, tree, author, committer, .. } = commit;
        let (url, page) = (self.repo_url(repo), format!("{}/{}", self.address, repo.full_name()));
        let parents = commit.parents.iter().map(|parent| {
            json!({
                "sha": parent,
                "url": format!("{url}/git/commits/{parent}"),
                "html_url": format!("{page}/commit/{parent}"),
            })
        });
        let parents: Vec<_> = parents.collect();
        json!({
            "sha": oid,
            "node_id": format!("C_{oid}"),
            "url": format!("{url}/git/commits/{oid}"),
            "html_url": format!("{page}/commit/{oid}"),
            "author": { "name": author.name, "email": author.email, "date": author.date },
            "committer": { "name": committer.name, "email": committer.email, "date": committer.date },
            "tree": { "sha": tree, "url": format!("{url}/git/trees/{tree}") },
            "message": commit.message,
            "parents": parents,
            "verification": {
                "verified": false,
                "reason": "unsigned",
                "signature": null,
                "payload": null,
                "verified_at": null,
            },
        })
    }

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
