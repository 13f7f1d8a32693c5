//! Each example workflow, as it stands in the docs, for the event it is made for.

use std::process::Command;

use fro_stories::{REPO, Sim, Worked, Workflow, act, project};
use serde_json::{Value, json};

/// How act shows what was written to the run's page.
pub(crate) const SUMMARY: &str = "Summary - <!-- fro-bot run=1 event=order -->\nIt is the seal.\n";

/// How a job asks for a cache that it may write to. act's schema is older than this.
pub(crate) const CACHE_MODE: &str = "    cache-mode: write\n";

/// Returns an example as act takes it.
fn example(name: &str) -> String {
    let text = fs_err::read_to_string(project().join(format!("docs/examples/{name}.yaml"))).unwrap();
    text.replace(CACHE_MODE, "")
}

/// Prepares a workflow with a scripted model that gives one answer.
pub(crate) fn scripted<'a>(sim: &'a Sim, text: &str, event: &str, payload: &Value) -> Workflow<'a> {
    let config = sim.model().provider().to_string().replace('\'', "''");
    let text = text.replace(
        "          model: anthropic/claude-sonnet-4-5\n",
        &format!("          opencode-config: '{config}'\n          enable-omo: false\n"),
    );
    sim.model().says("It is the seal.");
    let auth = r#"{"scripted":{"type":"api","key":"planted-model-key-0123456789"}}"#;
    sim.workflow(&text, event, payload).secret("OPENCODE_AUTH_JSON", auth)
}

/// Runs an example and checks that it went well.
async fn run(sim: &Sim, name: &str, event: &str, payload: &Value) -> Worked {
    let worked = scripted(sim, &example(name), event, payload).run().await;
    assert_eq!(worked.code, Some(0), "{}", worked.log);
    worked
}

#[tokio::test]
async fn a_mention_is_answered() {
    let sim = Sim::new().await;
    let comment = sim.world().write_comment(REPO, 1, "maya", "@fro-bot why is the floor wet?");
    let worked = run(&sim, "mention", "issue_comment", &sim.world().comment_event(REPO, comment)).await;
    let answers = sim.answers();
    assert!(
        matches!(answers.as_slice(), [only] if only.contains("It is the seal.")),
        "{answers:?}\n{}",
        worked.log
    );
    assert_eq!(sim.reactions(comment), ["fro-bot: hooray"]);
    assert!(worked.log.contains("::set-output:: comment-url="), "{}", worked.log);
    sim.finish().await;
}

#[tokio::test]
async fn a_pull_request_is_reviewed() {
    let sim = Sim::new().await;
    run(&sim, "pull-request", "pull_request", &sim.world().pull_event(REPO, 2, "opened", "maya")).await;
    assert_eq!(sim.world().comments_by(REPO, 2, "fro-bot").len(), 1);
    sim.finish().await;
}

/// Runs the reviewer's example on an event, with these calls of the model, and returns how it ended.
async fn review(sim: &Sim, event: &str, payload: &Value, calls: Vec<(&str, Value)>) -> Worked {
    let config = sim.model().provider().to_string().replace('\'', "''");
    let text = example("review").replace(
        "          model: anthropic/claude-sonnet-4-5\n",
        &format!("          opencode-config: '{config}'\n"),
    );
    for (tool, arguments) in calls {
        sim.model().calls(tool, arguments);
        if tool.starts_with("submit") || tool.contains("reply") {
            sim.model().says("Done.");
        }
    }
    let auth = r#"{"scripted":{"type":"api","key":"planted-model-key-0123456789"}}"#;
    let workflow = sim.workflow(&text, event, payload).secret("OPENCODE_AUTH_JSON", auth);
    workflow.secret("REVIEW_STATE_KEY", "planted-state-key-0123456789").run().await
}

#[tokio::test]
async fn a_reviewer_s_thread_goes_from_a_finding_over_a_push_to_a_reply() {
    let sim = Sim::new().await;
    let passes = || {
        (1..=4).map(|pass| {
            (
                "submit_pass_results",
                json!({ "pass_number": pass, "summary": "", "has_blocking_issues": false }),
            )
        })
    };
    let assessment = json!({ "finding": "Silicone swells.", "assessment": "It leaks.", "score": 9 });
    let finding =
        json!({ "file": "tap.rs", "line": 7, "body": "Silicone swells.", "assessment": assessment });
    let calls = std::iter::once(("github_post_review_comment", finding)).chain(passes()).collect();
    let opened = sim.world().pull_event(REPO, 2, "opened", "maya");
    let worked = review(&sim, "pull_request", &opened, calls).await;
    assert!(worked.log.contains("::set-output:: review_status=has_blocking_issues"), "{}", worked.log);
    assert!(worked.log.contains("::set-output:: blocking_issues=1"), "{}", worked.log);
    assert_ne!(worked.code, Some(0), "the check is red");

    // Nothing is said again after a push, and the thread is as red as before.
    sim.publish("new-seal", "bed.rs", "pub fn bed() {}\n").await;
    let pushed = sim.world().pull_event(REPO, 2, "synchronize", "maya");
    let worked = review(&sim, "pull_request", &pushed, passes().collect()).await;
    assert!(worked.log.contains("::set-output:: issues_found=0"), "{}", worked.log);

    let root = sim.world().state(|state| {
        let pull = state.issue(REPO, 2).and_then(|issue| issue.pull.as_ref()).unwrap();
        pull.threads
            .iter()
            .map(|thread| &thread.comments[0])
            .find(|root| root.author == "fro-bot")
            .unwrap()
            .id
    });
    let reply =
        sim.world().change(|state| state.reply_in_thread(REPO, root, "maya", "Not this one.")).unwrap();
    let answer = json!({ "thread_id": root.to_string(), "body": "Right.", "is_concession": true });
    let event = sim.world().review_comment_event(REPO, reply);
    let worked =
        review(&sim, "pull_request_review_comment", &event, vec![("github_reply_to_thread", answer)]).await;
    assert_eq!(worked.code, Some(0), "{}", worked.log);
    assert!(worked.log.contains("::set-output:: review_status=completed"), "{}", worked.log);
    sim.finish().await;
}

#[tokio::test]
async fn a_schedule_leaves_its_answer_on_the_run_s_page() {
    let sim = Sim::new().await;
    let worked = run(
        &sim,
        "schedule",
        "schedule",
        &json!({ "schedule": "23 6 * * 1", "repository": { "fork": false } }),
    )
    .await;
    assert!(worked.log.contains(SUMMARY), "{}", worked.log);
    sim.finish().await;
}

#[tokio::test]
async fn a_task_by_hand_is_done() {
    let sim = Sim::new().await;
    let payload = json!({
        "inputs": { "prompt": "Which taps drip?" },
        "repository": { "default_branch": "main" },
        "ref": "refs/heads/main",
    });
    let worked = run(&sim, "dispatch", "workflow_dispatch", &payload).await;
    assert!(sim.model().seen()[0].last_user().contains("Which taps drip?"));
    assert!(worked.log.contains(SUMMARY), "{}", worked.log);
    sim.finish().await;
}

#[test]
fn every_example_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for file in fs_err::read_dir(project().join("docs/examples")).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap();
        fs_err::write(folder.path().join(file.file_name().unwrap()), example(name)).unwrap();
        let text = example(name);
        for needed in ["\npermissions: {}\n", "\n    if: ", "\n    timeout-minutes: "] {
            assert!(text.contains(needed), "{name} has no{needed}");
        }
        let jobs = text.matches("\n    runs-on: ").count();
        let grouped =
            text.contains("\nconcurrency:\n") || text.matches("\n    concurrency:\n").count() == jobs;
        assert!(grouped, "{name} has a job without `concurrency`");
        count += 1;
    }
    let checked =
        Command::new(act()).args(["--validate", "--strict", "--workflows"]).arg(folder.path()).output();
    let checked = checked.unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    assert!(count >= 8, "only {count} examples");
}
