//! Workflow runs: a job that was started is found, and cancelled by who may.

use fro_sim::{World, state::Level};
use reqwest::redirect::Policy;
use serde_json::Value;

use crate::client::{ask, client, get};

/// Starts a job on a comment whose token was granted this much over Actions; its run's id, its token.
fn started(world: &World, folder: &std::path::Path, level: Level) -> (String, String) {
    let comment = world.write_comment("octo/garden", 1, "maya", "@fro-bot why?");
    let event = world.comment_event("octo/garden", comment);
    let job = world.job("issue_comment", &event).permission("actions", level).start(folder).unwrap();
    (job.environment["GITHUB_RUN_ID"].to_string_lossy().into_owned(), job.token)
}

async fn cancel(world: &World, run: &str, token: &str) -> u16 {
    let url = format!("{}/repos/octo/garden/actions/runs/{run}/cancel", world.api_url());
    client().post(url).bearer_auth(token).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_job_is_found_by_its_event_and_cancelled_once_by_a_token_that_may() {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let (run, reading) = started(&world, &folder.path().join("a"), Level::Read);
    let (_, writing) = started(&world, &folder.path().join("b"), Level::Write);
    let list = "/repos/octo/garden/actions/runs?event=issue_comment&status=in_progress";
    assert_eq!(get(&world, list).await.1["total_count"], 2);
    assert_eq!(cancel(&world, &run, &reading).await, 403);
    assert_eq!(cancel(&world, &run, &writing).await, 202);
    assert_eq!(cancel(&world, &run, &writing).await, 409);
    let (_, told) = get(&world, &format!("/repos/octo/garden/actions/runs/{run}")).await;
    assert_eq!((&told["status"], &told["conclusion"]), (&"completed".into(), &"cancelled".into()));
}

#[tokio::test]
async fn a_log_is_elsewhere_and_only_of_what_has_ended() {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let run = world.fail_ci("octo/garden", 2, "the floor is wet\n");
    let (_, jobs) = get(&world, &format!("/repos/octo/garden/actions/runs/{run}/jobs")).await;
    let job = jobs["jobs"][0]["id"].clone();
    let asking =
        reqwest::Client::builder().no_proxy().redirect(Policy::none()).user_agent("t").build().unwrap();
    let url = format!("{}/repos/octo/garden/actions/jobs/{job}/logs", world.api_url());
    let led = asking.get(url).bearer_auth(world.token("rita")).send().await.unwrap();
    assert_eq!(led.status(), 302);
    let log = client().get(led.headers()["location"].to_str().unwrap()).send().await.unwrap();
    assert!(log.text().await.unwrap().contains("Z the floor is wet\n"));
    let (running, _) = started(&world, folder.path(), Level::Read);
    let logs = format!("GET /repos/octo/garden/actions/runs/{running}/logs");
    assert_eq!(ask(&world, &logs, "maya", Value::Null).await.0, 404);
}
