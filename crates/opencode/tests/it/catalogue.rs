//! The excerpt of the engine's catalogue, held against the engine's own.

use fro_core::catalogue;
use fro_opencode::Server;
use serde_json::{Value, json};

use crate::world::{Raw, Stage, run};

const MODELS: [(&str, &str); 3] =
    [("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-5.1"), ("google", "gemini-2.5-pro")];

#[test]
fn an_excerpt_says_of_a_model_what_the_engine_itself_knows() {
    run(async || {
        let whole = known_with(None).await;
        let excerpt = catalogue::excerpt(MODELS.into_iter(), &Value::Null).unwrap();
        assert_eq!(known_with(Some(excerpt)).await, whole);
        assert!(whole.iter().all(|row| row["limit"]["context"].is_u64()), "{whole:#?}");
    });
}

/// Returns what an engine with this catalogue knows of the models.
async fn known_with(catalogue: Option<Value>) -> Vec<Value> {
    let (mut launch, _model, _spare, _folder) = Stage::prepare().await;
    launch.config["enabled_providers"] = json!(MODELS.map(|(provider, _)| provider));
    launch.catalogue = catalogue;
    launch.wrap.clear();
    let server = Server::start(launch).await.unwrap();
    let answer = Raw::connect(&server).get("/provider").await.unwrap();
    let answer: Value = serde_json::from_slice(answer.bytes()).unwrap();
    server.stop().await;
    let provider = |id: &str| answer["all"].as_array().unwrap().iter().find(|one| one["id"] == id);
    MODELS.iter().map(|(id, model)| provider(id).unwrap()["models"][model].clone()).collect()
}
