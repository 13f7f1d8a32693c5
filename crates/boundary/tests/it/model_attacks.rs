//! Attacks on the model proxy: ways out through a provider, its key in what it says, and more than the run may cost.

use data_encoding::BASE64;
use fro_boundary::{Keys, ModelProxy, Plan};
use fro_http::{Client, ClientSettings};
use serde_json::{Value, json};

use crate::provider::{Pieces, Provider, Request, whole};

const KEY: &str = "planted-key-of-the-provider/0123456789";

/// The second turns that the engine (1.18.33) sent in each dialect, after it had read a picture; texts are cut.
const TURNS: &str = include_str!("engine-turns.json");

/// A provider and the proxy before it.
pub(crate) struct World {
    pub(crate) provider: Provider,
    pub(crate) proxy: ModelProxy,
    client: Client,
}

impl World {
    /// All dialects at one provider, which answers by this.
    pub(crate) async fn new(
        max_cost: Option<f64>,
        answer: impl Fn(&Request) -> Pieces + Send + Sync + 'static,
    ) -> Self {
        let provider = Provider::start(answer).await;
        let packages = [
            ("mine", "@ai-sdk/openai-compatible"),
            ("openrouter", "@ai-sdk/openai-compatible"),
            ("anthropic", "@ai-sdk/anthropic"),
            ("openai", "@ai-sdk/openai"),
            ("azure", "@ai-sdk/azure"),
            ("google", "@ai-sdk/google"),
        ];
        let model = json!({ "options": { "serviceTier": "flex" }, "cost": { "input": 1, "output": 10 } });
        let providers = packages.map(|(id, package)| {
            let options = json!({ "baseURL": provider.base, "apiKey": KEY });
            let model = if id == "openrouter" { json!({}) } else { model.clone() };
            (id.to_owned(), json!({ "npm": package, "options": options, "models": { "m1": model } }))
        });
        let agents = packages.map(|(id, _)| (id.to_owned(), json!({ "model": format!("{id}/m1") })));
        let config = json!({
            "provider": providers.into_iter().collect::<serde_json::Map<_, _>>(),
            "agent": agents.into_iter().collect::<serde_json::Map<_, _>>(),
        });
        let keys = Keys::default().and_those_of(&config);
        let plan = Plan::draw(&config, None, &keys).unwrap();
        let client = Client::new(ClientSettings::loopback()).unwrap();
        let proxy = ModelProxy::open(plan, client.clone(), max_cost).await.unwrap();
        Self { provider, proxy, client }
    }

    fn request(&self, path: &str, body: impl Into<String>) -> fro_http::Request {
        let url = format!("http://{}/{path}", self.proxy.address());
        self.client.post(url).header("content-type", "application/json").body(body.into())
    }

    /// Asks, and returns the status with the headers, and the body.
    pub(crate) async fn ask(&self, path: &str, body: &Value) -> (u16, String, String) {
        let mut answer = self.request(path, body.to_string()).relay().await.unwrap();
        let headers: Vec<_> = answer.headers().map(|(name, value)| format!("{name}: {value}")).collect();
        let mut said = Vec::new();
        while let Ok(Some(piece)) = answer.chunk().await {
            said.extend_from_slice(&piece);
        }
        (answer.status(), headers.join("\n"), String::from_utf8_lossy(&said).into_owned())
    }
}

fn fine(_: &Request) -> Pieces {
    whole(200, "", "{}")
}

/// Returns the turns by provider, with the path.
fn turns() -> Vec<(String, String, Value)> {
    let turns: Value = serde_json::from_str(TURNS).unwrap();
    let each = turns.as_object().unwrap().iter();
    each.map(|(id, turn)| (id.clone(), turn["path"].as_str().unwrap().to_owned(), turn["body"].clone()))
        .collect()
}

fn turn(provider: &str) -> (String, Value) {
    let (_, path, body) = turns().into_iter().find(|(id, ..)| id == provider).unwrap();
    (path, body)
}

#[tokio::test]
async fn what_the_engine_sends_passes_as_it_is() {
    for (id, path, body) in turns() {
        let world = World::new(None, fine).await;
        let (status, _, said) = world.ask(&format!("{id}/{path}"), &body).await;
        assert_eq!(status, 200, "{id}: {said}");
        let asked = world.provider.asked();
        assert_eq!(serde_json::from_str::<Value>(&asked[0].body).unwrap(), body, "{id}");
    }
}

/// Where an attack would lead a provider to.
const AWAY: &str = "http://attacker.example/x";

/// The provider, where in the body (a pointer; its end is a new field), and what is put there.
type WayOut = (&'static str, &'static str, Value);

/// What each attack adds to an ordinary turn.
fn ways_out() -> Vec<WayOut> {
    [by_chat(), by_messages(), by_responses(), by_gemini()].concat()
}

fn by_chat() -> Vec<WayOut> {
    vec![
        ("mine", "/messages/-/content", json!([{ "type": "image_url", "image_url": { "url": AWAY } }])),
        ("mine", "/messages/-/content", json!([{ "type": "image_url", "image_url": AWAY }])),
        (
            "mine",
            "/messages/-/content",
            json!([{ "type": "image_url", "image_url": { "url": "DATA:x", "url2": AWAY } }]),
        ),
        ("mine", "/messages/-/content", json!([{ "type": "video_url", "video_url": { "url": AWAY } }])),
        ("mine", "/messages/-/content", json!([{ "type": "file", "file": { "file_data": AWAY } }])),
        ("mine", "/messages/-/content", json!([{ "type": "file", "file": { "file_id": "file-1" } }])),
        ("mine", "/messages/-/content", json!([{ "type": "document_url", "document_url": AWAY }])),
        ("mine", "/tools/-", json!({ "type": "web_search" })),
        ("mine", "/tools/-", json!({ "type": "mcp", "server_url": AWAY })),
        ("mine", "/web_search_options", json!({})),
        ("mine", "/search_parameters", json!({ "mode": "on" })),
        ("mine", "/n", json!(50)),
        ("mine", "/service_tier", json!("priority")),
        ("mine", "/store", json!(true)),
        ("mine", "/chat_template_kwargs", json!({ "chat_template": "{{ x }}" })),
        ("openrouter", "/plugins", json!([{ "id": "web" }])),
        ("openrouter", "/models", json!(["other/model"])),
        ("openrouter", "/route", json!("fallback")),
        ("openrouter", "/provider", json!({ "order": ["x"] })),
    ]
}

fn by_messages() -> Vec<WayOut> {
    vec![
        ("anthropic", "/mcp_servers", json!([{ "type": "url", "url": AWAY, "name": "x" }])),
        ("anthropic", "/container", json!("c1")),
        ("anthropic", "/tools/-", json!({ "type": "web_search_20250305", "name": "web_search" })),
        ("anthropic", "/tools/-", json!({ "type": "web_fetch_20250910", "name": "web_fetch" })),
        ("anthropic", "/tools/-", json!({ "type": "code_execution_20250825", "name": "code_execution" })),
        (
            "anthropic",
            "/messages/-/content/-",
            json!({ "type": "image", "source": { "type": "url", "url": AWAY } }),
        ),
        (
            "anthropic",
            "/messages/-/content/-",
            json!({ "type": "document", "source": { "type": "file", "file_id": "f" } }),
        ),
        (
            "anthropic",
            "/messages/-/content/-",
            json!({ "type": "tool_result", "tool_use_id": "t", "content": [{ "type": "image", "source": { "type": "url", "url": AWAY } }] }),
        ),
        (
            "anthropic",
            "/messages/-/content/-",
            json!({ "type": "document", "source": { "type": "content", "content": [{ "type": "image", "source": { "type": "url", "url": AWAY } }] } }),
        ),
        ("anthropic", "/messages/-/content/-", json!({ "type": "container_upload", "file_id": "f" })),
    ]
}

fn by_responses() -> Vec<WayOut> {
    vec![
        ("openai", "/previous_response_id", json!("resp_1")),
        ("openai", "/conversation", json!("conv_1")),
        ("openai", "/background", json!(true)),
        ("openai", "/prompt", json!({ "id": "pmpt_1" })),
        ("openai", "/store", json!(true)),
        ("openai", "/include", json!(["file_search_call.results"])),
        ("openai", "/tools/-", json!({ "type": "web_search_preview" })),
        ("openai", "/tools/-", json!({ "type": "mcp", "server_label": "x", "server_url": AWAY })),
        ("openai", "/tools/-", json!({ "type": "code_interpreter", "container": { "type": "auto" } })),
        ("openai", "/tools/-", json!({ "type": "computer_use_preview" })),
        ("openai", "/tools/-", json!({ "type": "file_search", "vector_store_ids": ["vs_1"] })),
        ("openai", "/input/-", json!({ "type": "item_reference", "id": "rs_1" })),
        (
            "openai",
            "/input/-",
            json!({ "role": "user", "content": [{ "type": "input_image", "image_url": AWAY }] }),
        ),
        (
            "openai",
            "/input/-",
            json!({ "role": "user", "content": [{ "type": "input_file", "file_url": AWAY }] }),
        ),
        (
            "openai",
            "/input/-",
            json!({ "role": "user", "content": [{ "type": "input_image", "file_id": "file-1" }] }),
        ),
        (
            "openai",
            "/input/-",
            json!({ "type": "function_call_output", "call_id": "c", "output": [{ "type": "input_image", "image_url": AWAY }] }),
        ),
        ("azure", "/tools/-", json!({ "type": "mcp", "server_label": "x", "server_url": AWAY })),
    ]
}

fn by_gemini() -> Vec<WayOut> {
    vec![
        ("google", "/cachedContent", json!("cachedContents/1")),
        ("google", "/cached_content", json!("cachedContents/1")),
        ("google", "/tools/-", json!({ "googleSearch": {} })),
        ("google", "/tools/-", json!({ "url_context": {} })),
        ("google", "/tools/-", json!({ "codeExecution": {} })),
        ("google", "/generationConfig/candidateCount", json!(8)),
        ("google", "/contents/-", json!({ "role": "user", "parts": [{ "fileData": { "fileUri": AWAY } }] })),
        (
            "google",
            "/contents/-",
            json!({ "role": "user", "parts": [{ "file_data": { "file_uri": AWAY } }] }),
        ),
        (
            "google",
            "/contents/-",
            json!({ "role": "user", "parts": [{ "functionResponse": { "name": "x", "response": {}, "parts": [{ "fileData": { "fileUri": AWAY } }] } }] }),
        ),
    ]
}

/// Puts something into a body; `-` is the last of a list, or a new one at the end.
fn put(body: &mut Value, place: &str, what: Value) {
    let parts: Vec<&str> = place.trim_start_matches('/').split('/').collect();
    let (last, way) = parts.split_last().unwrap();
    let there = way.iter().fold(body, |value, part| match value {
        Value::Array(items) => items.last_mut().unwrap(),
        other => &mut other[*part],
    });
    match there {
        Value::Array(items) => items.push(what),
        other => other[*last] = what,
    }
}

#[tokio::test]
async fn no_schema_leads_elsewhere() {
    let elsewhere = json!({ "type": "object", "properties": { "x": { "$ref": AWAY } } });
    let here = json!({ "properties": { "$ref": { "$ref": "#/$defs/x" } }, "$defs": { "x": {} } });
    let tools = |schema: &Value| {
        [
            (
                "mine",
                "/tools/-",
                json!({ "type": "function", "function": { "name": "x", "parameters": schema } }),
            ),
            (
                "mine",
                "/response_format",
                json!({ "type": "json_schema", "json_schema": { "schema": schema } }),
            ),
            ("anthropic", "/tools/-", json!({ "name": "x", "input_schema": schema })),
            ("anthropic", "/output_format", json!({ "type": "json_schema", "schema": schema })),
            ("openai", "/tools/-", json!({ "type": "function", "name": "x", "parameters": schema })),
            ("openai", "/text", json!({ "format": { "type": "json_schema", "schema": schema } })),
            (
                "google",
                "/tools/-",
                json!({ "functionDeclarations": [{ "name": "x", "parameters": schema }] }),
            ),
            ("google", "/generationConfig/responseJsonSchema", schema.clone()),
        ]
    };
    for (schema, expected) in [(elsewhere, 403), (here, 200)] {
        for (id, place, what) in tools(&schema) {
            let world = World::new(None, fine).await;
            let (path, mut body) = turn(id);
            put(&mut body, place, what);
            let (status, _, said) = world.ask(&format!("{id}/{path}"), &body).await;
            assert_eq!(status, expected, "{id} {place}: {said}");
        }
    }
}

#[tokio::test]
async fn no_way_leads_out_through_a_provider() {
    let mut lines = Vec::new();
    for (id, place, what) in ways_out() {
        let world = World::new(None, fine).await;
        let (path, mut body) = turn(id);
        put(&mut body, place, what.clone());
        let (status, _, said) = world.ask(&format!("{id}/{path}"), &body).await;
        let said: Value = serde_json::from_str(&said).unwrap_or_default();
        let why = said["error"]["message"].as_str().unwrap_or("PASSED").to_owned();
        assert!(world.provider.asked().is_empty(), "{id} {place} {what}");
        lines.push(format!("{id} {place} {what}\n  {status} {why}"));
    }
    insta::assert_snapshot!("ways_out", lines.join("\n"));
}

#[tokio::test]
async fn a_field_that_nobody_knows_is_left_out_and_the_operator_s_own_is_not() {
    let world = World::new(None, fine).await;
    let (path, mut body) = turn("mine");
    body["new_thing"] = json!({ "url": "http://attacker.example" });
    body["messages"][0]["newer_thing"] = json!(1);
    body["service_tier"] = json!("flex");

    let (status, ..) = world.ask(&format!("mine/{path}"), &body).await;

    let sent = &world.provider.asked()[0].body;
    assert_eq!(status, 200);
    assert!(!sent.contains("new_thing") && !sent.contains("newer_thing"), "{sent}");
    assert!(sent.contains(r#""service_tier":"flex""#), "{sent}");
}

#[tokio::test]
async fn what_is_sent_is_what_was_looked_at() {
    let world = World::new(None, fine).await;
    let twice = r#"{"model":"m1","messages":[],"tools":[{"type":"web_search"}],"tools":[]}"#;
    let answer = world.request("mine/chat/completions", twice).relay().await.unwrap();
    assert_eq!(answer.status(), 400);
    for query in ["key=other", "alt=media", "alt=sse&access_token=x", "%24.xgafv=2"] {
        let path = format!("google/models/m1:streamGenerateContent?{query}");
        let answer = world.request(&path, turn("google").1.to_string()).relay().await.unwrap();
        assert_eq!(answer.status(), 403, "{query}");
    }
    assert!(world.provider.asked().is_empty());
}

#[tokio::test]
async fn headers_go_by_a_list_and_some_by_their_value() {
    let world = World::new(None, fine).await;
    let (path, body) = turn("anthropic");
    let request = world.request(&format!("anthropic/{path}"), body.to_string());
    let request = [
        ("anthropic-beta", "mcp-client-2025-04-04, structured-outputs-2025-11-13,web-fetch-2025-09-10"),
        ("anthropic-version", "2023-06-01"),
        ("openai-beta", "responses=v1"),
        ("openai-organization", "org-other"),
        ("x-forwarded-host", "attacker.example"),
        ("x-api-key", "placeholder"),
        ("authorization", "Bearer other"),
        ("x-session-id", "ses_1"),
    ]
    .into_iter()
    .fold(request, |request, (name, value)| request.header(name, value));
    request.relay().await.unwrap();

    let head = world.provider.asked()[0].head.clone();
    let mut sent: Vec<_> = head.lines().skip(1).filter(|line| !line.starts_with("host: ")).collect();
    sent.sort_unstable();
    let sent = sent.join("\n").replace(&body.to_string().len().to_string(), "LENGTH");
    insta::assert_snapshot!(sent.trim());
}

/// Says the request's own head in every way that a provider might.
fn echo(request: &Request) -> Pieces {
    let head = request.head.replace(['\r', '\n'], " ");
    let key = head.find("planted").map(|at| &head[at..at + KEY.len()]).unwrap();
    let escaped = key.replace('/', "\\/");
    let percent = key.replace('/', "%2F");
    let body = format!(
        r#"{{"error":{{"message":{},"escaped":"{escaped}","percent":"{percent}","base64":"{}"}}}}"#,
        Value::from(head.as_str()),
        BASE64.encode(format!("Bearer {key}").as_bytes()),
    );
    let headers = format!("x-request-id: {key}\r\nretry-after: 1\r\n");
    let begin =
        format!("HTTP/1.1 401 X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let middle = body.find("planted").unwrap() + 5;
    let (one, two) = body.split_at(middle);
    let (two, three) = two.split_at(9);
    [begin.as_str(), one, two, three].map(|piece| piece.as_bytes().to_vec()).into()
}

#[tokio::test]
async fn a_provider_that_repeats_the_key_does_not_hand_it_over() {
    for (id, path, body) in turns() {
        let world = World::new(None, echo).await;
        let (status, headers, said) = world.ask(&format!("{id}/{path}"), &body).await;
        assert_eq!(status, 401);
        let base64 = BASE64.encode(KEY.as_bytes());
        for form in [KEY, &KEY.replace('/', "\\/"), &KEY.replace('/', "%2F"), &base64[4..40], "planted-key"] {
            assert!(!said.contains(form) && !headers.contains(form), "{id} {form}: {headers}{said}");
        }
        assert!(said.contains("[redacted]") && said.contains("escaped"), "{id}: {said}");
        assert!(headers.contains("retry-after: 1"), "{headers}");
    }
}

#[tokio::test]
async fn an_answer_in_another_encoding_does_not_pass() {
    let world = World::new(None, |_| whole(200, "content-encoding: gzip\r\n", "\u{1f}\u{8b}")).await;
    let (path, body) = turn("mine");
    let (status, _, said) = world.ask(&format!("mine/{path}"), &body).await;
    assert_eq!(status, 502, "{said}");
}

#[tokio::test]
async fn calls_at_once_do_not_pass_the_limit_together() {
    // Each call costs a dollar, and could cost two.
    let answer = |_: &Request| whole(200, "", r#"{"usage":{"prompt_tokens":0,"completion_tokens":100000}}"#);
    let world = World::new(Some(5.0), answer).await;
    let body = json!({ "model": "m1", "messages": [], "max_tokens": 200_000 });

    let calls = (0..40).map(|_| world.ask("mine/chat/completions", &body));
    let answers = futures::future::join_all(calls).await;

    let passed = answers.iter().filter(|(status, ..)| *status == 200).count();
    assert_eq!((passed, world.provider.asked().len()), (5, 5), "{:?}", world.proxy.spent());
    assert!(answers.iter().all(|(status, ..)| [200, 402].contains(status)));
    assert_eq!(world.proxy.spent().refused, 35);
}

#[tokio::test]
async fn calls_whose_worth_nobody_knows_go_one_by_one() {
    let answer =
        |_: &Request| whole(200, "", r#"{"usage":{"prompt_tokens":0,"completion_tokens":1,"cost":2}}"#);
    let world = World::new(Some(3.0), answer).await;
    let body = json!({ "model": "m1", "messages": [] });

    let calls = (0..10).map(|_| world.ask("openrouter/chat/completions", &body));
    futures::future::join_all(calls).await;

    assert_eq!(world.provider.asked().len(), 2, "{:?}", world.proxy.spent());
}

#[tokio::test]
async fn who_hangs_up_pays() {
    // Each call could cost two dollars, and the provider thinks for ever.
    let world = World::new(Some(5.0), |_| vec![Vec::new()]).await;
    let body = json!({ "model": "m1", "messages": [], "max_tokens": 200_000, "stream": false });
    let mut refused = 0;
    for _ in 0..20 {
        let asked = world.provider.asked().len();
        tokio::select! {
            answer = world.ask("mine/chat/completions", &body) => {
                assert_eq!(answer.0, 402);
                refused += 1;
            }
            () = world.provider.is_asked_more_than(asked) => {}
        }
    }
    assert_eq!((world.provider.asked().len(), refused), (3, 17), "{:?}", world.proxy.spent());
}
