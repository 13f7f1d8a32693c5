//! Runs with Oh My OpenCode, the real one.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
};

use fro_stories::{Mention, REPO, Run, Sim, binary, tool_cache};
use fs_err::os::unix::fs::symlink;
use serde_json::json;

#[tokio::test]
async fn sisyphus_answers_twice_in_a_row() {
    let sim = Sim::new().await;
    for question in ["@fro-bot why is the floor wet?", "@fro-bot and since when?"] {
        sim.model().says("It is the seal.");
        let run = sim.mention(question).with("enable-omo", "true");
        let run = run.variable("FRO_OMO_PATIENCE", "300000").run().await;
        assert_eq!(run.code, Some(0), "{run}");
        let answer = run.answers.last().unwrap();
        assert!(answer.contains("| Agent | `Sisyphus - ultraworker` |"), "{answer}");
        assert!(!answer.contains("⚠️"), "{answer}");
    }
    sim.finish().await;
}

#[tokio::test]
async fn without_it_there_is_one_warning_and_an_answer() {
    let sim = Sim::new().await;
    let tools = tools(&sim);
    let nowhere = mention(&sim, &tools).variable("npm_config_registry", "http://127.0.0.1:9/");
    does_without(
        &nowhere.run().await,
        "Oh My OpenCode was not loaded: 'npm pack oh-my-opencode@4.19.4' failed",
    );
    sim.finish().await;
}

/// It takes connections, and never says a word.
#[tokio::test]
async fn a_registry_that_hangs_is_not_waited_for_and_warm_makes_up_for_it() {
    let sim = Sim::new().await;
    let tools = tools(&sim);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = (format!("http://{}/", silent.local_addr().unwrap()), silent);
    let hanging = mention(&sim, &tools).variable("npm_config_registry", &silent.0);
    let run = hanging.variable("FRO_OMO_PATIENCE", "1000").run().await;
    does_without(&run, "it was not there after 1 s");
    assert!(!tools.join("oh-my-opencode/4.19.4/any").exists(), "nothing half is left");

    let warm = Command::new(binary()).arg("warm").env("RUNNER_TOOL_CACHE", &tools).output().unwrap();
    assert!(warm.status.success(), "{}", String::from_utf8_lossy(&warm.stderr));
    let run = mention(&sim, &tools).variable("npm_config_registry", &silent.0).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let answer = run.answers.last().unwrap();
    assert!(answer.contains("| Agent | `Sisyphus - ultraworker` |"), "{answer}");
    sim.finish().await;
}

#[tokio::test]
async fn an_engine_that_hangs_on_it_is_started_again_without() {
    let sim = Sim::new().await;
    let tools = tools(&sim);
    plant(&tools, "export default () => new Promise(() => {})");
    let run = mention(&sim, &tools).variable("FRO_OMO_PATIENCE", "3000").run().await;
    does_without(&run, "the engine was not ready with it after 3 s");
    sim.finish().await;
}

#[tokio::test]
async fn one_that_breaks_is_missed_and_said() {
    let sim = Sim::new().await;
    let tools = tools(&sim);
    plant(&tools, "throw new Error('weeds')");
    does_without(
        &mention(&sim, &tools).run().await,
        "there is no agent 'Sisyphus'; 'build' was asked instead",
    );
    sim.finish().await;
}

#[tokio::test]
async fn its_notes_are_in_no_commit_no_answer_and_no_checkout() {
    let sim = Sim::cloned().await;
    let model = sim.model();
    for command in [
        "echo '// mended' >> tap.rs",
        "mkdir -p .omo/plans .sisyphus && echo wet | tee .omo/plans/a.md .sisyphus/b.md && echo dry > seal.txt && git status --short --ignored",
        "git add -A && git commit -qm 'Mend the tap' && git push origin HEAD 2>&1",
    ] {
        model.calls("bash", json!({ "command": command, "description": "Mends" }));
    }
    model.says("Mended.");
    let mention = sim.mention("@fro-bot fix it").with("enable-omo", "true");
    let run = mention.variable("FRO_OMO_PATIENCE", "300000").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let status = sim.model().seen()[2].tool_results().concat();
    assert!(status.contains("!! .omo/") && status.contains("!! .sisyphus/"), "{status}");
    let pulls = sim.world().state(|state| {
        let issues = state.repo(REPO).unwrap().issues.iter();
        issues.filter_map(|issue| issue.pull.clone().filter(|_| issue.number > 3)).collect::<Vec<_>>()
    });
    let [pull] = pulls.as_slice() else { panic!("{run}") };
    assert_eq!(pull.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["seal.txt", "tap.rs"]);
    let [answer] = run.answers.as_slice() else { panic!("{run}") };
    assert!(answer.contains("`Sisyphus - ultraworker`") && !answer.contains(".omo"), "{answer}");
    let left =
        Command::new("git").args(["status", "--short", "--ignored"]).current_dir(sim.checkout()).output();
    assert_eq!(String::from_utf8_lossy(&left.unwrap().stdout), "");
    sim.finish().await;
}

/// A tool cache with all but the plugin.
fn tools(sim: &Sim) -> PathBuf {
    let tools = sim.folder().join("tools");
    fs_err::create_dir(&tools).unwrap();
    for tool in ["opencode", "opencode-baseline", "ripgrep"] {
        symlink(tool_cache().join(tool), tools.join(tool)).unwrap();
    }
    tools
}

/// Puts a module into the plugin's place.
fn plant(tools: &Path, module: &str) {
    let place = tools.join("oh-my-opencode/4.19.4");
    let folder = place.join("any/node_modules/oh-my-opencode");
    fs_err::create_dir_all(&folder).unwrap();
    let about =
        json!({ "name": "oh-my-opencode", "version": "4.19.4", "type": "module", "main": "index.js" });
    fs_err::write(folder.join("package.json"), about.to_string()).unwrap();
    fs_err::write(folder.join("index.js"), module).unwrap();
    fs_err::write(place.join("any.complete"), "").unwrap();
}

/// A run on a machine that takes a while to load the plugin.
fn mention<'a>(sim: &'a Sim, tools: &Path) -> Mention<'a> {
    sim.model().says("It is the seal.");
    let mention = sim.mention("@fro-bot why is the floor wet?").with("enable-omo", "true");
    mention
        .variable("RUNNER_TOOL_CACHE", tools)
        .variable("npm_config_fetch_retries", "0")
        .variable("FRO_OMO_PATIENCE", "300000")
}

/// The answer is there, by the engine's own agent, with one warning.
fn does_without(run: &Run, warning: &str) {
    assert_eq!(run.code, Some(0), "{run}");
    let [answer] = run.answers.as_slice() else { panic!("{run}") };
    assert!(answer.contains("It is the seal.") && answer.contains("| Agent | `build` |"), "{answer}");
    assert_eq!(answer.matches("⚠️").count(), 1, "{answer}");
    assert!(answer.contains(warning), "{answer}");
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
