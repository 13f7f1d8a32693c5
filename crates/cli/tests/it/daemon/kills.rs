//! Whoever is killed, and whenever: every message is answered once, in order, and nothing is posted twice.

use std::time::Duration;

use fro_sim::{FaultKind, model::Reply};
use rustix::process::{Signal, kill_process};
use serde_json::json;
use tokio::time::sleep;

use super::stage::{Running, Stage, all, report, worker_of};

const THREADS: &str = "POST /api/v10/channels/{channel}/messages/{message}/threads";
const MESSAGES: &str = "POST /api/v10/channels/{channel}/messages";
const REPOSITORY: &str = "GET /repos/{owner}/{repo}";

/// Longer than any test, so that whoever waits for the answer is killed while it waits.
const NEVER: Duration = Duration::from_mins(10);

/// What is asked; the later question first, since its prompt may tell of the earlier one.
const QUESTIONS: &[&str] = &["two", "one"];

/// How far a turn has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Discord has told of the message, and nothing of it is in the store.
    Received,
    /// It waits in the store.
    Queued,
    /// Its thread is open.
    ThreadMade,
    /// The model is asked.
    Asked,
    /// A part of the answer can be read.
    HalfRendered,
    /// The memory has it.
    Saved,
}

const PHASES: [Phase; 6] =
    [Phase::Received, Phase::Queued, Phase::ThreadMade, Phase::Asked, Phase::HalfRendered, Phase::Saved];

/// Returns the phases that are played: all, or these.
fn phases(few: &[Phase]) -> Vec<Phase> {
    PHASES.into_iter().filter(|phase| all() || few.contains(phase)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn serve_is_killed() {
    for phase in phases(&[Phase::Received, Phase::HalfRendered]) {
        let stage = Stage::open().await;
        let (serving, _working) = (stage.serve_alone().await, stage.works("first", &[]));
        let thread = serve_in(&stage, phase, serving).await;
        stage.discord.faults().heal();
        // Nobody serves at this moment.
        stage.discord.wait_until_connected(0).await;
        let is_open = stage.discord.state(|chat| chat.channel(thread).is_some());
        if is_open {
            ask_second(&stage, thread).await;
        }
        let serving = stage.serve_alone().await;
        if !is_open {
            ask_second(&stage, thread).await;
        }
        settled(&stage, thread, ["You asked: one", "You asked: two"]).await;
        assert!(serving.stop().await.success());
        report(&format!("serve killed × {phase:?}: each answered once, in order"));
    }
}

/// Brings a turn so far and kills `serve`.
async fn serve_in(stage: &Stage, phase: Phase, serving: Running) -> u64 {
    let (faults, model) = (stage.discord.faults(), stage.github.model());
    match phase {
        Phase::Received => {
            stage.model_echoes(2, QUESTIONS);
            let store = stage.hold_store();
            let thread = stage.asks("question one");
            until_told(stage).await;
            serving.kill().await;
            drop(store);
            return thread;
        }
        Phase::Queued => faults.on(THREADS, FaultKind::Delay(NEVER)).always(),
        Phase::ThreadMade => faults.on(THREADS, FaultKind::AnswerLate(NEVER)).always(),
        Phase::Asked => stage.model_echoes_slowly(QUESTIONS),
        Phase::HalfRendered => {
            begin(stage);
            stage.model_echoes_slowly(QUESTIONS);
            faults.on(MESSAGES, FaultKind::AnswerLate(NEVER)).always();
        }
        Phase::Saved => faults.on(MESSAGES, FaultKind::Delay(NEVER)).always(),
    }
    stage.model_echoes(2, QUESTIONS);
    let thread = stage.asks("question one");
    match phase {
        Phase::Received => {}
        Phase::Queued => faults.wait_until_held().await,
        Phase::ThreadMade => stage.discord.wait_until(|chat| chat.channel(thread).is_some()).await,
        Phase::Asked => model.wait_for_calls(1).await,
        Phase::HalfRendered => stage.until_said(thread, "bash").await,
        Phase::Saved => {
            stage.until_remembered().await;
            stage.until_load(0, 0).await;
        }
    }
    serving.kill().await;
    thread
}

/// Waits until Discord has told of a message.
async fn until_told(stage: &Stage) {
    while !stage.discord.dispatched_names().contains(&"MESSAGE_CREATE".to_owned()) {
        sleep(Duration::from_millis(5)).await;
    }
    // It is on its way: whoever hears of it finds the store shut.
    sleep(Duration::from_millis(200)).await;
}

/// Lets the model begin with a tool, so that there is something to read before the answer.
fn begin(stage: &Stage) {
    let arguments = json!({ "command": "true", "description": "begin" });
    stage.github.model().plays(Reply::tool("bash", arguments));
}

/// Asks the second question as soon as the thread is there.
async fn ask_second(stage: &Stage, thread: u64) {
    stage.discord.wait_until(|chat| chat.channel(thread).is_some()).await;
    stage.discord.says("maya", thread, "question two");
}

/// Checks that both questions were answered once, in their order, and nothing was said twice.
async fn settled(stage: &Stage, thread: u64, expected: [&str; 2]) {
    let answers = stage.answers(thread, 2).await;
    assert!(answers[0].contains(expected[0]) && answers[1].contains(expected[1]), "{answers:?}");
    assert_eq!(answers.len(), 2, "{answers:?}");
    stage.until_load(0, 0).await;
    let said = stage.said(thread);
    let tools = said.iter().filter(|text| text.contains("⚙")).count();
    assert!(tools <= 1, "{said:?}");
    let threads = stage.discord.state(|chat| chat.channels.iter().filter(|it| it.thread.is_some()).count());
    assert_eq!(threads, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_is_killed() {
    for phase in phases(&[Phase::Asked]) {
        let stage = Stage::open().await;
        let serving = stage.serve().await;
        let worker = worker_of(&serving).await;
        let kill = || kill_process(worker, Signal::KILL).unwrap();
        let thread = work_in(&stage, phase, (worker, &kill)).await;
        ask_second(&stage, thread).await;
        settled(&stage, thread, ["You asked: one", "You asked: two"]).await;
        assert!(serving.stop().await.success());
        report(&format!("work killed × {phase:?}: each answered once, in order"));
    }
}

/// Brings a turn so far and kills the worker.
async fn work_in(stage: &Stage, phase: Phase, (worker, kill): (rustix::process::Pid, &dyn Fn())) -> u64 {
    let model = stage.github.model();
    match phase {
        Phase::Received => {}
        Phase::Queued => kill_process(worker, Signal::STOP).unwrap(),
        Phase::ThreadMade => stage.github.faults().on(REPOSITORY, FaultKind::Delay(NEVER)).times(1),
        Phase::Asked => model.plays(Reply::stall()),
        Phase::HalfRendered => {
            begin(stage);
            model.plays(Reply::stall());
        }
        Phase::Saved => stage.model_echoes_slowly(QUESTIONS),
    }
    stage.model_echoes(3, QUESTIONS);
    let held = (phase == Phase::Received).then(|| stage.hold_store());
    let thread = stage.asks("question one");
    match phase {
        Phase::Received => {
            until_told(stage).await;
        }
        Phase::Queued => stage.until_load(0, 1).await,
        Phase::ThreadMade => stage.github.faults().wait_until_held().await,
        Phase::Asked => model.wait_for_calls(1).await,
        Phase::HalfRendered => stage.until_said(thread, "bash").await,
        Phase::Saved => {
            model.wait_for_calls(1).await;
            // The memory is no part of the store: it is saved, and that cannot be written down.
            let store = stage.hold_store();
            stage.until_remembered().await;
            kill();
            drop(store);
            return thread;
        }
    }
    kill();
    drop(held);
    thread
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_is_killed() {
    // There is an engine in these phases only.
    for phase in [Phase::Asked, Phase::HalfRendered].into_iter().filter(|it| all() || *it == Phase::Asked) {
        let stage = Stage::open().await;
        let serving = stage.serve().await;
        let model = stage.github.model();
        if phase == Phase::HalfRendered {
            begin(&stage);
        }
        model.plays(Reply::stall());
        stage.model_echoes(1, QUESTIONS);
        let thread = stage.asks("question one");
        model.wait_for_calls(if phase == Phase::HalfRendered { 2 } else { 1 }).await;
        kill_process(stage.engine(), Signal::KILL).unwrap();
        ask_second(&stage, thread).await;
        let ended = "The engine ended in the middle of the work.";
        settled(&stage, thread, [ended, "You asked: two"]).await;
        stage.stop(serving).await;
        report(&format!("engine killed × {phase:?}: told, and the next is answered"));
    }
}
