//! What a call is charged with whose answer nobody sees, and limits of an answer that could be read in two ways.

use serde_json::{Value, json};

use crate::{
    model_attacks::World,
    provider::{Request, whole},
};

#[tokio::test]
async fn who_hangs_up_in_the_middle_of_a_whole_answer_pays_for_the_longest() {
    let begun =
        b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n    ".to_vec();
    let world = World::new(Some(5.0), move |_| vec![begun.clone()]).await;
    let body = json!({ "model": "m1", "messages": [], "max_tokens": 200_000 });
    for _ in 0..10 {
        world.ask("mine/chat/completions", &body).await;
    }
    assert_eq!(world.provider.asked().len(), 3, "{:?}", world.proxy.spent());
}

#[tokio::test]
async fn a_provider_that_is_not_there_or_refuses_costs_nothing() {
    let world = World::new(Some(5.0), |_| whole(500, "", "{}")).await;
    let body = json!({ "model": "m1", "messages": [], "max_tokens": 2_000_000 });
    for _ in 0..3 {
        assert_eq!(world.ask("mine/chat/completions", &body).await.0, 500);
    }
    assert!(world.proxy.spent().cost.abs() < 1e-9, "{:?}", world.proxy.spent());
}

#[tokio::test]
async fn of_several_limits_of_an_answer_the_largest_counts() {
    let answer = |_: &Request| whole(200, "", r#"{"usage":{"prompt_tokens":0,"completion_tokens":100000}}"#);
    let limits = [
        json!({ "max_completion_tokens": 1, "max_tokens": 200_000 }),
        json!({ "max_tokens": 1, "max_completion_tokens": 200_000 }),
    ];
    for mut body in limits {
        let world = World::new(Some(5.0), answer).await;
        body["model"] = json!("m1");
        body["messages"] = json!([]);
        let calls = (0..40).map(|_| world.ask("mine/chat/completions", &body));
        futures::future::join_all(calls).await;
        assert_eq!(world.provider.asked().len(), 5, "{:?}", world.proxy.spent());
    }
}

#[tokio::test]
async fn a_limit_that_is_no_count_is_not_passed_on() {
    let world = World::new(None, |_| whole(200, "", "{}")).await;
    for limit in [json!(200_000.0), json!("200000"), json!(-1), json!([1]), json!(true)] {
        for name in ["max_tokens", "max_completion_tokens"] {
            let mut body = json!({ "model": "m1", "messages": [] });
            body[name] = limit.clone();
            let (status, _, said) = world.ask("mine/chat/completions", &body).await;
            assert_eq!(status, 400, "{name} {limit}: {said}");
        }
        let body = json!({ "contents": [], "generationConfig": { "maxOutputTokens": limit } });
        let (status, _, said) = world.ask("google/models/m1:generateContent", &body).await;
        assert_eq!(status, 400, "{limit}: {said}");
    }
    assert!(world.provider.asked().is_empty());
    let body: Value = json!({ "model": "m1", "messages": [], "max_tokens": null });
    assert_eq!(world.ask("mine/chat/completions", &body).await.0, 200);
}

#[tokio::test]
async fn texts_that_take_a_token_for_each_byte_do_not_pass_the_limit_together() {
    let dense = |request: &Request| {
        let usage = json!({ "usage": { "prompt_tokens": request.body.len(), "completion_tokens": 1 } });
        whole(200, "", &usage.to_string())
    };
    let world = World::new(Some(1.0), dense).await;
    let body = json!({ "model": "m1", "messages": [{ "role": "user", "content": "7".repeat(100_000) }], "max_tokens": 1 });
    futures::future::join_all((0..40).map(|_| world.ask("mine/chat/completions", &body))).await;
    let spent = world.proxy.spent().cost;
    assert!(spent < 1.0 + 0.11, "{spent}");
}

#[tokio::test]
async fn a_document_that_is_called_a_picture_is_reckoned_by_its_size() {
    let costly = |_: &Request| {
        whole(200, "", r#"{"usageMetadata":{"promptTokenCount":500000,"candidatesTokenCount":1}}"#)
    };
    for kind in ["image/png", "video/mp4", "application/pdf"] {
        let world = World::new(Some(1.0), costly).await;
        let file = json!({ "inlineData": { "mimeType": kind, "data": "JVBERi0x".repeat(62_500) } });
        let contents = json!([{ "role": "user", "parts": [file] }]);
        let body = json!({ "contents": contents, "generationConfig": { "maxOutputTokens": 1 } });
        let calls = (0..20).map(|_| world.ask("google/models/m1:generateContent", &body));
        futures::future::join_all(calls).await;
        let spent = world.proxy.spent().cost;
        assert!(spent < 1.0 + 0.51, "{kind}: {spent}");
    }
}
