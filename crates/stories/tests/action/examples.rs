//! Each example workflow, as it stands in the docs, for the event it is made for.

use std::process::Command;

use fro_stories::{REPO, Sim, Worked, act, project};
use serde_json::{Value, json};

/// How act shows what was written to the run's page.
const SUMMARY: &str = "Summary - <!-- fro-bot run=1 event=order -->\nIt is the seal.\n";

/// Returns an example. act's schema is older than `cache-mode`.
fn example(name: &str) -> String {
    let text = fs_err::read_to_string(project().join(format!("docs/examples/{name}.yaml"))).unwrap();
    text.replace("    cache-mode: write\n", "")
}

/// Runs an example with a scripted model and checks that it went well.
async fn run(sim: &Sim, name: &str, event: &str, payload: &Value) -> Worked {
    let config = sim.model().provider().to_string().replace('\'', "''");
    let text = example(name).replace(
        "          model: anthropic/claude-sonnet-4-5\n",
        &format!("          opencode-config: '{config}'\n          enable-omo: false\n"),
    );
    sim.model().says("It is the seal.");
    let auth = r#"{"scripted":{"type":"api","key":"planted-model-key-0123456789"}}"#;
    let worked = sim.workflow(&text, event, payload).secret("OPENCODE_AUTH_JSON", auth).run().await;
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
        for needed in ["\nconcurrency:\n", "\npermissions: {}\n", "\n    if: ", "\n    timeout-minutes: "] {
            assert!(text.contains(needed), "{name} has no{needed}");
        }
        count += 1;
    }
    let checked =
        Command::new(act()).args(["--validate", "--strict", "--workflows"]).arg(folder.path()).output();
    let checked = checked.unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    assert!(count >= 8, "only {count} examples");
}
