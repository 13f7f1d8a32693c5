//! New objects for git: blobs, trees of them, and commits of trees.

use axum::{Json, body::Bytes, http::StatusCode};
use data_encoding::BASE64;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    git::{Bare, CommitObject, Depth, answer},
    problem::Problem,
    rest::{git_data::tree_shape, parsed, visit::Visit},
};

#[derive(Deserialize)]
struct NewBlob {
    content: String,
    encoding: Option<String>,
}

#[derive(Deserialize)]
struct NewTree {
    base_tree: Option<String>,
    tree: Vec<NewEntry>,
}

/// A file by its contents or by its blob; one without either is taken away.
#[derive(Deserialize)]
struct NewEntry {
    path: String,
    mode: String,
    sha: Option<String>,
    content: Option<String>,
}

/// A commit of a tree that there is.
#[derive(Deserialize)]
pub(super) struct NewCommit {
    pub(super) message: String,
    pub(super) tree: String,
    #[serde(default)]
    pub(super) parents: Vec<String>,
    pub(super) author: Option<NewSignature>,
    pub(super) committer: Option<NewSignature>,
}

/// Who made a commit, if it is not whoever asks.
#[derive(Deserialize, Clone)]
pub(super) struct NewSignature {
    name: String,
    email: String,
    date: Option<Timestamp>,
}

/// `POST /repos/{owner}/{repo}/git/blobs`
pub(super) async fn create_blob(visit: Visit, body: Bytes) -> Result<(StatusCode, Json<Value>), Problem> {
    let bare = visit.open_to_write().await?;
    let draft: NewBlob = parsed(&body)?;
    let bytes = match draft.encoding.as_deref() {
        Some("base64") => BASE64.decode(draft.content.as_bytes()).map_err(|_| Problem::no_json())?,
        _ => draft.content.into_bytes(),
    };
    let oid = hashed(&bare, &bytes).await?;
    visit.show(|shape, repo| {
        let url = format!("{}/git/blobs/{oid}", shape.repo_url(repo));
        Ok((StatusCode::CREATED, Json(json!({ "sha": oid, "url": url }))))
    })
}

/// `POST /repos/{owner}/{repo}/git/trees`
pub(super) async fn create_tree(visit: Visit, body: Bytes) -> Result<(StatusCode, Json<Value>), Problem> {
    let bare = visit.open_to_write().await?;
    let NewTree { base_tree, tree } = parsed(&body)?;
    let folder = tempfile::tempdir().map_err(|_| Problem::not_found())?;
    let staged = bare.staged(folder.path().join("index"));
    let invalid = |_| Problem::unprocessable("tree.sha is not a valid tree");
    staged.run(&["read-tree", base_tree.as_deref().unwrap_or("--empty")]).await.map_err(invalid)?;
    let mut entries = Vec::new();
    for NewEntry { path, mode, sha, content } in tree {
        let (mode, oid) = match (sha, content) {
            (_, Some(content)) => (mode, hashed(&bare, content.as_bytes()).await?),
            (Some(sha), None) => (mode, sha),
            (None, None) => ("0".to_owned(), "0".repeat(40)),
        };
        entries.push(format!("{mode} {oid}\t{path}\n"));
    }
    staged.feed(&["update-index", "--index-info"], entries.concat().as_bytes()).await.map_err(invalid)?;
    let oid = staged.text(&["write-tree"]).await.map_err(invalid)?;
    let entries = bare.tree(&oid, Depth::One).await.map_err(invalid)?;
    visit.show(|shape, repo| {
        Ok((StatusCode::CREATED, Json(tree_shape(&shape.repo_url(repo), &oid, &entries))))
    })
}

/// `POST /repos/{owner}/{repo}/git/commits`
pub(super) async fn create_commit(visit: Visit, body: Bytes) -> Result<(StatusCode, Json<Value>), Problem> {
    let bare = visit.open_to_write().await?;
    let commit = committed(&visit, &bare, parsed(&body)?).await?;
    visit.show(|shape, repo| Ok((StatusCode::CREATED, Json(shape.commit_object(repo, &commit)))))
}

/// Makes a commit, of whoever asks unless it says otherwise.
pub(super) async fn committed(
    visit: &Visit,
    bare: &Bare,
    wanted: NewCommit,
) -> Result<CommitObject, Problem> {
    let NewCommit { message, tree, parents, author, committer } = wanted;
    let (name, email) = visit.hub.read(|state| {
        let person = visit.login().ok().and_then(|login| state.person(login));
        let known = person.map(|person| (person.name.clone(), person.id, person.login.clone()));
        let (name, id, login) = known.unwrap_or_default();
        (name, format!("{id}+{login}@users.noreply.github.com"))
    });
    let own = NewSignature { name, email, date: None };
    // Without a committer of its own, the author is that too.
    let author = author.unwrap_or(own);
    let committer = committer.unwrap_or_else(|| author.clone());
    let mut command = bare.git();
    for (role, NewSignature { name, email, date }) in [("AUTHOR", author), ("COMMITTER", committer)] {
        command.env(format!("GIT_{role}_NAME"), name).env(format!("GIT_{role}_EMAIL"), email);
        if let Some(date) = date {
            command.env(format!("GIT_{role}_DATE"), format!("{} +0000", date.as_second()));
        }
    }
    command.args(["commit-tree", &tree, "-m", &message]);
    for parent in &parents {
        command.args(["-p", parent]);
    }
    let invalid = |_| Problem::unprocessable("Tree SHA does not exist");
    let said = answer(&mut command, b"").await.map_err(invalid)?;
    let oid = String::from_utf8_lossy(&said).trim().to_owned();
    bare.commit(&oid).await.map_err(invalid)
}

/// Stores contents and returns their name.
pub(super) async fn hashed(bare: &Bare, bytes: &[u8]) -> Result<String, Problem> {
    let said = bare.feed(&["hash-object", "-w", "--stdin"], bytes).await;
    let oid = said.map_err(|_| Problem::unprocessable("the contents cannot be stored"))?;
    Ok(String::from_utf8_lossy(&oid).trim().to_owned())
}
