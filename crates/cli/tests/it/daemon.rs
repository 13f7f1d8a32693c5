//! The whole daemon: `fro-bot serve` with the worker that it starts, a little Discord, a little GitHub, the real engine.

mod crowds;
mod kills;
pub(crate) mod stage;
mod surfaces;

use std::{path::Path, process::Command};

use stage::Stage;

/// A mention in a linked channel opens a thread and is answered there; words in the thread go on with the session, also
/// after both processes were started anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_channel_is_answered_by_both_processes_and_a_thread_goes_on_after_a_restart() {
    let stage = Stage::open().await;
    let model = stage.github.model();
    let garden = stage.discord.channel("garden");

    let serving = stage.serve().await;
    model.says("The hose leaks at the brass coupling.");
    let thread = stage.discord.says("maya", garden, "@fro-bot why is the floor wet?");
    stage.until_said(thread, "The hose leaks at the brass coupling.").await;
    stage.stop(serving).await;

    let serving = stage.serve().await;
    model.says("Since Tuesday.");
    stage.discord.says("maya", thread, "And since when?");
    stage.until_said(thread, "Since Tuesday.").await;
    let seen = serde_json::json!(model.seen().last().unwrap().body).to_string();
    assert!(seen.contains("brass coupling"), "it does not know what was said: {seen}");
    stage.stop(serving).await;

    let answers = stage.said(thread);
    let once = |words: &str| answers.iter().filter(|text| text.contains(words)).count();
    assert_eq!((once("brass coupling"), once("Since Tuesday")), (1, 1), "{answers:?}");
}

/// The demo has both processes in one, and an issue on GitHub that remembers what was said in the thread.
#[tokio::test(flavor = "multi_thread")]
async fn the_demo_of_discord_plays_to_its_end_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [home, temporary] = ["home", "temporary"].map(|name| folder.path().join(name));
    for folder in [&home, &temporary] {
        fs_err::create_dir(folder).unwrap();
    }
    let program = env!("CARGO_BIN_EXE_fro-bot");
    let mut demo = Command::new(program);
    demo.args(["demo", "--discord"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .env("TMPDIR", &temporary)
        .env("RUNNER_TOOL_CACHE", Path::new(program).ancestors().nth(2).unwrap().join("tools"));
    let output = tokio::task::spawn_blocking(move || demo.output().unwrap()).await.unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    for words in [
        "maya asks in #garden",
        "The greenhouse tap gives **",
        "With a silicone seal the greenhouse tap gives **",
        "This was asked in a thread on Discord. What I found there:",
    ] {
        assert!(shown.contains(words), "no `{words}` in:\n{shown}");
    }
    let left: Vec<_> = fs_err::read_dir(temporary).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
