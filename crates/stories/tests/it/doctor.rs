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

#[tokio::test]
async fn on_a_laptop_the_model_is_the_one_of_the_workflow() {
    let sim = Sim::new().await;
    let folder = sim.checkout().join(".github/workflows");
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::write(
        folder.join("fro-bot.yaml"),
        "jobs:\n  mentions:\n    with:\n      model: openai/gpt-5.1\n",
    )
    .unwrap();
    let output = examine(&sim, &[("INPUT_OPENCODE-CONFIG", "")], false).await;
    let told = findings(&sim, &output);
    assert!(told.contains("bad   model        there is no key for the provider `openai`"), "{told}");
    sim.finish_early().await;
}

/// Returns what was looked at, with how it is.
fn looked_at(output: &Output) -> String {
    let findings: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let word = |finding: &serde_json::Value, name: &str| finding[name].as_str().unwrap().to_owned();
    let rows =
        findings.iter().map(|finding| format!("{} {}", word(finding, "about"), word(finding, "health")));
    rows.filter(|row| !row.starts_with("walls")).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn a_missing_token_or_a_wrong_input_hides_nothing_else() {
    let sim = Sim::new().await;
    let laptop = examine(&sim, &[("INPUT_GITHUB-TOKEN", "")], true).await;
    let typo = examine(&sim, &[("INPUT_TIMEOUT", "soon")], true).await;
    let both = examine(&sim, &[("INPUT_GITHUB-TOKEN", ""), ("INPUT_MODEL", "m9")], true).await;
    assert_snapshot!([laptop, typo, both].map(|output| looked_at(&output)).join("\n"), @"
    token bad, inputs ok, model ok, engine ok, cache ok
    inputs bad, token ok, scopes look, writes ok, file ok, model ok, engine ok, cache ok
    token bad, inputs bad, engine ok, cache ok
    ");
    sim.finish_early().await;
}
