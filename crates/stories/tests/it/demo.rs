//! The demo: what a newcomer sees, and that it can be broken off at any moment.

use std::path::Path;

use fro_sim::World;
use fro_stories::{Demo, taken_port};
use serde_json::json;

#[tokio::test]
async fn the_demo_answers_and_ends_clean() {
    let ended = Demo::start(&[]).ends().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for words in [
        "acknowledged with 👀",
        "bash sh test.sh",
        "not ok: 4 square metres at 30 degrees",
        "Where the time went",
    ] {
        assert!(ended.shown.contains(words), "no `{words}` in:\n{}", ended.shown);
    }
}

async fn interrupted_when_it_shows(words: &str) {
    let mut demo = Demo::start(&[]);
    demo.shows(words).await;
    demo.interrupt();
    let ended = demo.ends().await;
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.shown.contains("interrupted; nothing is left behind"), "{ended:?}");
}

#[tokio::test]
async fn ctrl_c_at_the_start_leaves_nothing() {
    interrupted_when_it_shows("a simulated GitHub is open").await;
}

#[tokio::test]
async fn ctrl_c_while_the_engine_starts_leaves_nothing() {
    interrupted_when_it_shows("acknowledged").await;
}

#[tokio::test]
async fn ctrl_c_when_the_engine_is_up_leaves_nothing() {
    interrupted_when_it_shows("engine is up").await;
}

#[tokio::test]
async fn ctrl_c_while_the_agent_works_leaves_nothing() {
    interrupted_when_it_shows("bash sh test.sh").await;
}

#[tokio::test]
async fn ctrl_c_while_the_page_is_kept_open_ends_the_demo() {
    let mut demo = Demo::start(&["--keep"]);
    demo.shows("stays open").await;
    demo.interrupt();
    assert_eq!(demo.ends().await.code, Some(0));
}

#[tokio::test]
async fn a_busy_port_is_named() {
    let (_taken, port) = taken_port();
    let ended = Demo::start(&["--port", &port.to_string()]).ends().await;
    assert_eq!(ended.code, Some(2), "{ended:?}");
    insta::assert_snapshot!(ended.errors.replace(&port.to_string(), "PORT"));
}

#[tokio::test]
async fn a_real_model_plays_in_the_demo_and_its_key_stays_outside() {
    let provider = World::start().await.unwrap();
    let (model, key) = (provider.model(), "sk-planted-demo-0123456789");
    model.answers_aside("no");
    model.accepts_only(key);
    model.calls("bash", json!({ "command": "env", "description": "Looks" }));
    model.says("The comparison leaves 30 degrees out.");
    let folder = tempfile::tempdir().unwrap();
    let (auth, config) = (folder.path().join("auth.json"), folder.path().join("opencode.json"));
    fs_err::write(&auth, json!({ "scripted": { "type": "api", "key": key } }).to_string()).unwrap();
    let mut settings = model.provider();
    settings["provider"]["scripted"]["options"].as_object_mut().unwrap().remove("apiKey");
    fs_err::write(&config, settings.to_string()).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();

    let arguments = ["--model", "scripted/m1", "--auth", &text(&auth), "--config", &text(&config)];
    let ended = Demo::start(&arguments).ends().await;

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.shown.contains("asking scripted/m1"), "{ended:?}");
    assert!(ended.shown.contains("│ The comparison leaves 30 degrees out."), "{ended:?}");
    let seen = model.seen();
    assert_eq!(seen.iter().map(|call| call.key.as_deref()).collect::<Vec<_>>(), [Some(key), Some(key)]);
    let told = seen[1].tool_results().concat();
    assert!(!told.contains("planted") && told.contains("HOME="), "{told}");
}

#[tokio::test]
async fn a_model_of_an_unknown_provider_is_named_with_the_remedy() {
    let ended = Demo::start(&["--model", "nobody/knows"]).ends().await;
    assert_eq!(ended.code, Some(2), "{ended:?}");
    insta::assert_snapshot!(ended.errors, @"
    error: the provider `nobody` cannot be asked through the model proxy

    hint: give `provider.nobody` in `opencode-config` an `npm` package such as `@ai-sdk/openai-compatible`; Bedrock and Vertex are not supported yet
    ");
}

#[tokio::test]
async fn the_reviewer_s_demo_plays_three_pushes() {
    let ended = Demo::start(&["--review"]).ends().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for words in [
        "reviewed: 2 findings",
        "open      tap.rs: `open` ignores that silicone swells in hot water.",
        "resolved  tap.rs: `flow` still asks for rubber, which no tap has any more.",
        "resolved  tap.rs: `open` ignores that silicone swells in hot water.",
        "reviewed: 0 findings, nothing was posted",
    ] {
        assert!(ended.shown.contains(words), "no `{words}` in:\n{}", ended.shown);
    }
}
