//! git over HTTP, used by git.

use std::{io, path::Path};

use fro_sim::{
    World,
    state::{Pull, State},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::client::ask;

/// Runs git in a folder with no settings of this machine; what it said, or what it complained of.
async fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .args(["-c", "user.name=Maya", "-c", "user.email=maya@garden.example"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env_remove("GIT_DIR")
        .output()
        .await
        .unwrap();
    let said = if output.status.success() { &output.stdout } else { &output.stderr };
    let said = String::from_utf8_lossy(said).trim().to_owned();
    if output.status.success() { Ok(said) } else { Err(said) }
}

/// The address of the garden, with somebody's token in it.
fn address(world: &World, login: &str) -> String {
    let token = world.token(login);
    world.clone_url("octo/garden").replace("://", &format!("://x-access-token:{token}@"))
}

/// A clone of the garden on the branch `new-seal`, by somebody.
async fn clone(world: &World, login: &str) -> io::Result<TempDir> {
    let folder = TempDir::new()?;
    git(folder.path(), &["clone", "--quiet", "--branch", "new-seal", &address(world, login), "."])
        .await
        .map_err(io::Error::other)?;
    Ok(folder)
}

async fn pull(world: &World, fields: &str) -> Value {
    let question = format!(
        "{{ repository(owner: \"octo\", name: \"garden\") {{ pullRequest(number: 2) {{ {fields} }} }} }}"
    );
    let (_, answer) = ask(world, "POST /graphql", "maya", json!({ "query": question })).await;
    answer["data"]["repository"]["pullRequest"].clone()
}

#[tokio::test]
async fn the_state_tells_what_git_tells() {
    let world = World::start().await.unwrap();
    let told = |state: &State| {
        let Pull { base_oid, head_oid, commits, files, .. } = state.issue("octo/garden", 2)?.pull.clone()?;
        Some((base_oid, head_oid, commits, files))
    };
    let before = world.state(told);
    let folder = clone(&world, "maya").await.unwrap();
    git(folder.path(), &["push", "--quiet", "origin", "HEAD:refs/heads/other"]).await.unwrap();
    // A push makes the world look at git again, and it finds nothing new.
    assert_eq!(world.state(told), before);
}

#[tokio::test]
async fn a_pull_request_follows_its_branch() {
    let world = World::start().await.unwrap();
    let folder = clone(&world, "maya").await.unwrap();
    std::fs::write(folder.path().join("hose.rs"), "pub fn hose() {}\n").unwrap();
    git(folder.path(), &["add", "hose.rs"]).await.unwrap();
    git(folder.path(), &["commit", "--quiet", "-m", "Add a hose"]).await.unwrap();
    git(folder.path(), &["push", "--quiet"]).await.unwrap();
    let head = git(folder.path(), &["rev-parse", "HEAD"]).await.unwrap();
    let told =
        pull(&world, "headRefOid changedFiles commits(last: 1) { nodes { commit { messageHeadline } } }");
    assert_eq!(
        told.await,
        json!({
            "headRefOid": head,
            "changedFiles": 2,
            "commits": { "nodes": [{ "commit": { "messageHeadline": "Add a hose" } }] },
        })
    );
    git(folder.path(), &["fetch", "--quiet", "origin", "refs/pull/2/head"]).await.unwrap();
    assert_eq!(git(folder.path(), &["rev-parse", "FETCH_HEAD"]).await.unwrap(), head);
}

#[tokio::test]
async fn what_github_refuses_is_refused() {
    let world = World::start().await.unwrap();
    let folder = clone(&world, "maya").await.unwrap();
    let refs = || git(folder.path(), &["ls-remote", "origin"]);
    let before = refs().await;
    for (login, to, complaint) in [
        ("maya", "main", "GH006: Protected branch update failed for refs/heads/main."),
        ("maya", "refs/pull/2/head", "deny updating a hidden ref"),
        ("rita", "tulips", "Permission to octo/garden.git denied to rita."),
    ] {
        let pushed = git(folder.path(), &["push", &address(&world, login), &format!("+HEAD~2:{to}")]).await;
        let said = pushed.unwrap_err();
        assert!(said.contains(complaint), "{said}");
    }
    assert_eq!(refs().await, before);
}

#[tokio::test]
async fn a_private_repository_is_not_there_for_strangers() {
    let world = World::start().await.unwrap();
    let folder = TempDir::new().unwrap();
    let look = async |login: &str| {
        let address = address(&world, login).replace("garden", "cellar");
        git(folder.path(), &["ls-remote", &address]).await
    };
    assert_eq!(look("octo").await, Ok(String::new()), "it has no commits");
    assert!(look("mallory").await.unwrap_err().contains("remote: Repository not found."));
    let anonymous = git(folder.path(), &["ls-remote", &world.clone_url("octo/cellar")]).await;
    assert!(anonymous.unwrap_err().contains("could not read Username"));
}
