//! What an action remembers from one workflow run to the next, in the Actions cache.

use fro_sim::model::Reply;
use fro_stories::{REPO, Sim, Worked, Workflow};
use serde_json::{Value, json};

/// A workflow that uses the action from its own checkout.
fn workflow(sim: &Sim, event: &str) -> String {
    let config = sim.model().provider().to_string().replace('\'', "''");
    format!(
        "on: {event}
jobs:
  answer:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - id: agent
        uses: ./
        with:
          auth-json: '{{\"scripted\":{{\"type\":\"api\",\"key\":\"planted-model-key-0123456789\"}}}}'
          opencode-config: '{config}'
          enable-omo: false
          prompt: Water the garden.
      - run: 'echo \"saved ${{{{ steps.agent.outputs.memory-saved }}}}, found ${{{{ steps.agent.outputs.cache-status }}}}\"'
"
    )
}

fn on<'a>(sim: &'a Sim, event: &str, payload: &Value) -> Workflow<'a> {
    sim.workflow(&workflow(sim, event), event, payload)
}

/// Runs to a good end.
async fn run(sim: &Sim, event: &str, payload: &Value) -> Worked {
    sim.model().says("It is the seal.");
    let worked = on(sim, event, payload).with_cache().run().await;
    assert_eq!(worked.code, Some(0), "{}", worked.log);
    worked
}

/// The event of a new comment of the maintainer.
fn mention(sim: &Sim, text: &str) -> Value {
    let comment = sim.world().write_comment(REPO, 1, "maya", text);
    sim.world().comment_event(REPO, comment)
}

/// An event that is about nothing but the repository.
fn about_repository(sim: &Sim, more: Value) -> Value {
    let mut event = more;
    event["repository"] = mention(sim, "Hello.")["repository"].clone();
    event
}

/// The first run saves, and the second finds it.
async fn remembers(sim: &Sim, event: &str, payloads: [Value; 2]) {
    let [first, second] = payloads;
    let worked = run(sim, event, &first).await;
    assert!(worked.log.contains("saved true, found miss"), "{}", worked.log);
    let worked = run(sim, event, &second).await;
    assert!(worked.log.contains("saved true, found hit"), "{}", worked.log);
    assert!(worked.log.contains("Summary - "), "{}", worked.log);
    assert!(worked.log.contains("| Memory | hit, "), "{}", worked.log);
}

#[tokio::test]
async fn a_mention_is_remembered() {
    let sim = Sim::new().await;
    let payloads = [mention(&sim, "@fro-bot why is the floor wet?"), mention(&sim, "@fro-bot and now?")];
    remembers(&sim, "issue_comment", payloads).await;
    let seen = sim.model().seen();
    assert_eq!(seen[0].session, seen[1].session);
    assert_eq!(sim.answers().len(), 2);
    sim.finish().await;
}

#[tokio::test]
async fn a_pull_request_is_remembered() {
    let sim = Sim::new().await;
    let opened = sim.world().pull_event(REPO, 2, "opened", "maya");
    let synchronized = sim.world().pull_event(REPO, 2, "ready_for_review", "maya");
    remembers(&sim, "pull_request", [opened, synchronized]).await;
    sim.finish().await;
}

#[tokio::test]
async fn a_schedule_and_a_task_by_hand_remember_each_other() {
    let sim = Sim::new().await;
    let tick = about_repository(&sim, json!({ "schedule": "23 6 * * 1" }));
    remembers(&sim, "schedule", [tick.clone(), tick]).await;
    let by_hand = about_repository(&sim, json!({ "inputs": {}, "ref": "refs/heads/main" }));
    let worked = run(&sim, "workflow_dispatch", &by_hand).await;
    assert!(worked.log.contains("saved true, found hit"), "{}", worked.log);
    sim.finish().await;
}

#[tokio::test]
async fn a_comment_without_cache_mode_says_that_nothing_was_saved() {
    let sim = Sim::new().await;
    sim.model().says("It is the seal.");
    let event = mention(&sim, "@fro-bot why is the floor wet?");
    let worked = on(&sim, "issue_comment", &event).with_usual_cache().run().await;
    assert_eq!(worked.code, Some(0), "{}", worked.log);
    assert!(!worked.log.contains("saved true"), "{}", worked.log);
    let warning = "::warning::the memory was not saved to the Actions cache";
    assert_eq!(worked.log.matches(warning).count(), 1, "{}", worked.log);
    assert!(worked.log.contains("(`cache-mode: write`)"), "{}", worked.log);
    sim.finish().await;
}

#[tokio::test]
async fn what_a_killed_main_step_knew_is_saved_by_post() {
    let sim = Sim::new().await;
    sim.model().plays(Reply::stall());
    let event = mention(&sim, "@fro-bot is it the brass coupling?");
    let working = on(&sim, "issue_comment", &event).with_cache().start();
    sim.model().wait_for_calls(1).await;
    working.kill_main();
    let worked = working.end().await;
    assert_eq!(worked.code, Some(1), "{}", worked.log);
    assert!(worked.log.contains("memory saved: 1 session"), "{}", worked.log);
    assert_eq!((sim.answers().len(), sim.labels()), (0, vec!["bug".to_owned()]));

    let worked = run(&sim, "issue_comment", &mention(&sim, "@fro-bot well?")).await;
    assert!(worked.log.contains("found hit"), "{}", worked.log);
    let seen = sim.model().seen();
    assert_eq!(seen[0].session, seen[1].session);
    assert!(seen[1].render().contains("is it the brass coupling?"), "{}", seen[1].render());
    sim.finish().await;
}
