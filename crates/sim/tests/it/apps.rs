//! Apps: what they sign is verified, and their tokens are good for what was granted and no longer.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use fro_sim::World;
use jiff::Timestamp;
use reqwest::Method;
use ring::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use serde_json::{Value, json};

use crate::client::client;

const TOKENS: &str = "POST /app/installations/70411256/access_tokens";
const COMMENT: &str = "POST /repos/octo/garden/issues/1/comments";

/// Signs claims with the app's key; `life` is in seconds from now.
fn signed(world: &World, life: i64) -> String {
    let now = Timestamp::now().as_second();
    let part = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let claims = json!({ "iat": now - 30, "exp": now + life, "iss": 482_113 });
    let text = format!("{}.{}", part(json!({ "alg": "RS256" })), part(claims));
    let lines = world.app_key().lines().filter(|line| !line.starts_with("-----"));
    let key = BASE64.decode(lines.collect::<String>().as_bytes()).unwrap();
    let key = RsaKeyPair::from_der(&key).unwrap();
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature).unwrap();
    format!("{text}.{}", BASE64URL_NOPAD.encode(&signature))
}

async fn ask(world: &World, call: &str, token: &str, body: Value) -> (u16, Value) {
    let (method, path) = call.split_once(' ').unwrap();
    let request = client().request(method.parse::<Method>().unwrap(), world.api_url() + path);
    let answer = request.bearer_auth(token).json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

/// Has a token made, as good as told.
async fn token(world: &World, wish: Value) -> String {
    let (status, told) = ask(world, TOKENS, &signed(world, 300), wish).await;
    assert_eq!(status, 201, "{told}");
    told["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn only_what_the_app_signed_just_now_counts() {
    let world = World::start().await.unwrap();
    let good = signed(&world, 300);
    let (other, (_, signature)) = (signed(&world, 400), good.rsplit_once('.').unwrap());
    let forged = format!("{}.{signature}", other.rsplit_once('.').unwrap().0);
    let status = async |token: &str| ask(&world, "GET /app", token, json!({})).await.0;
    assert_eq!(status(&good).await, 200);
    assert_eq!(status(&forged).await, 401);
    assert_eq!(status(&signed(&world, -5)).await, 401);
    assert_eq!(status(&signed(&world, 7200)).await, 401);
    assert_eq!(status(&world.token("maya")).await, 401);
}

#[tokio::test]
async fn a_token_is_good_for_what_was_granted() {
    let world = World::start().await.unwrap();
    let hello = json!({ "body": "Beep" });
    let writes = token(&world, json!({ "permissions": { "issues": "write" } })).await;
    assert_eq!(ask(&world, COMMENT, &writes, hello.clone()).await.1["user"]["login"], "garden-helper[bot]");
    let review = json!({ "event": "COMMENT", "body": "Hm" });
    assert_eq!(ask(&world, "POST /repos/octo/garden/pulls/2/reviews", &writes, review).await.0, 403);
    let reads = token(&world, json!({ "permissions": { "issues": "read" } })).await;
    assert_eq!(ask(&world, COMMENT, &reads, hello).await.0, 403);
}

#[tokio::test]
async fn a_token_for_one_repository_does_not_see_the_other() {
    let world = World::start().await.unwrap();
    let all = token(&world, json!({})).await;
    let one = token(&world, json!({ "repositories": ["garden"] })).await;
    let cellar = async |token: &str| ask(&world, "GET /repos/octo/cellar", token, json!({})).await.0;
    assert_eq!((cellar(&all).await, cellar(&one).await), (200, 404));
}

#[tokio::test]
async fn graphql_keeps_to_the_grant_too() {
    let world = World::start().await.unwrap();
    let reads = token(&world, json!({ "permissions": { "issues": "read" } })).await;
    let find =
        json!({ "query": "{ repository(owner: \"octo\", name: \"garden\") { issue(number: 1) { id } } }" });
    let (_, found) = ask(&world, "POST /graphql", &reads, find).await;
    let id = &found["data"]["repository"]["issue"]["id"];
    let say = format!(
        "mutation {{ addComment(input: {{ subjectId: {id}, body: \"Beep\" }}) {{ clientMutationId }} }}"
    );
    let (_, refused) = ask(&world, "POST /graphql", &reads, json!({ "query": say })).await;
    assert_eq!(refused["errors"][0]["type"], "FORBIDDEN");
}

#[tokio::test]
async fn an_hour_later_it_is_over() {
    let world = World::start().await.unwrap();
    let text = token(&world, json!({})).await;
    world.change(|state| {
        let token = state.tokens.iter_mut().find(|token| token.text == text).unwrap();
        token.grant.as_mut().unwrap().expires_at = Timestamp::UNIX_EPOCH;
    });
    assert_eq!(ask(&world, "GET /repos/octo/garden", &text, json!({})).await.0, 401);
}
