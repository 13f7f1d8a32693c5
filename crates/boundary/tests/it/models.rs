//! The model proxy between a client and the scripted model: what passes, with which key, and what it costs.

use std::time::Duration;

use fro_boundary::{Keys, ModelProxy, Plan};
use fro_http::{Client, ClientSettings};
use fro_sim::model::{Model, Reply};
use serde_json::{Value, json};

const KEY: &str = "sk-the-real-key-0123456789";

struct Asked {
    status: u16,
    body: String,
}

/// The scripted model behind its proxy, which has its key.
struct World {
    model: Model,
    proxy: ModelProxy,
    client: Client,
}

impl World {
    async fn new(max_cost: Option<f64>) -> Self {
        let model = Model::start().await;
        model.accepts_only(KEY);
        let keys = json!({ "scripted": { "type": "api", "key": KEY } }).to_string();
        let plan = Plan::draw(&model.provider(), None, &Keys::parse(&keys).unwrap()).unwrap();
        let client = Client::new(ClientSettings::loopback()).unwrap();
        let proxy = ModelProxy::open(plan, client.clone(), max_cost).await.unwrap();
        Self { model, proxy, client }
    }

    /// Returns the model's address and key as the engine gets them.
    fn given(&self) -> (String, String) {
        let options = self.proxy.engine_config()["provider"]["scripted"]["options"].clone();
        let text = |name: &str| options[name].as_str().unwrap().to_owned();
        (text("baseURL"), text("apiKey"))
    }

    async fn ask(&self, path: &str, body: &Value) -> Asked {
        let (base, key) = self.given();
        let request = self.client.post(format!("{base}/{path}")).json(body);
        let mut answer = request.bearer(&fro_core::Secret::new(key)).relay().await.unwrap();
        let mut said = Vec::new();
        while let Some(piece) = answer.chunk().await.unwrap() {
            said.extend_from_slice(&piece);
        }
        Asked { status: answer.status(), body: String::from_utf8(said).unwrap() }
    }
}

fn turn() -> Value {
    json!({ "model": "m1", "stream": true, "stream_options": { "include_usage": true },
            "messages": [{ "role": "user", "content": "hello" }] })
}

#[tokio::test]
async fn the_key_is_put_on_behind_the_client_s_back() {
    let world = World::new(None).await;
    world.model.plays(Reply::text("Hello there.").usage(100, 7));

    let asked = world.ask("chat/completions", &turn()).await;

    assert_eq!(asked.status, 200);
    assert!(asked.body.ends_with("data: [DONE]\n\n"), "{}", asked.body);
    assert_eq!(world.model.seen()[0].key.as_deref(), Some(KEY));
    assert_eq!(world.given().1, "placeholder");
    let spent = world.proxy.spent();
    assert_eq!((spent.calls, spent.input, spent.output, spent.refused), (1, 100, 7, 0));
}

#[tokio::test]
async fn an_answer_streams() {
    let world = World::new(None).await;
    world.model.plays(Reply::stall_after("The beginning of something "));
    let (base, _) = world.given();

    let request = world.client.post(format!("{base}/chat/completions")).json(&turn());
    let mut answer = request.relay().await.unwrap();

    let mut said = String::new();
    while !said.contains("beginning") {
        let piece = tokio::time::timeout(Duration::from_mins(1), answer.chunk()).await;
        said += std::str::from_utf8(&piece.unwrap().unwrap().unwrap()).unwrap();
    }
}

#[tokio::test]
async fn whatever_is_no_turn_of_the_configured_model_stays_here() {
    let world = World::new(None).await;
    let mut other = turn();
    other["model"] = json!("m2");

    let refused = [
        world.ask("files", &turn()).await,
        world.ask("../scripted/chat/completions", &turn()).await,
        world.ask("chat/completions", &other).await,
    ];

    let [path, allowed_again, model] = refused.map(|asked| format!("{} {}", asked.status, asked.body));
    insta::assert_snapshot!(path, @r#"403 {"error":{"code":"run_proxy","message":"fro-bot: the path `/scripted/files` is not passed on","type":"fro_bot"},"type":"error"}"#);
    insta::assert_snapshot!(model, @r#"403 {"error":{"code":"run_proxy","message":"fro-bot: the model `m2` is not configured","type":"fro_bot"},"type":"error"}"#);
    // The client has taken the dots out before it sent the path.
    assert!(allowed_again.starts_with("500 "), "{allowed_again}");
    assert_eq!(world.model.seen().len(), 1);
    assert_eq!(world.proxy.spent().refused, 2);
}

#[tokio::test]
async fn a_refusal_of_the_provider_is_the_engine_s_to_read() {
    let world = World::new(None).await;
    world.model.plays(Reply::status(429).header("retry-after", "7").body("slow down"));
    let (base, _) = world.given();

    let request = world.client.post(format!("{base}/chat/completions")).json(&turn());
    let mut answer = request.relay().await.unwrap();

    assert_eq!((answer.status(), answer.header("retry-after")), (429, Some("7")));
    assert_eq!(answer.chunk().await.unwrap().unwrap(), "slow down");
    assert_eq!(world.proxy.spent().calls, 0);
}

#[tokio::test]
async fn a_spent_budget_ends_it() {
    let world = World::new(Some(1.5)).await;
    world.model.plays(Reply::text("Cheap.").usage(1_000_000, 1));
    world.model.plays(Reply::text("Dear.").usage(1_000_000, 1));

    let first = world.ask("chat/completions", &turn()).await.status;
    let second = world.ask("chat/completions", &turn()).await.status;
    let third = world.ask("chat/completions", &turn()).await;

    assert_eq!((first, second, third.status), (200, 200, 402));
    assert!(third.body.contains("the run's budget of $1.5 is spent"), "{}", third.body);
    assert_eq!(world.model.seen().len(), 2);
}

#[tokio::test]
async fn a_provider_that_is_gone_is_told_as_such() {
    let gone = { Model::start().await.provider() };
    let plan = Plan::draw(&gone, None, &Keys::default()).unwrap();
    let client = Client::new(ClientSettings::loopback()).unwrap();
    let proxy = ModelProxy::open(plan, client.clone(), None).await.unwrap();

    let url = format!("http://{}/scripted/chat/completions", proxy.address());
    let answer = client.post(url).json(&turn()).relay().await.unwrap();

    assert_eq!(answer.status(), 502);
}
