//! One memory over both surfaces, with both processes and the real engine: threads of Discord, issues and pull requests of GitHub.

use fro_sim::discord::Chat;
use serde_json::json;

use super::stage::Stage;

/// The issue, and the pull request of the garden.
const ISSUE: u64 = 1;
const PULL: u64 = 2;

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_and_github_go_on_with_each_other_s_sessions() {
    let stage = Stage::open().await;
    let (model, garden) = (stage.github.model(), stage.discord.channel("garden"));
    let serving = stage.serve().await;
    model.says("The brass coupling of the greenhouse hose is cracked.");
    let thread = stage.asks("why does the greenhouse coupling drip?");
    stage.until_said(thread, "brass coupling").await;
    stage.until_load(0, 0).await;
    model.says("See the coupling.");
    stage.is_mentioned(ISSUE, "does the greenhouse coupling still drip?").await;
    assert!(asked(&stage).contains("The brass coupling of"), "the issue does not know of the thread");

    model.says("The valve was turned the wrong way.");
    stage.is_mentioned(PULL, "what is wrong with this valve?").await;
    let search = stage.discord.commands("maya", garden, "sessions", &json!({ "search": "valve wrong way" }));
    let told = answer_to(&stage, search).await;
    let line = told.lines().find(|line| line.contains("octo/garden#2")).unwrap_or_else(|| panic!("{told}"));
    let session = line.split('`').nth(1).unwrap();
    let resume = json!({ "session": session, "prompt": "and how do I turn it back?" });
    model.says("Clockwise.");
    stage.discord.commands("maya", garden, "resume", &resume);
    let answered = |chat: &Chat| chat.messages.iter().any(|it| it.content == "Clockwise.");
    stage.discord.wait_until(answered).await;
    stage.until_load(0, 0).await;
    assert!(asked(&stage).contains("turned the wrong way"), "the thread does not know of the pull request");

    model.says("As I said.");
    stage.is_mentioned(PULL, "remind me how it is turned back").await;
    assert!(asked(&stage).contains("Clockwise."), "the pull request does not know of the thread");
    stage.stop(serving).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_in_a_private_channel_is_neither_recalled_nor_offered_elsewhere() {
    let stage = Stage::open().await;
    stage.link("cellar", "octo/garden").await;
    let model = stage.github.model();
    let [cellar, garden] = ["cellar", "garden"].map(|name| stage.discord.channel(name));
    let serving = stage.serve().await;
    model.says("The brass coupling of the greenhouse hose is cracked.");
    let thread = stage.discord.says("maya", cellar, "@fro-bot why does the greenhouse coupling drip?");
    stage.until_said(thread, "brass coupling").await;
    stage.until_load(0, 0).await;

    model.says("I do not know.");
    stage.is_mentioned(ISSUE, "does the greenhouse coupling still drip?").await;
    assert!(!asked(&stage).contains("brass"), "the public issue heard it: {}", asked(&stage));
    model.says("Nor do I.");
    let open = stage.asks("does the greenhouse coupling still drip?");
    stage.until_said(open, "Nor do I.").await;
    stage.until_load(0, 0).await;
    assert!(!asked(&stage).contains("brass"), "the open channel heard it: {}", asked(&stage));

    let search = json!({ "search": "brass coupling" });
    let [there, here] =
        [cellar, garden].map(|channel| stage.discord.commands("maya", channel, "sessions", &search));
    let told = answer_to(&stage, there).await;
    assert!(told.contains(&format!("<#{thread}>")) || told.contains("greenhouse"), "{told}");
    let told = answer_to(&stage, here).await;
    let session =
        stage.store.thread(fro_core::chat::ChannelId::new(thread).unwrap()).await.unwrap().unwrap().session;
    let session = session.unwrap();
    assert!(!told.contains(&session), "{told}");
    // Whoever knows its id is refused, too.
    let resume = json!({ "session": session, "prompt": "go on" });
    let refused = answer_to(&stage, stage.discord.commands("maya", garden, "resume", &resume)).await;
    assert!(refused.starts_with("That is no session that I can go on with here"), "{refused}");
    stage.stop(serving).await;
}

/// Returns what the model was asked last, with all that came before it.
fn asked(stage: &Stage) -> String {
    let seen = stage.github.model().seen();
    seen.last().unwrap().body.to_string()
}

/// Waits until a command has its answer.
async fn answer_to(stage: &Stage, command: u64) -> String {
    let answer = |chat: &Chat| {
        let found = chat.messages.iter().find(|it| it.interaction == Some(command));
        found.map(|it| it.content.clone()).filter(|text| !text.is_empty())
    };
    stage.discord.wait_until(|chat| answer(chat).is_some()).await;
    stage.discord.state(|chat| answer(chat).unwrap())
}
