//! A plain HTTP client for the tests.

use std::sync::LazyLock;

use fro_sim::World;
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};

/// The comments of the issue that most tests are about.
pub(crate) const COMMENTS: &str = "/repos/octo/garden/issues/1/comments";

/// One client for all tests, since making one reads all certificates of the machine.
///
/// It keeps no connection: each test has its own runtime, and a connection ends with the runtime it was made in.
pub(crate) fn client() -> &'static Client {
    static CLIENT: LazyLock<Client> = LazyLock::new(|| {
        drop(rustls::crypto::ring::default_provider().install_default());
        Client::builder().user_agent("tests").no_proxy().pool_max_idle_per_host(0).build().unwrap()
    });
    &CLIENT
}

/// Sends a request with somebody's token and returns the answer, if there is one.
pub(crate) async fn send(world: &World, call: &str, login: &str, body: Value) -> reqwest::Result<Response> {
    let (method, path) = call.split_once(' ').unwrap();
    let request = client()
        .request(Method::from_bytes(method.as_bytes()).unwrap(), format!("{}{path}", world.api_url()))
        .bearer_auth(world.token(login));
    if body.is_null() { request.send().await } else { request.json(&body).send().await }
}

/// Sends a request with somebody's token and returns the status and the JSON of the answer.
pub(crate) async fn ask(world: &World, call: &str, login: &str, body: Value) -> (u16, Value) {
    let answer = send(world, call, login, body).await.unwrap();
    let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
    (status, if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() })
}

pub(crate) async fn get(world: &World, path: &str) -> (u16, Value) {
    ask(world, &format!("GET {path}"), "maya", Value::Null).await
}

pub(crate) async fn say(world: &World, login: &str, text: &str) -> (u16, Value) {
    ask(world, &format!("POST {COMMENTS}"), login, json!({ "body": text })).await
}
