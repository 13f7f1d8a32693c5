//! Made-up events: in a workflow that allows them, and from a developer's machine.

use std::process::Output;

use fro_stories::{REPO, Sim, binary};
use serde_json::{Value, json};

/// Returns a made-up event: maya calls for help, which needs no engine.
fn made_up(sim: &Sim) -> Value {
    let comment = sim.world().write_comment(REPO, 1, "maya", "@fro-bot help");
    json!({
        "eventName": "issue_comment",
        "payload": sim.world().comment_event(REPO, comment),
        "repo": { "owner": "octo", "repo": "garden" },
        "actor": "maya",
    })
}

#[tokio::test]
async fn a_made_up_event_is_answered_and_the_log_warns() {
    let sim = Sim::new().await;
    let mock = made_up(&sim).to_string();
    let run = sim.mention("nothing for us").variable("MOCK_EVENT", mock).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.only_comment().contains("| `@fro-bot help` | show this table |"), "{run}");
    assert!(
        run.log_and_errors().contains("the event is made up: the variable `MOCK_EVENT` stands in for it"),
        "{run}"
    );
    sim.finish().await;
}

#[tokio::test]
async fn in_production_a_made_up_event_is_ignored_and_the_log_warns() {
    let sim = Sim::new().await;
    let mock = made_up(&sim).to_string();
    let mention = sim.mention("nothing for us").variable("MOCK_EVENT", mock).variable("CI", "true");
    let run = mention.run().await;
    assert_eq!((run.code, run.answers.len()), (Some(0), 0), "{run}");
    assert!(run.log_and_errors().contains("the variable `MOCK_EVENT` is ignored: `CI` is `true`"), "{run}");
    assert!(run.log_and_errors().contains("nothing to do: the comment does not mention @fro-bot"), "{run}");
    sim.finish().await;
}

/// Runs `fro-bot run` as somebody does who sits in the checkout.
async fn run(sim: &Sim, arguments: &[&str]) -> Output {
    let file = sim.folder().join("event.json");
    fs_err::write(&file, made_up(sim).to_string()).unwrap();
    let mut command = tokio::process::Command::new(binary());
    command.arg("run").arg("--event").arg(file).args(arguments).current_dir(sim.checkout()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", sim.folder().join("home")).env("RUNNER_TEMP", sim.temp());
    command.env("GITHUB_API_URL", sim.world().api_url()).env("GITHUB_GRAPHQL_URL", sim.world().graphql_url());
    command.env("GITHUB_SERVER_URL", sim.world().api_url()).env("GITHUB_TOKEN", sim.world().token("fro-bot"));
    command.output().await.unwrap()
}

#[tokio::test]
async fn an_event_of_one_s_own_is_answered_from_this_machine() {
    let sim = Sim::new().await;
    let done = run(&sim, &[]).await;
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{told}{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(sim.answers().len(), 1);
    assert!(told.contains("### fro-bot on issue #1") && told.contains("| Run | `local` |"), "{told}");

    // Nothing is written on GitHub if that is not wanted, and the answer is printed.
    let done = run(&sim, &["--input", "response-mode=none"]).await;
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && told.contains("| `@fro-bot help` | show this table |"), "{told}");
    assert_eq!(sim.answers().len(), 1);
    sim.finish_early().await;
}

#[tokio::test]
async fn a_folder_of_another_repository_is_refused() {
    let sim = Sim::cloned().await;
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        assert!(git.arg("-C").arg(sim.checkout()).args(arguments).status().unwrap().success());
    };
    git(&["config", "remote.origin.url", "https://github.com/maya/orchard.git"]);
    let done = run(&sim, &[]).await;
    let told = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{told}");
    assert!(
        told.contains("the event is of octo/garden, and this folder is a checkout of maya/orchard"),
        "{told}"
    );
    assert!(told.contains("`gh repo clone octo/garden`"), "{told}");
    assert_eq!(sim.answers().len(), 0);
    sim.finish_early().await;
}

#[tokio::test]
async fn a_log_for_machines_is_one_object_per_line() {
    let sim = Sim::new().await;
    let run = sim.mention("@fro-bot help").variable("FRO_LOG_FORMAT", "json").run().await;
    let objects: Vec<Value> = run.log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = objects.iter().filter_map(|object| object["kind"].as_str()).collect();
    assert_eq!(kinds, ["permitted", "model", "acknowledged", "hydrated", "accounted", "delivered"], "{run}");
    assert!(objects[5]["facts"]["url"].as_str().is_some_and(|url| url.starts_with("http")), "{run}");
    sim.finish().await;
}
