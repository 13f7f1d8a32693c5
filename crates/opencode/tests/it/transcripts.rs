//! Recorded streams of the real engine through our ear and core's stepper.

use std::fmt::Write as _;

use fro_core::conversation::{Conversation, Do, Limits, heard::Heard};
use fro_opencode::{About, EventReader};
use insta::assert_snapshot;
use jiff::{Timestamp, ToSpan as _};

/// Plays a recording at a hundred events per second, and writes down what was heard, done and made of it.
fn play(recording: &str) -> String {
    let began: Timestamp = "2026-11-15T18:24:00Z".parse().unwrap();
    let limits = Limits { deadline: Some(began + 30.minutes()), ..Limits::default() };
    let mut conversation = Conversation::new(limits, began);
    let (mut ear, mut now, mut story) = (EventReader::default(), began, String::new());
    let born = recording.lines().find(|line| line.contains("session.created")).unwrap_or(recording);
    let session = born.split('"').find(|word| word.starts_with("ses_")).unwrap();
    for line in recording.lines() {
        now += 10.milliseconds();
        let event = ear.hear(&format!("{{\"payload\":{line}}}"));
        let Some(event) = event.filter(|event| event.about == About::Session(session.to_owned())) else {
            continue;
        };
        if !matches!(event.heard, Heard::Writing | Heard::Busy) {
            writeln!(story, "{:?}", event.heard).unwrap();
        }
        let next = conversation.hear(now, event.heard);
        perform(next, &mut conversation, now, &mut story);
    }
    // The recording is over: let the time pass.
    for _ in 0..100 {
        now += 1.second();
        let next = conversation.tick(now);
        perform(next, &mut conversation, now, &mut story);
    }
    story
}

/// Performs as a driver would whose server cannot show any messages, so that the events alone have to do.
fn perform(mut next: Do, conversation: &mut Conversation, now: Timestamp, story: &mut String) {
    loop {
        match &next {
            Do::Wait { .. } => return,
            Do::Finish(turn) => {
                let line = format!("==> {:?} after {} calls\n", turn.outcome, turn.usage.calls);
                if !story.ends_with(&line) {
                    story.push_str(&line);
                }
                return;
            }
            deed => writeln!(story, "--> {deed:?}").unwrap(),
        }
        next = match next {
            Do::Settle => conversation.hear(now, Heard::Unreadable),
            Do::Poll => conversation.hear(now, Heard::NoPulse),
            _ => conversation.tick(now),
        };
    }
}

macro_rules! recording {
    ($name:literal) => {
        play(include_str!(concat!("../transcripts/", $name, ".jsonl")))
    };
}

#[test]
fn a_good_run() {
    assert_snapshot!(recording!("good-run"), @r#"
    ToolBegan(Tool { name: "bash", about: "echo hi; pwd; ls" })
    ToolEnded { tool: Tool { name: "bash", about: "echo hi; pwd; ls" }, ok: true }
    StepDone { finish: ToolCalls, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    ToolBegan(Tool { name: "read", about: "/repo/repoA/README.md" })
    ToolEnded { tool: Tool { name: "read", about: "README.md" }, ok: true }
    StepDone { finish: ToolCalls, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Said("All done now.")
    StepDone { finish: Stop, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Answered { text: "All done now.", cut_short: false } after 3 calls
    "#);
}

#[test]
fn a_refused_key() {
    assert_snapshot!(recording!("refused-key"), @r#"
    Broke(Breakage { name: "APIError", status: Some(401), code: Some("invalid_api_key"), words: [words for the log] })
    Idle
    Idle
    --> Settle
    ==> Failed { failure: Failure { trouble: Auth, words: [words for the log] }, partial: None } after 0 calls
    "#);
}

#[test]
fn a_rejected_request() {
    assert_snapshot!(recording!("rejected-request"), @r#"
    Broke(Breakage { name: "APIError", status: Some(400), code: Some("scripted"), words: [words for the log] })
    Idle
    Idle
    --> Settle
    ==> Failed { failure: Failure { trouble: Rejected, words: [words for the log] }, partial: None } after 0 calls
    "#);
}

#[test]
fn one_retry() {
    assert_snapshot!(recording!("one-retry"), @r#"
    Retrying { attempt: 1, next: 2026-11-15T18:25:19.194Z, spent: false }
    Said("recovered")
    StepDone { finish: Stop, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Answered { text: "recovered", cut_short: false } after 1 calls
    "#);
}

#[test]
fn two_retries() {
    assert_snapshot!(recording!("two-retries"), @r#"
    Retrying { attempt: 1, next: 2026-11-15T18:25:22.787Z, spent: false }
    Retrying { attempt: 2, next: 2026-11-15T18:25:27.006Z, spent: false }
    Said("recovered")
    StepDone { finish: Stop, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Answered { text: "recovered", cut_short: false } after 1 calls
    "#);
}

#[test]
fn an_overloaded_provider_is_given_up_at_the_fourth_retry() {
    assert_snapshot!(recording!("overloaded"), @"
    Retrying { attempt: 1, next: 2026-11-15T18:25:36.838Z, spent: false }
    Retrying { attempt: 2, next: 2026-11-15T18:25:41.337Z, spent: false }
    Retrying { attempt: 3, next: 2026-11-15T18:25:51.789Z, spent: false }
    Retrying { attempt: 4, next: 2026-11-15T18:26:08.664Z, spent: false }
    --> Abort
    Retrying { attempt: 5, next: 2026-11-15T18:26:38.739Z, spent: false }
    --> Settle
    ==> Failed { failure: Failure { trouble: Unavailable, words: [words for the log] }, partial: None } after 0 calls
    ");
}

#[test]
fn a_provider_that_cannot_be_reached() {
    assert_snapshot!(recording!("no-connection"), @"
    Retrying { attempt: 1, next: 2026-11-15T18:27:53.852Z, spent: false }
    Retrying { attempt: 2, next: 2026-11-15T18:27:57.913Z, spent: false }
    Retrying { attempt: 3, next: 2026-11-15T18:28:06.633Z, spent: false }
    Idle
    --> Settle
    ==> Failed { failure: Failure { trouble: Silent, words: [words for the log] }, partial: None } after 0 calls
    ");
}

#[test]
fn an_answer_that_is_not_json() {
    assert_snapshot!(recording!("not-json"), @r#"
    Broke(Breakage { name: "UnknownError", status: None, code: None, words: [words for the log] })
    Idle
    Idle
    --> Settle
    ==> Failed { failure: Failure { trouble: Engine, words: [words for the log] }, partial: None } after 0 calls
    "#);
}

#[test]
fn one_cut_stream() {
    assert_snapshot!(recording!("cut-stream"), @r#"
    Said("partial ")
    StepDone { finish: Cut, usage: Usage { calls: 1, input: 0, output: 0, reasoning: 0, cache_read: 0, cache_write: 0, cost: 0.0 } }
    Said("script exhausted")
    StepDone { finish: Stop, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Answered { text: "script exhausted", cut_short: false } after 2 calls
    "#);
}

#[test]
fn a_turn_without_words() {
    assert_snapshot!(recording!("no-words"), @"
    StepDone { finish: Stop, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Failed { failure: Failure { trouble: Silent, words: [words for the log] }, partial: None } after 1 calls
    ");
}

#[test]
fn an_answer_that_is_too_long() {
    assert_snapshot!(recording!("out-of-length"), @r#"
    Said("cut off")
    StepDone { finish: Length, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Answered { text: "cut off", cut_short: true } after 1 calls
    "#);
}

#[test]
fn an_unknown_tool() {
    assert_snapshot!(recording!("unknown-tool"), @r#"
    ToolBegan(Tool { name: "invalid", about: "" })
    ToolEnded { tool: Tool { name: "invalid", about: "Invalid Tool" }, ok: true }
    StepDone { finish: ToolCalls, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Said("after")
    StepDone { finish: Stop, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Answered { text: "after", cut_short: false } after 2 calls
    "#);
}

#[test]
fn wrong_arguments() {
    assert_snapshot!(recording!("wrong-arguments"), @r#"
    ToolBegan(Tool { name: "read", about: "" })
    ToolEnded { tool: Tool { name: "read", about: "" }, ok: false }
    StepDone { finish: ToolCalls, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Said("after")
    StepDone { finish: Stop, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Answered { text: "after", cut_short: false } after 2 calls
    "#);
}

#[test]
fn an_unknown_model() {
    assert_snapshot!(recording!("unknown-model"), @r#"
    Broke(Breakage { name: "UnknownError", status: None, code: None, words: [words for the log] })
    Idle
    Broke(Breakage { name: "UnknownError", status: None, code: None, words: [words for the log] })
    --> Settle
    ==> Failed { failure: Failure { trouble: Engine, words: [words for the log] }, partial: None } after 0 calls
    "#);
}

#[test]
fn an_unknown_agent_never_rests() {
    assert_snapshot!(recording!("unknown-agent"), @r#"
    Broke(Breakage { name: "UnknownError", status: None, code: None, words: [words for the log] })
    Broke(Breakage { name: "UnknownError", status: None, code: None, words: [words for the log] })
    --> Settle
    ==> Failed { failure: Failure { trouble: Engine, words: [words for the log] }, partial: None } after 0 calls
    "#);
}

#[test]
fn a_refused_permission_lets_the_model_go_on() {
    assert_snapshot!(recording!("refused-permission"), @r#"
    Asked(Ask { id: "per_1e076d7c3001Auvk2aMMGMVOru", kind: Permission, about: "bash: echo hello", choices: [] })
    --> Refuse(Ask { id: "per_1e076d7c3001Auvk2aMMGMVOru", kind: Permission, about: "bash: echo hello", choices: [] })
    ToolBegan(Tool { name: "bash", about: "echo hello" })
    ToolEnded { tool: Tool { name: "bash", about: "echo hello" }, ok: false }
    StepDone { finish: ToolCalls, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Said("fin")
    StepDone { finish: Stop, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Answered { text: "fin", cut_short: false } after 2 calls
    "#);
}

#[test]
fn a_dismissed_question_ends_the_turn() {
    assert_snapshot!(recording!("dismissed-question"), @r#"
    Asked(Ask { id: "que_1e07701f4001QtCeqp7m3oKQ7n", kind: Question, about: "Which?", choices: ["A"] })
    --> Refuse(Ask { id: "que_1e07701f4001QtCeqp7m3oKQ7n", kind: Question, about: "Which?", choices: ["A"] })
    ToolBegan(Tool { name: "question", about: "" })
    ToolEnded { tool: Tool { name: "question", about: "" }, ok: false }
    StepDone { finish: ToolCalls, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Failed { failure: Failure { trouble: Silent, words: [words for the log] }, partial: None } after 1 calls
    "#);
}

#[test]
fn somebody_else_aborts_a_text() {
    assert_snapshot!(recording!("aborted-text"), @r#"
    Broke(Breakage { name: "MessageAbortedError", status: None, code: None, words: [words for the log] })
    Idle
    Said("w0 w1 w2 w3 w4 w5 w6 ")
    Idle
    --> Settle
    ==> Failed { failure: Failure { trouble: Aborted, words: [words for the log] }, partial: Some("w0 w1 w2 w3 w4 w5 w6 ") } after 0 calls
    "#);
}

#[test]
fn somebody_else_aborts_a_command() {
    assert_snapshot!(recording!("aborted-command"), @r#"
    Asked(Ask { id: "per_1e077159d001UFK0MeGBYzBJY7", kind: Permission, about: "bash: sleep 60", choices: [] })
    --> Refuse(Ask { id: "per_1e077159d001UFK0MeGBYzBJY7", kind: Permission, about: "bash: sleep 60", choices: [] })
    ToolBegan(Tool { name: "bash", about: "sleep 60" })
    Broke(Breakage { name: "MessageAbortedError", status: None, code: None, words: [words for the log] })
    Idle
    ToolEnded { tool: Tool { name: "bash", about: "sleep 60" }, ok: true }
    Idle
    --> Settle
    ==> Failed { failure: Failure { trouble: Aborted, words: [words for the log] }, partial: None } after 0 calls
    "#);
}

#[test]
fn a_rest_of_another_session_is_not_ours() {
    assert_snapshot!(recording!("stale-rest"), @r#"
    Said("w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 first")
    StepDone { finish: Stop, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Said("second")
    StepDone { finish: Stop, usage: Usage { calls: 1, input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0, cost: 0.001 } }
    Idle
    --> Settle
    ==> Answered { text: "second", cut_short: false } after 2 calls
    "#);
}

#[test]
fn a_folder_outside() {
    assert_snapshot!(recording!("outside-folder"), @r#"
    ToolBegan(Tool { name: "read", about: "/etc/hostname" })
    Asked(Ask { id: "per_1e0778a600012XWmQIJZj4QYy4", kind: Permission, about: "external_directory: /etc/*", choices: [] })
    --> Refuse(Ask { id: "per_1e0778a600012XWmQIJZj4QYy4", kind: Permission, about: "external_directory: /etc/*", choices: [] })
    Broke(Breakage { name: "MessageAbortedError", status: None, code: None, words: [words for the log] })
    Idle
    --> Settle
    ==> Failed { failure: Failure { trouble: Aborted, words: [words for the log] }, partial: None } after 0 calls
    "#);
}
