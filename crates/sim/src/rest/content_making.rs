//! Files that are written or deleted one at a time, each by a commit of its own.

use axum::{Json, body::Bytes, http::StatusCode};
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    git::Bare,
    problem::Problem,
    rest::{
        Shape,
        address::Path,
        git_making::{NewCommit, NewSignature, committed, hashed},
        parsed,
        references::unprotected,
        visit::{Named, Visit},
    },
};

/// A file as it shall be.
#[derive(Deserialize)]
struct Written {
    message: Option<String>,
    /// In base64; none if the file is deleted.
    content: Option<String>,
    /// The blob that it is now, if there is one.
    sha: Option<String>,
    branch: Option<String>,
    author: Option<NewSignature>,
    committer: Option<NewSignature>,
}

/// `PUT /repos/{owner}/{repo}/contents/{path}`
pub(super) async fn write(
    visit: Visit,
    Path(Named { name: path }): Path<Named>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let bare = visit.open_to_write().await?;
    let mut wanted: Written = parsed(&body)?;
    let text = wanted.content.take().ok_or_else(|| Problem::not_supplied("content"))?;
    let text: String = text.split_whitespace().collect();
    let bytes = BASE64.decode(text.as_bytes());
    let bytes = bytes.map_err(|_| Problem::unprocessable("content is not valid Base64"))?;
    let oid = hashed(&bare, &bytes).await?;
    let (known, branch, commit) = changed(&visit, &bare, &path, wanted, Some(&oid)).await?;
    let entry = bare.entry(&commit, &path).await.map_err(|_| Problem::not_found())?;
    let status = if known { StatusCode::OK } else { StatusCode::CREATED };
    let commit = drawn(&visit, &bare, &commit).await?;
    visit.show(|shape, repo| {
        Ok((status, Json(json!({ "content": shape.content(repo, &branch, &entry), "commit": commit }))))
    })
}

/// `DELETE /repos/{owner}/{repo}/contents/{path}`
pub(super) async fn delete(
    visit: Visit,
    Path(Named { name: path }): Path<Named>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let bare = visit.open_to_write().await?;
    let wanted: Written = parsed(&body)?;
    let (.., commit) = changed(&visit, &bare, &path, wanted, None).await?;
    Ok(Json(json!({ "content": null, "commit": drawn(&visit, &bare, &commit).await? })))
}

/// Commits a file with these contents, or without it; returns whether it was there, the branch and the commit.
async fn changed(
    visit: &Visit,
    bare: &Bare,
    path: &str,
    wanted: Written,
    oid: Option<&str>,
) -> Result<(bool, String, String), Problem> {
    let message = wanted.message.ok_or_else(|| Problem::not_supplied("message"))?;
    let main = visit.show(|_, repo| Ok(repo.default_branch.clone()))?;
    let branch = wanted.branch.unwrap_or(main);
    let tip = bare.tip(&branch).await.map_err(|_| Problem::missing(&format!("Branch {branch} not found")))?;
    unprotected(visit, &format!("heads/{branch}"))?;
    let before = bare.entry(&tip, path).await.ok().map(|entry| entry.oid);
    match (&before, &wanted.sha) {
        (Some(_), None) => return Err(Problem::not_supplied("sha")),
        (Some(before), Some(said)) if before != said => {
            return Err(Problem::conflict(&format!("{path} does not match {said}")));
        }
        (None, _) if oid.is_none() => return Err(Problem::not_found()),
        (_, _) => {}
    }
    let invalid = |_| Problem::unprocessable("path contains a malformed path component");
    let folder = tempfile::tempdir().map_err(|_| Problem::not_found())?;
    let staged = bare.staged(folder.path().join("index"));
    staged.run(&["read-tree", &tip]).await.map_err(invalid)?;
    let gone = "0".repeat(40);
    let (mode, oid) = oid.map_or(("0", gone.as_str()), |oid| ("100644", oid));
    let entry = format!("{mode} {oid}\t{path}\n");
    staged.feed(&["update-index", "--index-info"], entry.as_bytes()).await.map_err(invalid)?;
    let tree = staged.text(&["write-tree"]).await.map_err(invalid)?;
    let (parents, author, committer) = (vec![tip.clone()], wanted.author, wanted.committer);
    let commit = committed(visit, bare, NewCommit { message, tree, parents, author, committer }).await?;
    bare.run(&["update-ref", &format!("refs/heads/{branch}"), &commit.oid, &tip]).await.map_err(invalid)?;
    crate::git::pushed(&visit.hub, &visit.full_name, visit.login()?).await.map_err(invalid)?;
    Ok((before.is_some(), branch, commit.oid))
}

async fn drawn(visit: &Visit, bare: &Bare, oid: &str) -> Result<Value, Problem> {
    let commit = bare.commit(oid).await.map_err(|_| Problem::not_found())?;
    visit.show(|shape: Shape<'_>, repo| Ok(shape.commit_object(repo, &commit)))
}
