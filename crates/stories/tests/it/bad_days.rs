//! Bad input and bad days: one clear message, the right exit code, nothing half done.

use std::time::Duration;

use fro_sim::{FaultKind, model::Reply};
use fro_stories::{Run, Sim};
use insta::assert_snapshot;

fn complaint(run: &Run) -> String {
    format!("exit {}\n{}", run.code.unwrap_or(-1), fro_stories::normal(&run.errors))
}

#[tokio::test]
async fn a_model_that_refuses_the_key_is_told_in_fixed_words() {
    let sim = Sim::new().await;
    sim.model().plays(Reply::status(401).body("{\"error\": {\"message\": \"the provider said this\"}}"));
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.errors.contains("the provider of `scripted/m1` did not accept the key"), "{run}");
    assert_snapshot!(run.only_comment());
    assert_eq!(run.reactions, ["fro-bot: confused"]);
    sim.finish().await;
}

#[tokio::test]
async fn a_wrong_key_is_named_before_anything_is_set_up() {
    let sim = Sim::new().await;
    sim.model().accepts_only("another key");
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!((run.code, sim.model().seen().len()), (Some(2), 0), "{run}");
    assert!(run.errors.contains("the provider of `scripted/m1` did not accept the key"), "{run}");
    assert!(!run.log.contains("engine: OpenCode"), "{run}");
    let answer = run.only_comment();
    assert!(answer.contains("(`no_model`)") && answer.contains("did not accept the key"), "{answer}");
    sim.finish().await;
}

#[tokio::test]
async fn a_model_that_stalls_runs_out_of_time() {
    let sim = Sim::new().await;
    sim.model().plays(Reply::stall());
    let run = sim.mention("@fro-bot why?").with("timeout", "12000").run().await;
    assert_eq!(run.code, Some(4), "{run}");
    assert!(run.only_comment().contains("(`out_of_time`)"), "{run}");
    sim.finish_early().await;
}

#[tokio::test]
async fn a_wrong_token_is_named() {
    let sim = Sim::new().await;
    let run = sim.mention("@fro-bot why?").with("github-token", "ghs_wrong").run().await;
    assert_snapshot!(complaint(&run));
    sim.finish().await;
}

#[tokio::test]
async fn a_missing_or_malformed_event_is_named() {
    let sim = Sim::new().await;
    let missing =
        sim.mention("@fro-bot why?").variable("GITHUB_EVENT_PATH", "/nowhere/event.json").run().await;
    let broken = sim.folder().join("broken.json");
    fs_err::write(&broken, "{\"action\": \"created\", ").unwrap();
    let malformed = sim.mention("@fro-bot why?").variable("GITHUB_EVENT_PATH", broken).run().await;
    let unknown = sim.mention("@fro-bot why?").variable("GITHUB_EVENT_NAME", "made_up").run().await;
    assert_snapshot!(complaint(&missing));
    assert_snapshot!(complaint(&malformed));
    assert_eq!(unknown.code, Some(0));
    assert!(unknown.log.contains("`made_up` is not an event that fro-bot answers (hint:"), "{unknown}");
    sim.finish().await;
}

#[tokio::test]
async fn without_npm_and_registry_the_run_says_so_and_installs_nothing() {
    let sim = Sim::new().await;
    let cache = sim.folder().join("cache");
    let bare = sim.folder().join("bin");
    fs_err::create_dir(&bare).unwrap();
    let run = sim
        .mention("@fro-bot why?")
        .variable("RUNNER_TOOL_CACHE", &cache)
        .variable("PATH", &bare)
        .run()
        .await;
    assert_snapshot!(complaint(&run));
    assert!(run.only_comment().contains("(`engine_not_started`)"), "{run}");
    assert_eq!(run.reactions, ["fro-bot: confused"]);
    let left =
        std::process::Command::new("find").arg(&cache).args(["-type", "f", "-size", "+0"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
    sim.finish().await;
}

#[tokio::test]
async fn a_context_that_cannot_be_read_still_gets_an_answer() {
    let sim = Sim::new().await;
    let faults = sim.world().faults();
    // The first question is who we are; the second is the conversation.
    faults.on("POST /graphql", FaultKind::Delay(Duration::ZERO)).times(1);
    faults.on("POST /graphql", FaultKind::Status(502)).always();
    faults.on("GET /repos/{owner}/{repo}/issues/{number}", FaultKind::Status(502)).always();
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.only_comment().contains("(`no_context`)"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn an_engine_that_dies_is_told_with_its_last_words() {
    let sim = Sim::new().await;
    let deed = serde_json::json!({ "command": "kill -9 $PPID", "description": "x" });
    sim.model().calls("bash", deed);
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(4), "{run}");
    assert!(run.only_comment().contains("(`engine_gone`)"), "{run}");
    assert!(!run.only_comment().contains("a second time"), "nobody is there to be asked: {run}");
    assert!(run.log_and_errors().contains("the engine printed: opencode server listening"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_disk_that_the_work_fills_is_named_and_not_taken_for_a_bug() {
    let sim = Sim::new().await;
    sim.model().calls("bash", serde_json::json!({ "command": "yes > big", "description": "x" }));
    let run = sim.mention("@fro-bot why?").on_disk_of(64).run().await;
    assert_eq!(run.code, Some(2), "{run}");
    let told = format!(
        "error: the disk that has `{}` is full\n\nhint: make room on that disk",
        sim.temp().display()
    );
    assert!(run.errors.contains(&told), "{run}");
    let answer = run.only_comment();
    assert!(answer.contains("(`disk_full`)") && !answer.contains("asked a second time"), "{answer}");
    assert!(!answer.contains(&sim.temp().display().to_string()), "{answer}");
    assert_eq!(run.reactions, ["fro-bot: confused"]);
    sim.finish().await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_delivered_fails_the_run() {
    let sim = Sim::new().await;
    sim.model().says("Nobody will read this.");
    sim.world()
        .faults()
        .on("POST /repos/{owner}/{repo}/issues/{number}/comments", FaultKind::Status(503))
        .always();
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!((run.code, run.answers.len()), (Some(3), 0), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_reaction_that_fails_does_not_stop_a_run() {
    let sim = Sim::new().await;
    sim.model().says("Answered.");
    sim.world()
        .faults()
        .on("POST /repos/{owner}/{repo}/issues/comments/{id}/reactions", FaultKind::Status(500))
        .always();
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.only_comment().contains("Answered."), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_token_that_may_not_react_asks_no_model() {
    let sim = Sim::new().await;
    sim.world()
        .faults()
        .on("POST /repos/{owner}/{repo}/issues/comments/{id}/reactions", FaultKind::Status(403))
        .always();
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!((run.code, run.answers.len()), (Some(2), 0), "{run}");
    assert_eq!((sim.model().seen().len(), sim.model().asides().len()), (0, 0), "a model was asked: {run}");
    assert!(run.errors.contains("issues: write"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn an_answer_that_shows_late_is_looked_for_again() {
    let sim = Sim::new().await;
    sim.model().says("It is the seal.");
    let (faults, comments) = (sim.world().faults(), "/repos/{owner}/{repo}/issues/{number}/comments");
    faults.on(&format!("POST {comments}"), FaultKind::AnswerWithheld).times(1);
    let none = FaultKind::Answer { status: 200, headers: Vec::new(), body: "[]".to_owned() };
    faults.on(&format!("GET {comments}"), none).times(1);
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.only_comment().contains("It is the seal."), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn what_is_wrong_with_the_model_is_named_before_anything_is_set_up() {
    let mut named = Vec::new();
    for model in ["", "mistral/large", "nobody/knows"] {
        let sim = Sim::new().await;
        let run = sim.mention("@fro-bot why?").with("model", model).with("opencode-config", "{}").run().await;
        assert_eq!((run.code, sim.model().seen().len()), (Some(2), 0), "{run}");
        assert!(!run.log.contains("engine: OpenCode"), "nothing is installed for it: {run}");
        let answer = run.only_comment();
        assert!(answer.contains("(`no_model`)") && !answer.contains("so far is above"), "{answer}");
        named.push(answer.lines().nth(1).unwrap_or_default().to_owned());
        sim.finish().await;
    }
    assert_snapshot!(named.join("\n"));
}

#[tokio::test]
async fn the_log_of_a_workflow_is_coloured_and_names_the_model() {
    let sim = Sim::new().await;
    sim.model().says("It is the seal.");
    let run = sim.mention("@fro-bot why?").variable("GITHUB_ACTIONS", "true").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let first: Vec<_> = run.log.lines().take(3).collect();
    assert!(first.iter().any(|line| line.contains("model: scripted/m1")), "{first:?}");
    assert!(run.log.contains("\u{1b}[32m"), "{run}");
    let plain = sim.mention("@fro-bot help").variable("GITHUB_ACTIONS", "true").variable("NO_COLOR", "1");
    let plain = plain.variable("GITHUB_RUN_ID", "43").run().await;
    assert!(!plain.log.contains('\u{1b}'), "{plain}");
    sim.finish().await;
}

#[tokio::test]
async fn every_end_says_whether_the_memory_was_saved() {
    let sim = Sim::new().await;
    let output = || fs_err::read_to_string(sim.folder().join("output")).unwrap_or_default();
    let ends = [
        ("skipped", sim.mention("nothing for anybody"), 0),
        ("answered by heart", sim.mention("@fro-bot help"), 0),
        ("mistyped", sim.mention("@fro-bot why?").with("timeout", "soon"), 2),
        ("no model", sim.mention("@fro-bot why?").with("opencode-config", "{}"), 2),
    ];
    for (n, (end, mention, code)) in ends.into_iter().enumerate() {
        let run = mention.variable("GITHUB_RUN_ID", (50 + n).to_string()).run().await;
        assert_eq!(run.code, Some(code), "{end}: {run}");
        assert_eq!(output().matches("memory-saved=false").count(), n + 1, "{end}: {}", output());
    }
    sim.finish().await;
}
