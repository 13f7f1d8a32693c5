//! What one run learned, the next one knows.

use fro_stories::Sim;
use serde_json::json;

#[tokio::test]
async fn the_agent_finds_what_an_earlier_run_said() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let first = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(first.code, Some(0), "{first}");
    sim.model().calls("session_search", json!({ "query": "brass coupling" }));
    sim.model().calls("session_list", json!({}));
    sim.model().calls("session_read", json!({ "session_id": "ses_nobody" }));
    sim.model().says("The coupling again.");
    let second = sim.mention("@fro-bot and today?").variable("GITHUB_RUN_ID", "43").run().await;
    assert_eq!(second.code, Some(0), "{second}");
    let last = &sim.model().seen()[4];
    let offered = last.offered_tools();
    for tool in ["session_list", "session_search", "session_read", "session_info", "answer_draft"] {
        assert!(offered.iter().any(|name| name == tool), "{offered:?}");
    }
    let results = last.tool_results();
    assert!(results[0].contains("The hose leaks at the brass coupling."), "{results:?}");
    assert!(results[0].contains("octo/garden#1"), "{results:?}");
    assert!(results[1].contains("`issue #1 of octo/garden`"), "{results:?}");
    assert!(results[2].contains("there is no session `ses_nobody`"), "{results:?}");
    sim.finish().await;
}

#[tokio::test]
async fn the_last_draft_is_the_answer() {
    let sim = Sim::new().await;
    sim.model().calls("answer_draft", json!({ "body": "The tap." }));
    sim.model().calls("answer_draft", json!({ "body": "" }));
    sim.model().calls("answer_draft", json!({ "body": "The hose." }));
    sim.model().says("I have handed in my answer.");
    // An operator's configuration cannot take the tools away.
    let mut config = sim.model().provider();
    config["mcp"] = json!({ "answer": { "type": "local", "command": ["false"], "enabled": false } });
    config["permission"] = json!({ "answer_*": "deny", "session_*": "deny" });
    config["tools"] = json!({ "answer_draft": false });
    let run = sim.mention("@fro-bot why?").with("opencode-config", &config.to_string()).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let comment = run.only_comment();
    assert!(comment.contains("\nThe hose.\n") && !comment.contains("handed in"), "{run}");
    let results = sim.model().seen()[3].tool_results();
    insta::assert_snapshot!(results.join("\n"), @"
    `draft-1` is your answer now. It is posted when you are done; another draft replaces it.
    `body` is empty; it is the whole answer, in GitHub Markdown
    `draft-2` is your answer now. It is posted when you are done; another draft replaces it.
    ");
    sim.finish().await;
}
