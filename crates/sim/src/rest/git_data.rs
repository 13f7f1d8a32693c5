//! What git holds, to be read: commits, trees and blobs.

use axum::{
    Json,
    http::HeaderMap,
    response::{IntoResponse as _, Response},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    git::{CommitObject, Depth, Entry},
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        contents::in_lines,
        media::Media,
        paging::Paging,
        visit::{Named, Visit},
    },
    state::{ChangedFile, Person, Repo, commit_id},
};

/// Where a list of commits begins, and which of them are wanted.
#[derive(Deserialize)]
pub(super) struct From {
    sha: Option<String>,
    path: Option<String>,
    /// A login, or an address.
    author: Option<String>,
    committer: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl From {
    /// What git is told to look for.
    fn options(&self, people: &[Person]) -> Vec<String> {
        let by = |option: &str, who: &String| {
            let person = people.iter().find(|person| person.login.eq_ignore_ascii_case(who));
            format!("--{option}={}", person.map_or(who, |person| &person.name))
        };
        let when = |option: &str, time: &Timestamp| format!("--{option}={time}");
        let mut options = vec!["--fixed-strings".to_owned()];
        options.extend(self.author.iter().map(|who| by("author", who)));
        options.extend(self.committer.iter().map(|who| by("committer", who)));
        options.extend(self.since.iter().map(|time| when("since", time)));
        options.extend(self.until.iter().map(|time| when("until", time)));
        options
    }
}

/// How deep a tree is asked for.
#[derive(Deserialize)]
pub(super) struct Deep {
    recursive: Option<String>,
}

/// `GET /repos/{owner}/{repo}/commits`
pub(super) async fn list_commits(
    visit: Visit,
    Query(from): Query<From>,
    paging: Paging,
) -> Result<Response, Problem> {
    let bare = visit.open().await?;
    let options = visit.show(|shape, _| Ok(from.options(&shape.state.people)))?;
    let (start, path) = (from.sha.as_deref().unwrap_or("HEAD"), from.path.as_deref());
    if bare.run(&["rev-parse", "--verify", "HEAD"]).await.is_err() {
        return Err(Problem::conflict("Git Repository is empty."));
    }
    let commits = bare.commits_that(start, 1000, &options, path).await.map_err(|_| Problem::not_found())?;
    visit.show(|shape, repo| {
        Ok(paging.answer(commits.iter().map(|commit| shape.commit(repo, commit)).collect()))
    })
}

/// `GET /repos/{owner}/{repo}/commits/{name}`, also as a diff, as a patch, or only its hash
pub(super) async fn show_commit(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let bare = visit.open().await?;
    let missing = || Problem::unprocessable(&format!("No commit found for SHA: {name}"));
    let commit = bare.commit(&name).await.map_err(|_| missing())?;
    let media = Media::read(&headers);
    let command: &[&str] = match &media {
        media if media.is("sha") => return Ok(media.answer(commit.oid)),
        media if media.is("diff") => &["show", "--format=", "--full-index", "-M"],
        media if media.is("patch") => &["format-patch", "-1", "--stdout", "--full-index"],
        _ => {
            let files = bare.changes(&commit).await.map_err(|_| missing())?;
            return visit
                .show(|shape, repo| Ok(Json(shape.whole_commit(repo, &commit, &files)).into_response()));
        }
    };
    let shown = bare.run(&[command, &[&commit.oid]].concat()).await.map_err(|_| missing())?;
    Ok(media.answer(shown))
}

/// `GET /repos/{owner}/{repo}/git/commits/{sha}`
pub(super) async fn show_commit_object(
    visit: Visit,
    Path(Named { name: oid }): Path<Named>,
) -> Result<Json<Value>, Problem> {
    let bare = visit.open().await?;
    let commit = bare.commit(&oid).await.map_err(|_| Problem::not_found())?;
    visit.show(|shape, repo| Ok(Json(shape.commit_object(repo, &commit))))
}

/// `GET /repos/{owner}/{repo}/git/trees/{sha}`
pub(super) async fn show_tree(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    Query(deep): Query<Deep>,
) -> Result<Json<Value>, Problem> {
    let bare = visit.open().await?;
    let missing = |_| Problem::not_found();
    let oid = bare.text(&["rev-parse", "--verify", &format!("{name}^{{tree}}")]).await.map_err(missing)?;
    let depth = if deep.recursive.is_some() { Depth::All } else { Depth::One };
    let entries = bare.tree(&oid, depth).await.map_err(missing)?;
    visit.show(|shape, repo| Ok(Json(tree_shape(&shape.repo_url(repo), &oid, &entries))))
}

/// `GET /repos/{owner}/{repo}/git/blobs/{sha}`
pub(super) async fn show_blob(
    visit: Visit,
    Path(Named { name: oid }): Path<Named>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let bare = visit.open().await?;
    let bytes = bare.run(&["cat-file", "blob", &oid]).await.map_err(|_| Problem::not_found())?;
    let media = Media::read(&headers);
    if media.is("raw") {
        return Ok(media.answer(bytes));
    }
    visit.show(|shape, repo| {
        Ok(Json(json!({
            "sha": oid,
            "node_id": format!("B_{oid}"),
            "size": bytes.len(),
            "url": format!("{}/git/blobs/{oid}", shape.repo_url(repo)),
            "content": in_lines(&bytes),
            "encoding": "base64",
        }))
        .into_response())
    })
}

/// A tree of the repository at this address.
pub(super) fn tree_shape(url: &str, oid: &str, entries: &[Entry]) -> Value {
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
    json!({ "sha": oid, "url": format!("{url}/git/trees/{oid}"), "tree": tree, "truncated": false })
}

impl Shape<'_> {
    /// A commit on its own, with what it changes.
    pub(super) fn whole_commit(&self, repo: &Repo, commit: &CommitObject, files: &[ChangedFile]) -> Value {
        let mut shape = self.commit(repo, commit);
        let (additions, deletions) =
            files.iter().fold((0, 0), |(plus, minus), file| (plus + file.additions, minus + file.deletions));
        shape["stats"] =
            json!({ "total": additions + deletions, "additions": additions, "deletions": deletions });
        shape["files"] = files.iter().map(|file| self.file(repo, &commit.oid, file)).collect();
        shape
    }

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
            "node_id": commit_id(repo.id, oid),
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
    pub(super) fn commit_object(&self, repo: &Repo, commit: &CommitObject) -> Value {
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
            "node_id": commit_id(repo.id, oid),
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
}
