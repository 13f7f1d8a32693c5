//! Runs with Oh My OpenCode, the real one.

use fs_err::os::unix::fs::symlink;

use fro_stories::{Sim, tool_cache};

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
