//! Whatever ends, and whenever: every message is answered once, and in order.

use std::time::Duration;

use fro_sim::FaultKind;
use jiff::Timestamp;
use serde_json::json;

use super::stage::Stage;

const THREADS: &str = "POST /api/v10/channels/{channel}/messages/{message}/threads";
const MESSAGES: &str = "POST /api/v10/channels/{channel}/messages";

const ANSWERS: &str = "PATCH /api/v10/webhooks/{application}/{token}/messages/{message}";

/// Longer than any test, so that whoever waits for the answer is killed while it waits.
const NEVER: Duration = Duration::from_mins(10);

/// What has to be true in the end: two questions, two answers, each once.
async fn settle(stage: &Stage, thread: u64) {
    let said = stage.until_said(thread, 2).await;
    assert_eq!(said, ["You asked: one", "You asked: two"]);
    assert_eq!(stage.store.load(Timestamp::now()).await.unwrap(), (0, 0));
    let threads = stage.world.state(|chat| chat.channels.iter().filter(|it| it.thread.is_some()).count());
    assert_eq!(threads, 1);
}

/// Asks a second question, which is answered by a process that nothing happens to.
async fn go_on(stage: &Stage, thread: u64) {
    stage.world.faults().heal();
    let serving = stage.serve().await;
    stage.until_said(thread, 1).await;
    stage.world.says("maya", thread, "two");
    stage.work().await;
    settle(stage, thread).await;
    serving.stop().await;
    assert_eq!(stage.said(thread).len(), 2, "nothing was said on leaving");
}

#[tokio::test]
async fn killed_before_the_thread_was_made() {
    let stage = Stage::new().await;
    stage.world.faults().on(THREADS, FaultKind::Delay(NEVER)).always();
    let serving = stage.serve().await;
    let thread = stage.says("maya", "@fro-bot one");
    stage.world.faults().wait_until_held().await;
    serving.kill().await;
    stage.work().await;
    go_on(&stage, thread).await;
}

#[tokio::test]
async fn killed_when_the_thread_was_made_and_nobody_knew() {
    let stage = Stage::new().await;
    stage.world.faults().on(THREADS, FaultKind::AnswerLate(NEVER)).always();
    let serving = stage.serve().await;
    let thread = stage.says("maya", "@fro-bot one");
    stage.until_thread(thread).await;
    serving.kill().await;
    stage.work().await;
    go_on(&stage, thread).await;
}

#[tokio::test]
async fn killed_when_the_answer_was_said_and_nobody_knew() {
    let stage = Stage::new().await;
    stage.world.faults().on(MESSAGES, FaultKind::AnswerLate(NEVER)).always();
    let serving = stage.serve().await;
    let thread = stage.says("maya", "@fro-bot one");
    stage.work().await;
    stage.until_said(thread, 1).await;
    serving.kill().await;
    go_on(&stage, thread).await;
}

#[tokio::test]
async fn killed_before_the_answer_was_said() {
    let stage = Stage::new().await;
    stage.world.faults().on(MESSAGES, FaultKind::Delay(NEVER)).always();
    let serving = stage.serve().await;
    let thread = stage.says("maya", "@fro-bot one");
    stage.work().await;
    stage.world.faults().wait_until_held().await;
    serving.kill().await;
    go_on(&stage, thread).await;
}

#[tokio::test]
async fn what_is_said_while_nobody_serves_is_answered_by_the_next() {
    for forgotten in [false, true] {
        let stage = Stage::new().await;
        let serving = stage.serve().await;
        let thread = stage.says("maya", "@fro-bot one");
        stage.work().await;
        stage.until_said(thread, 1).await;
        serving.kill().await;
        if forgotten {
            stage.world.forget_sessions();
        }
        stage.world.says("maya", thread, "two");
        let serving = stage.serve().await;
        stage.work().await;
        settle(&stage, thread).await;
        serving.stop().await;
    }
}

#[tokio::test]
async fn the_first_mention_is_heard_although_it_was_said_while_nobody_served() {
    let stage = Stage::new().await;
    stage.serve().await.stop().await;
    stage.world.forget_sessions();
    let thread = stage.says("maya", "@fro-bot one");
    let serving = stage.serve().await;
    stage.work().await;
    assert_eq!(stage.until_said(thread, 1).await, ["You asked: one"]);
    serving.stop().await;
}

#[tokio::test]
async fn a_discord_that_fails_is_tried_until_it_works() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let faults = stage.world.faults();
    faults.on(THREADS, FaultKind::Status(503)).times(5);
    faults.on(MESSAGES, FaultKind::AnswerWithheld).times(1);
    faults.on(MESSAGES, FaultKind::Status(500)).times(6);
    let thread = stage.says("maya", "@fro-bot one");
    stage.work().await;
    stage.until_said(thread, 1).await;
    stage.world.says("maya", thread, "two");
    stage.work().await;
    settle(&stage, thread).await;
    serving.stop().await;
}

#[tokio::test]
async fn two_processes_speak_one_after_the_other() {
    let stage = Stage::new().await;
    let first = stage.serve().await;
    let thread = stage.says("maya", "@fro-bot one");
    stage.work().await;
    stage.until_said(thread, 1).await;
    first.stop().await;
    stage.world.wait_until_connected(0).await;
    let second = stage.serve().await;
    stage.world.says("maya", thread, "two");
    stage.work().await;
    settle(&stage, thread).await;
    second.stop().await;
}

#[tokio::test]
async fn killed_while_a_command_opens_a_thread() {
    for command in ["new", "resume", "fork"] {
        for unknown in [false, true] {
            let fault = || if unknown { FaultKind::AnswerLate(NEVER) } else { FaultKind::Delay(NEVER) };
            let stage = Stage::new().await;
            for route in [MESSAGES, ANSWERS] {
                stage.world.faults().on(route, fault()).always();
            }
            let serving = stage.serve().await;
            let garden = stage.garden().number();
            let options = match command {
                "new" => json!({ "prompt": "one" }),
                _ => json!({ "prompt": "one", "session": "ses_5f3a" }),
            };
            stage.world.commands("maya", garden, command, &options);
            stage.world.faults().wait_until_held().await;
            serving.kill().await;
            stage.world.faults().heal();

            let serving = stage.serve().await;
            let claimed = stage.claim().await;
            assert_eq!(claimed.turn.words.text, "one", "/{command}");
            let thread = claimed.turn.thread.number();
            stage.finish(&claimed, "Done.").await;
            assert_eq!(stage.until_said(thread, 1).await, ["Done."], "/{command}");
            let posts = stage.said(garden);
            assert!(matches!(&posts[..], [post] if post.ends_with(">>> one")), "/{command}: {posts:?}");
            assert_eq!(stage.store.load(Timestamp::now()).await.unwrap(), (0, 0));
            serving.stop().await;
        }
    }
}
