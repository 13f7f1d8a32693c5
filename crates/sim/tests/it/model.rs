//! The scripted model, called as an engine calls it.

use std::time::Duration;

use fro_sim::model::{Model, Reply, Seen};
use insta::assert_snapshot;
use reqwest::Response;
use serde_json::{Value, json};

use crate::client::client;

async fn call(model: &Model, body: &Value) -> reqwest::Result<Response> {
    let url = format!("{}/chat/completions", model.base_url());
    client().post(url).bearer_auth("sk-scripted").json(body).send().await
}

fn question(text: &str) -> Value {
    json!({ "model": "m1", "messages": [{ "role": "user", "content": text }] })
}

fn streamed_question() -> Value {
    let mut body = question("why is the floor wet?");
    body["stream"] = json!(true);
    body["stream_options"] = json!({ "include_usage": true });
    body
}

/// The stream of a reply: one line per event, without what differs from run to run.
async fn stream_of(reply: Reply) -> String {
    let model = Model::start().await;
    model.plays(reply);
    let stream = call(&model, &streamed_question()).await.unwrap().text().await.unwrap();
    stream.split("\n\n").filter(|event| !event.is_empty()).map(shortened).collect::<Vec<_>>().join("\n")
}

fn shortened(event: &str) -> String {
    let data = event.strip_prefix("data: ").unwrap();
    let Ok(chunk) = serde_json::from_str::<Value>(data) else { return data.to_owned() };
    assert_eq!(chunk["object"], "chat.completion.chunk");
    match &chunk["choices"][0] {
        Value::Null => format!(
            "usage {} + {} ({} reasoning) = {}",
            chunk["usage"]["prompt_tokens"],
            chunk["usage"]["completion_tokens"],
            chunk["usage"]["completion_tokens_details"]["reasoning_tokens"],
            chunk["usage"]["total_tokens"],
        ),
        choice if choice["finish_reason"].is_null() => choice["delta"].to_string(),
        choice => format!("{} {}", choice["finish_reason"], choice["delta"]),
    }
}

#[tokio::test]
async fn a_text_comes_in_several_deltas_with_its_usage() {
    assert_snapshot!(stream_of(Reply::text("The hose leaks at `tap.rs:12`, since the seal is gone.")).await, @r#"
    {"content":"","role":"assistant"}
    {"content":"The hose leaks "}
    {"content":"at `tap.rs:12`, "}
    {"content":"since the seal "}
    {"content":"is gone."}
    "stop" {}
    usage 33 + 14 (0 reasoning) = 47
    [DONE]
    "#);
}

#[tokio::test]
async fn tool_calls_stream_their_arguments() {
    let calls =
        vec![("bash", json!({ "command": "cargo test -p garden" })), ("read", json!({ "filePath": "a" }))];
    assert_snapshot!(stream_of(Reply::tools(calls)).await, @r#"
    {"content":"","role":"assistant"}
    {"tool_calls":[{"function":{"arguments":"","name":"bash"},"id":"call_1_1","index":0,"type":"function"}]}
    {"tool_calls":[{"function":{"arguments":"{\"command\":\"cargo "},"index":0}]}
    {"tool_calls":[{"function":{"arguments":"test -p garden\"}"},"index":0}]}
    {"tool_calls":[{"function":{"arguments":"","name":"read"},"id":"call_1_2","index":1,"type":"function"}]}
    {"tool_calls":[{"function":{"arguments":"{\"filePath\":\"a\"}"},"index":1}]}
    "tool_calls" {}
    usage 33 + 15 (0 reasoning) = 48
    [DONE]
    "#);
}

#[tokio::test]
async fn thoughts_come_before_the_text() {
    assert_snapshot!(stream_of(Reply::reasoning("hm", "yes").usage(1000, 50)).await, @r#"
    {"content":"","role":"assistant"}
    {"reasoning_content":"hm"}
    {"content":"yes"}
    "stop" {}
    usage 1000 + 50 (1 reasoning) = 1050
    [DONE]
    "#);
}

#[tokio::test]
async fn an_empty_text_is_only_a_finish() {
    assert_snapshot!(stream_of(Reply::text("")).await, @r#"
    {"content":"","role":"assistant"}
    "stop" {}
    usage 33 + 0 (0 reasoning) = 33
    [DONE]
    "#);
}

#[tokio::test]
async fn a_text_can_end_by_length() {
    assert_snapshot!(stream_of(Reply::out_of_length("Once upon")).await, @r#"
    {"content":"","role":"assistant"}
    {"content":"Once upon"}
    "length" {}
    usage 33 + 3 (0 reasoning) = 36
    [DONE]
    "#);
}

#[tokio::test]
async fn an_error_can_come_inside_a_stream() {
    let model = Model::start().await;
    model.plays(Reply::error_in_stream("overloaded"));
    let answer = call(&model, &streamed_question()).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_snapshot!(answer.text().await.unwrap(), @r#"data: {"error":{"code":null,"message":"overloaded","param":null,"type":"scripted_error"}}"#);
}

#[tokio::test]
async fn a_stream_can_be_no_json() {
    let model = Model::start().await;
    model.plays(Reply::garbage());
    let text = call(&model, &streamed_question()).await.unwrap().text().await.unwrap();
    let data = text.trim_end().strip_prefix("data: ").unwrap();
    assert!(serde_json::from_str::<Value>(data).is_err(), "{data}");
}

#[tokio::test]
async fn a_cut_stream_just_ends() {
    assert_snapshot!(stream_of(Reply::cut_after("The hose")).await, @r#"
    {"content":"","role":"assistant"}
    {"content":"The hose"}
    "#);
}

#[tokio::test]
async fn a_broken_stream_arrives_up_to_the_break() {
    let model = Model::start().await;
    model.plays(Reply::broken_after("The hose"));
    let mut answer = call(&model, &streamed_question()).await.unwrap();
    let mut got = String::new();
    let broken = loop {
        match answer.chunk().await {
            Ok(Some(chunk)) => got.push_str(&String::from_utf8_lossy(&chunk)),
            Ok(None) => break false,
            Err(_) => break true,
        }
    };
    assert!(broken && got.contains("The hose"), "broken: {broken}, got: {got}");
}

#[tokio::test]
async fn a_stalled_stream_stays_silent_but_open() {
    let model = Model::start().await;
    model.plays(Reply::stall_after("The"));
    let mut answer = call(&model, &streamed_question()).await.unwrap();
    let mut got = String::new();
    while !got.contains("\"The\"") {
        got.push_str(&String::from_utf8_lossy(&answer.chunk().await.unwrap().unwrap()));
    }
    assert!(tokio::time::timeout(Duration::from_millis(50), answer.chunk()).await.is_err(), "it said more");
}

#[tokio::test]
async fn slow_deltas_are_apart() {
    let model = Model::start().await;
    let pause = Duration::from_millis(5);
    model.plays(Reply::text("one").slowly(pause));
    let began = std::time::Instant::now();
    call(&model, &streamed_question()).await.unwrap().text().await.unwrap();
    // The opening, the text, the finish, the usage and the end mark.
    assert!(began.elapsed() >= 5 * pause, "took {:?}", began.elapsed());
}

#[tokio::test]
async fn a_refusal_has_its_status_headers_and_body() {
    let model = Model::start().await;
    model.plays(Reply::status(429).header("retry-after", "7"));
    model.plays(Reply::status(401).body(r#"{"error":"no"}"#));
    let first = call(&model, &streamed_question()).await.unwrap();
    assert_eq!(first.status(), 429);
    assert_eq!(first.headers()["retry-after"], "7");
    let second = call(&model, &streamed_question()).await.unwrap();
    assert_eq!(
        (second.status().as_u16(), second.text().await.unwrap()),
        (401, r#"{"error":"no"}"#.to_owned())
    );
}

#[tokio::test]
async fn a_call_without_stream_gets_one_object() {
    let model = Model::start().await;
    model.plays(Reply::tool("bash", json!({ "command": "ls" })));
    let mut answer: Value = call(&model, &question("why?")).await.unwrap().json().await.unwrap();
    answer["created"] = json!(0);
    assert_snapshot!(answer, @r#"{"choices":[{"finish_reason":"tool_calls","index":0,"message":{"content":"","role":"assistant","tool_calls":[{"function":{"arguments":"{\"command\":\"ls\"}","name":"bash"},"id":"call_1_1","type":"function"}]}}],"created":0,"id":"chatcmpl-1","model":"m1","object":"chat.completion","usage":{"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":0},"prompt_tokens":15,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":20}}"#);
}

#[tokio::test]
async fn a_reply_can_be_computed_from_what_was_seen() {
    let model = Model::start().await;
    model.plays(Reply::answering(|seen: &Seen| Reply::text(seen.last_user().to_uppercase())));
    let answer: Value = call(&model, &question("why?")).await.unwrap().json().await.unwrap();
    assert_eq!(answer["choices"][0]["message"]["content"], "WHY?");
}

#[tokio::test]
async fn an_unscripted_call_is_refused_and_counted() {
    let model = Model::start().await;
    assert_eq!(call(&model, &question("why?")).await.unwrap().status(), 500);
    model.says("never asked for");
    assert_eq!((model.unscripted(), model.unplayed(), model.seen().len()), (1, 1, 1));
}

#[tokio::test]
async fn waiting_ends_with_the_call_it_waits_for() {
    let model = Model::start().await;
    let waiting = tokio::spawn({
        let model = model.clone();
        async move { model.wait_for_calls(1).await }
    });
    call(&model, &question("why?")).await.unwrap();
    waiting.await.unwrap();
}

#[tokio::test]
async fn a_conversation_renders_as_text() {
    let model = Model::start().await;
    let body = json!({ "model": "m1", "tools": [{ "function": { "name": "read" } }, { "function": { "name": "bash" } }], "messages": [
        { "role": "system", "content": "You are an engine.\nToday is a day." },
        { "role": "user", "content": [
            { "type": "text", "text": "why?" },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } },
        ] },
        { "role": "assistant", "content": "", "tool_calls": [
            { "id": "call_1_1", "type": "function", "function": { "name": "bash", "arguments": "{\"command\":\"ls\"}" } },
        ] },
        { "role": "tool", "tool_call_id": "call_1_1", "content": "tap.rs\n" },
    ] });
    call(&model, &body).await.unwrap();
    let seen = model.seen().remove(0);
    assert_eq!(seen.offered_tools(), ["bash", "read"]);
    assert_eq!(seen.tool_results(), ["tap.rs\n"]);
    assert_eq!(seen.system(), "You are an engine.\nToday is a day.");
    assert_eq!(seen.key.as_deref(), Some("sk-scripted"));
    assert_snapshot!(seen.render(), @r#"
    ── system ──
    You are an engine. […]

    ── user ──
    why?
    [image_url data:image/png, 26 bytes]

    ── call of bash ──
    {"command":"ls"}

    ── result of bash ──
    tap.rs
    "#);
}

#[tokio::test]
async fn a_dropped_model_frees_its_port_and_cuts_its_calls() {
    let model = Model::start().await;
    model.plays(Reply::stall());
    let address = ("127.0.0.1", model.port());
    let mut answer = call(&model, &streamed_question()).await.unwrap();
    drop(model);
    let rest = async { while let Ok(Some(_)) = answer.chunk().await {} };
    assert!(tokio::time::timeout(Duration::from_secs(10), rest).await.is_ok(), "the call goes on");
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "the port is still open");
}
