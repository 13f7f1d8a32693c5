//! Jobs: what a runner gives to an action, by event.

use std::{collections::BTreeMap, ffi::OsString, fs};

use fro_sim::{Started, World, state::CacheAccess};
use serde_json::Value;

use crate::client::client;

fn start(world: &World, event: &str, payload: &Value) -> (Started, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (world.job(event, payload).start(folder.path()).unwrap(), folder)
}

fn some(environment: &BTreeMap<String, OsString>, names: [&str; 4]) -> [String; 4] {
    names.map(|name| environment[name].to_string_lossy().into_owned())
}

/// Tells what the cache service answers to somebody who wants to write, and what may be said on issue #1.
async fn may(world: &World, job: &Started) -> (Value, u16) {
    let token = job.environment["ACTIONS_RUNTIME_TOKEN"].to_string_lossy().into_owned();
    let create = "twirp/github.actions.results.api.v1.CacheService/CreateCacheEntry";
    let key = serde_json::json!({ "key": format!("mem-{}", &token[..8]), "version": "1" });
    let request = client().post(format!("{}{create}", world.actions_url())).bearer_auth(token);
    let created: Value = request.json(&key).send().await.unwrap().json().await.unwrap();
    let comments = format!("{}/repos/octo/garden/issues/1/comments", world.api_url());
    let comment = client().post(comments).bearer_auth(&job.token).json(&serde_json::json!({ "body": "Hi" }));
    (created["ok"].clone(), comment.send().await.unwrap().status().as_u16())
}

#[tokio::test]
async fn a_comment_s_job_is_on_the_default_branch_and_only_reads_the_cache() {
    let world = World::start().await.unwrap();
    let comment = world.write_comment("octo/garden", 1, "maya", "@fro-bot why?");
    let event = world.comment_event("octo/garden", comment);
    let (job, _folder) = start(&world, "issue_comment", &event);
    let names = ["GITHUB_REF", "GITHUB_ACTOR", "GITHUB_REPOSITORY", "GITHUB_EVENT_NAME"];
    assert_eq!(some(&job.environment, names), ["refs/heads/main", "maya", "octo/garden", "issue_comment"]);
    let written = fs::read_to_string(&job.environment["GITHUB_EVENT_PATH"]).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), event);
    assert_eq!(may(&world, &job).await, (false.into(), 201));
}

#[tokio::test]
async fn the_workflow_s_word_on_the_cache_counts() {
    let world = World::start().await.unwrap();
    let comment = world.write_comment("octo/garden", 1, "maya", "@fro-bot why?");
    let event = world.comment_event("octo/garden", comment);
    let folder = tempfile::tempdir().unwrap();
    let job = world.job("issue_comment", &event).cache_mode(CacheAccess::Write).start(folder.path()).unwrap();
    assert_eq!(job.environment["ACTIONS_CACHE_MODE"], "write");
    assert_eq!(may(&world, &job).await, (true.into(), 201));
}

#[tokio::test]
async fn a_pull_request_s_job_is_on_its_merge() {
    let world = World::start().await.unwrap();
    let (job, _folder) =
        start(&world, "pull_request", &world.pull_event("octo/garden", 2, "synchronize", "maya"));
    let names = ["GITHUB_REF", "GITHUB_REF_NAME", "GITHUB_BASE_REF", "GITHUB_HEAD_REF"];
    assert_eq!(some(&job.environment, names), ["refs/pull/2/merge", "2/merge", "main", "new-seal"]);
    assert_eq!(may(&world, &job).await, (true.into(), 201));
}

#[tokio::test]
async fn a_fork_s_job_may_only_look() {
    let world = World::start().await.unwrap();
    world.change(|state| {
        state.issue_mut("octo/garden", 2).unwrap().pull.as_mut().unwrap().head_repo = None;
    });
    let (job, _folder) =
        start(&world, "pull_request", &world.pull_event("octo/garden", 2, "opened", "mallory"));
    assert_eq!(may(&world, &job).await.1, 403);
}
