//! A question of the harness's own: in every dialect, with the key, counted, and heard.

use fro_boundary::{Keys, ModelProxy, Plan};
use fro_http::{Client, ClientSettings};
use serde_json::{Value, json};

use crate::provider::{Provider, whole};

/// Asks a provider that answers by this, and returns what it heard, what it was told and what it cost.
async fn ask(package: &str, answer: (u16, Value)) -> (Result<String, String>, String, (u32, u64)) {
    let (status, answer) = answer;
    let provider =
        Provider::start(move |_| whole(status, "content-type: application/json\r\n", &answer.to_string()))
            .await;
    let config = json!({ "model": "mine/m1", "provider": { "mine": {
        "npm": package, "options": { "baseURL": provider.base },
        "models": { "m1": { "id": "m-one" } },
    } } });
    let keys = Keys::parse(r#"{"mine": {"type": "api", "key": "sk-the-real-key"}}"#).unwrap();
    let plan = Plan::draw(&config, None, &keys).unwrap();
    let road = Client::new(ClientSettings::loopback()).unwrap();
    let proxy = ModelProxy::open(plan, road, None).await.unwrap();
    let said = proxy.ask("mine/m1", "Yes or no?", "mend it").await;
    let told = provider.asked().into_iter().map(|asked| {
        let line = asked.head.lines().next().unwrap_or_default();
        let shown = ["x-api-key", "authorization", "api-key", "x-goog-api-key", "anthropic-version"];
        let headers = asked.head.lines().filter(|line| shown.iter().any(|name| line.starts_with(name)));
        format!("{line}\n{}\n{}", headers.collect::<Vec<_>>().join("\n"), asked.body)
    });
    (said, told.collect::<Vec<_>>().join("\n---\n"), (proxy.spent().calls, proxy.spent().input))
}

#[tokio::test]
async fn every_dialect_is_spoken_and_understood() {
    let cases = [
        (
            "@ai-sdk/openai-compatible",
            json!({ "choices": [{ "message": { "content": "yes", "reasoning_content": "no" } }], "usage": { "prompt_tokens": 9, "completion_tokens": 1 } }),
        ),
        (
            "@ai-sdk/anthropic",
            json!({ "content": [{ "type": "thinking", "thinking": "no" }, { "type": "text", "text": "yes" }], "usage": { "input_tokens": 9, "output_tokens": 1 } }),
        ),
        (
            "@ai-sdk/openai",
            json!({ "output": [{ "type": "reasoning", "summary": [] }, { "type": "message", "content": [{ "type": "output_text", "text": "yes" }] }], "usage": { "input_tokens": 9, "output_tokens": 1 } }),
        ),
        (
            "@ai-sdk/azure",
            json!({ "output": [{ "type": "message", "content": [{ "type": "output_text", "text": "yes" }] }], "usage": { "input_tokens": 9, "output_tokens": 1 } }),
        ),
        (
            "@ai-sdk/google",
            json!({ "candidates": [{ "content": { "parts": [{ "text": "no", "thought": true }, { "text": "yes" }] } }], "usageMetadata": { "promptTokenCount": 9, "candidatesTokenCount": 1 } }),
        ),
    ];
    let mut all = Vec::new();
    for (package, answer) in cases {
        let (said, told, spent) = ask(package, (200, answer)).await;
        assert_eq!((said.as_deref(), spent), (Ok("yes"), (1, 9)), "{package}: {told}");
        all.push(format!("{package}\n{told}"));
    }
    insta::assert_snapshot!(all.join("\n\n"));
}

#[tokio::test]
async fn who_does_not_answer_is_named_and_costs_nothing() {
    let (said, _, spent) = ask("@ai-sdk/openai-compatible", (401, json!({ "error": "no such key" }))).await;
    let why = said.unwrap_err();
    assert!(why.contains("401"), "{why}");
    assert_eq!(spent, (0, 0));
    let (said, ..) = ask("@ai-sdk/openai-compatible", (200, json!({ "choices": [] }))).await;
    assert_eq!(said.unwrap(), "");
}
