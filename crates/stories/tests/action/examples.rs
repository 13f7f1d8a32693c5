//! Each example workflow, as it stands in the docs, for the event it is made for.

use fro_stories::{REPO, Sim, project};
use serde_json::Value;

/// Runs an example and checks that it went well.
async fn run(sim: &Sim, example: &str, event: &str, payload: &Value) -> String {
    let text = fs_err::read_to_string(project().join(format!("docs/examples/{example}.yaml"))).unwrap();
    // What differs: the model is a scripted one, and act's schema is older than `cache-mode`.
    let config = sim.model().provider().to_string();
    let text = text.replace(
        "          model: anthropic/claude-sonnet-4-5\n",
        &format!("          opencode-config: '{}'\n", config.replace('\'', "''")),
    );
    let text = text.replace("    cache-mode: write\n", "");
    let auth = r#"{"scripted":{"type":"api","key":"planted-model-key-0123456789"}}"#;
    let worked = sim.workflow(&text, event, payload).secret("OPENCODE_AUTH_JSON", auth).run().await;
    assert_eq!(worked.code, Some(0), "{}", worked.log);
    worked.log
}

#[tokio::test]
async fn a_mention_is_answered() {
    let sim = Sim::new().await;
    sim.model().says("It is the seal.");
    let comment = sim.world().write_comment(REPO, 1, "maya", "@fro-bot why is the floor wet?");
    let log = run(&sim, "mention", "issue_comment", &sim.world().comment_event(REPO, comment)).await;
    let answers = sim.answers();
    assert!(matches!(answers.as_slice(), [only] if only.contains("It is the seal.")), "{answers:?}\n{log}");
    assert_eq!(sim.reactions(comment), ["fro-bot: hooray"]);
    sim.finish().await;
}
