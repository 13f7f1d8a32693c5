//! Every fault, as a client meets it.

use std::time::{Duration, Instant};

use fro_sim::{FaultKind, World};
use serde_json::{Value, json};

use crate::client::{COMMENTS, get, say, send};

const COMMENT: &str = "POST /repos/{owner}/{repo}/issues/{number}/comments";

fn comments(world: &World) -> usize {
    world.comments_by("octo/garden", 1, "maya").len()
}

async fn try_to_comment(world: &World) -> reqwest::Result<Value> {
    send(world, &format!("POST {COMMENTS}"), "maya", json!({ "body": "Hi" })).await?.json().await
}

#[tokio::test]
async fn a_status_strikes_as_often_as_told_and_nothing_is_done() {
    let world = World::start().await.unwrap();
    world.faults().on(COMMENT, FaultKind::Status(502)).times(2);
    let statuses = [
        say(&world, "maya", "1").await.0,
        say(&world, "maya", "2").await.0,
        say(&world, "maya", "3").await.0,
    ];
    assert_eq!((statuses, comments(&world)), ([502, 502, 201], 1));
}

#[tokio::test]
async fn a_given_answer_is_sent_as_it_is() {
    let world = World::start().await.unwrap();
    let headers = vec![("x-test".to_owned(), "yes".to_owned())];
    world
        .faults()
        .on("GET /user", FaultKind::Answer { status: 418, headers, body: "{\"tea\":1}".to_owned() })
        .always();
    for _ in 0..2 {
        let answer = send(&world, "GET /user", "maya", Value::Null).await.unwrap();
        assert_eq!((answer.status().as_u16(), &answer.headers()["x-test"]), (418, &"yes".parse().unwrap()));
        assert_eq!(answer.text().await.unwrap(), "{\"tea\":1}");
    }
}

#[tokio::test]
async fn a_delay_only_takes_time() {
    let world = World::start().await.unwrap();
    let time = Duration::from_millis(30);
    let _once = world.faults().on("GET /user", FaultKind::Delay(time));
    let began = Instant::now();
    assert_eq!(get(&world, "/user").await.0, 200);
    assert!(began.elapsed() >= time, "took {:?}", began.elapsed());
}

#[tokio::test]
async fn a_dropped_request_was_never_there() {
    let world = World::start().await.unwrap();
    world.faults().on(COMMENT, FaultKind::Dropped).times(1);
    assert!(try_to_comment(&world).await.is_err());
    assert_eq!((comments(&world), world.traffic()[0].status), (0, None));
}

#[tokio::test]
async fn a_withheld_answer_is_of_a_request_that_was_done() {
    let world = World::start().await.unwrap();
    world.faults().on(COMMENT, FaultKind::AnswerWithheld).times(1);
    assert!(try_to_comment(&world).await.is_err());
    assert_eq!((comments(&world), world.traffic()[0].status), (1, None));
}

#[tokio::test]
async fn a_cut_answer_begins_and_breaks() {
    let world = World::start().await.unwrap();
    world.faults().on(COMMENT, FaultKind::AnswerCut).times(1);
    let answer = send(&world, &format!("POST {COMMENTS}"), "maya", json!({ "body": "Hi" })).await.unwrap();
    assert_eq!(answer.status(), 201);
    assert!(answer.text().await.is_err());
    assert_eq!(comments(&world), 1);
}

#[tokio::test]
async fn malformed_json_is_a_200_that_cannot_be_read() {
    let world = World::start().await.unwrap();
    world.faults().on("POST /graphql", FaultKind::MalformedJson).times(1);
    let answer =
        send(&world, "POST /graphql", "maya", json!({ "query": "{ viewer { login } }" })).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(serde_json::from_str::<Value>(&answer.text().await.unwrap()).is_err());
}

#[tokio::test]
async fn an_oversized_answer_is_sound_but_huge() {
    let world = World::start().await.unwrap();
    world.faults().on("GET /user", FaultKind::Oversized(3_000_000)).times(1);
    let (status, answer) = get(&world, "/user").await;
    assert_eq!((status, answer["body"].as_str().unwrap().len()), (200, 3_000_000));
}

#[tokio::test]
async fn the_hourly_limit_says_when_it_is_back() {
    let world = World::start().await.unwrap();
    let limit = FaultKind::RateLimit { reset_in: Duration::from_secs(90) };
    world.faults().on("GET /user", limit.clone()).times(1);
    world.faults().on("POST /graphql", limit).times(1);
    let answer = send(&world, "GET /user", "maya", Value::Null).await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["x-ratelimit-remaining"]),
        (403, &"0".parse().unwrap())
    );
    assert!(!answer.headers().contains_key("retry-after"));
    let answer: Value = send(&world, "POST /graphql", "maya", json!({})).await.unwrap().json().await.unwrap();
    assert_eq!(answer["errors"][0]["type"], "RATE_LIMITED");
}

#[tokio::test]
async fn the_limit_against_bursts_may_say_how_long_to_wait() {
    let world = World::start().await.unwrap();
    let limit = |seconds: Option<u64>| FaultKind::SecondaryRateLimit {
        retry_after: seconds.map(Duration::from_secs),
    };
    world.faults().on("GET /user", limit(Some(7))).times(1);
    world.faults().on("GET /user", limit(None)).times(1);
    let retry_after = async || {
        let answer = send(&world, "GET /user", "maya", Value::Null).await.unwrap();
        assert_eq!(answer.status(), 403);
        answer.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!((retry_after().await, retry_after().await), (Some("7".to_owned()), None));
}

#[tokio::test]
async fn faults_strike_the_model_too() {
    let world = World::start().await.unwrap();
    world.faults().on("POST /v1/chat/completions", FaultKind::Status(503)).times(1);
    let url = format!("{}/chat/completions", world.model().base_url());
    assert_eq!(crate::client::client().post(url).send().await.unwrap().status(), 503);
    assert_eq!(world.model().seen(), []);
}

#[tokio::test]
async fn faults_that_never_struck_are_told_and_healed() {
    let world = World::start().await.unwrap();
    world.faults().on("GET /user", FaultKind::Status(500)).times(2);
    get(&world, "/user").await;
    assert_eq!(world.faults().unspent(), ["GET /user"]);
    world.faults().heal();
    assert_eq!((get(&world, "/user").await.0, world.faults().unspent()), (200, vec![]));
}

#[tokio::test]
async fn a_late_answer_is_about_something_that_was_done_at_once() {
    let world = World::start().await.unwrap();
    let _once = world.faults().on(COMMENT, FaultKind::AnswerLate(Duration::from_hours(1)));
    tokio::select! {
        _ = try_to_comment(&world) => panic!("the answer came"),
        () = world.faults().wait_until_held() => {}
    }
    assert_eq!((comments(&world), world.calls()), (1, vec![COMMENT.to_owned()]));
}
