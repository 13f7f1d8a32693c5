//! The whole daemon: `fro-bot serve` with the worker that it starts, a little Discord, a little GitHub, the real engine.

mod crowds;
mod kills;
pub(crate) mod stage;

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
