//! `fro-bot doctor`: one line about each thing that a run depends on.

use std::process::{Command, Output};

use fro_stories::{REPO, Sim, binary, normal, tool_cache};
use insta::assert_snapshot;

async fn examine(sim: &Sim, change: &[(&str, &str)], json: bool) -> Output {
    let mut command = tokio::process::Command::from(Command::new(binary()));
    command.arg("doctor").env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.current_dir(sim.checkout()).env("RUNNER_TOOL_CACHE", tool_cache());
    command.env("HOME", sim.folder().join("home")).env("GITHUB_REPOSITORY", REPO);
    command.env("GITHUB_API_URL", sim.world().api_url()).env("GITHUB_GRAPHQL_URL", sim.world().graphql_url());
    command.env("INPUT_GITHUB-TOKEN", sim.world().token("fro-bot"));
    command.env("INPUT_OPENCODE-CONFIG", sim.model().provider().to_string());
    if json {
        command.arg("--json");
    }
    command.envs(change.iter().copied()).output().await.unwrap()
}

fn findings(sim: &Sim, output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let text = text.replace(tool_cache().to_str().unwrap(), "TOOLS");
    let walls = text.lines().filter(|line| !line.contains("walls")).collect::<Vec<_>>().join("\n");
    normal(&walls).replace(sim.folder().to_str().unwrap(), "STORY")
}

#[tokio::test]
async fn a_good_set_up_is_told_so() {
    let sim = Sim::new().await;
    let output = examine(&sim, &[("ACTIONS_RESULTS_URL", "http://127.0.0.1:9/")], false).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_snapshot!(findings(&sim, &output));
    sim.finish_early().await;
}

#[tokio::test]
async fn what_is_wrong_has_a_next_step() {
    let sim = Sim::new().await;
    let wrong = [("INPUT_GITHUB-TOKEN", "wrong"), ("INPUT_MODEL", "nobody/m9")];
    let output = examine(&sim, &wrong, false).await;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_snapshot!(findings(&sim, &output));
    let output = examine(&sim, &[("INPUT_TIMEOUT", "soon"), ("INPUT_MODEL", "m9")], true).await;
    let findings: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&findings[0]["about"], &findings[0]["health"]), (&"inputs".into(), &"bad".into()));
    sim.finish_early().await;
}
