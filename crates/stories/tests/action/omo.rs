//! Runs with Oh My OpenCode, the real one.

use fs_err::os::unix::fs::symlink;
use serde_json::json;

use fro_stories::{REPO, Sim, tool_cache};

#[tokio::test]
async fn sisyphus_answers_twice_in_a_row() {
    let sim = Sim::new().await;
    for question in ["@fro-bot why is the floor wet?", "@fro-bot and since when?"] {
        sim.model().says("It is the seal.");
        let run = sim.mention(question).with("enable-omo", "true").run().await;
        assert_eq!(run.code, Some(0), "{run}");
        let answer = run.answers.last().unwrap();
        assert!(answer.contains("| Agent | `Sisyphus - ultraworker` |"), "{answer}");
        assert!(!answer.contains("Warning"), "{answer}");
    }
    sim.finish().await;
}

#[tokio::test]
async fn without_it_there_is_one_warning_and_an_answer() {
    let sim = Sim::new().await;
    let tools = sim.folder().join("tools");
    fs_err::create_dir(&tools).unwrap();
    for tool in ["opencode", "ripgrep"] {
        symlink(tool_cache().join(tool), tools.join(tool)).unwrap();
    }
    sim.model().says("It is the seal.");
    let mention = sim.mention("@fro-bot why is the floor wet?").with("enable-omo", "true");
    let mention = mention.variable("RUNNER_TOOL_CACHE", tools.as_os_str());
    let run = mention.variable("npm_config_registry", "http://127.0.0.1:9/").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let [answer] = run.answers.as_slice() else { panic!("{run}") };
    assert_eq!(answer.matches("Oh My OpenCode was not loaded").count(), 1, "{answer}");
    assert!(answer.contains("| Agent | `build` |"), "{answer}");
    sim.finish().await;
}

#[tokio::test]
async fn its_session_tools_have_our_names_and_ours_answer() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at the brass coupling.");
    let first = sim.mention("@fro-bot why is the floor wet?").run().await;
    assert_eq!(first.code, Some(0), "{first}");
    sim.model().calls("session_search", json!({ "query": "brass coupling" }));
    sim.model().calls("session_list", json!({}));
    sim.model().says("The coupling again.");
    let asked = sim.world().write_comment(REPO, 2, "maya", "@fro-bot does this help?");
    let mention = sim.mention("").again(asked).variable("GITHUB_RUN_ID", "43");
    let run = mention.with("enable-omo", "true").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let results = sim.model().seen().last().unwrap().tool_results();
    for result in &results {
        assert!(result.contains("octo/garden#1"), "{results:?}");
    }
    assert!(results[0].contains("The hose leaks at the brass coupling."), "{results:?}");
    sim.finish().await;
}
