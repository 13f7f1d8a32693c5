//! The demo: what a newcomer sees, and that it can be broken off at any moment.

use fro_stories::{Demo, taken_port};

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
    interrupted_when_it_shows("a little GitHub is open").await;
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
