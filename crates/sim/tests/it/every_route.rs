//! The faults again, on every route there is: the API's, git's, the cache's and those of files.

use std::time::{Duration, Instant};

use fro_sim::{FaultKind, World};
use reqwest::{Method, Response};
use serde_json::Value;

use crate::client::client;

/// Knocks on a route with somebody's token and something in every part of its path.
async fn knock(world: &World, route: &str) -> reqwest::Result<Response> {
    let (method, path) = route.split_once(' ').unwrap();
    let fill = |part| match part {
        "{owner}" => "octo",
        "{repo}" => "garden",
        _ if str::starts_with(part, '{') => "1",
        _ => part,
    };
    let path: Vec<_> = path.split('/').map(fill).collect();
    let request = client().request(method.parse::<Method>().unwrap(), world.api_url() + &path.join("/"));
    request.bearer_auth(world.token("maya")).header("content-length", "0").send().await
}

/// Sets one fault on each route, knocks, and tells the routes where it did not strike as expected.
async fn unmoved(kind: FaultKind, expected: impl AsyncFn(reqwest::Result<Response>) -> bool) -> Vec<String> {
    let world = World::start().await.unwrap();
    let mut unmoved = Vec::new();
    for route in world.routes() {
        world.faults().on(&route, kind.clone()).times(1);
        if !expected(knock(&world, &route).await).await {
            unmoved.push(route);
        }
        world.faults().heal();
    }
    unmoved
}

const NONE: [String; 0] = [];

#[tokio::test]
async fn every_route_can_answer_any_status() {
    let struck = async |answer: reqwest::Result<Response>| answer.unwrap().status() == 503;
    assert_eq!(unmoved(FaultKind::Status(503), struck).await, NONE);
}

#[tokio::test]
async fn every_route_can_take_its_time() {
    let world = World::start().await.unwrap();
    let time = Duration::from_millis(15);
    for route in world.routes() {
        world.faults().on(&route, FaultKind::Delay(time)).times(1);
        let began = Instant::now();
        knock(&world, &route).await.unwrap();
        assert!(began.elapsed() >= time, "{route} took {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn every_route_can_hang_up_before_and_after() {
    let struck = async |answer: reqwest::Result<Response>| answer.is_err();
    assert_eq!(unmoved(FaultKind::Dropped, struck).await, NONE);
    assert_eq!(unmoved(FaultKind::AnswerWithheld, struck).await, NONE);
}

#[tokio::test]
async fn every_route_can_break_off() {
    let struck = async |answer: reqwest::Result<Response>| {
        let answer = answer.unwrap();
        // An answer without a body has no middle.
        answer.status() == 204 || answer.bytes().await.is_err()
    };
    assert_eq!(unmoved(FaultKind::AnswerCut, struck).await, NONE);
}

#[tokio::test]
async fn every_route_can_talk_nonsense_and_too_much() {
    let nonsense = async |answer: reqwest::Result<Response>| answer.unwrap().json::<Value>().await.is_err();
    assert_eq!(unmoved(FaultKind::MalformedJson, nonsense).await, NONE);
    let much =
        async |answer: reqwest::Result<Response>| answer.unwrap().bytes().await.unwrap().len() > 100_000;
    assert_eq!(unmoved(FaultKind::Oversized(100_000), much).await, NONE);
}

#[tokio::test]
async fn every_route_can_be_limited() {
    let used_up =
        async |answer: reqwest::Result<Response>| answer.unwrap().headers()["x-ratelimit-remaining"] == "0";
    let hourly = FaultKind::RateLimit { reset_in: Duration::from_secs(90) };
    assert_eq!(unmoved(hourly, used_up).await, NONE);
    for seconds in [Some(7), None] {
        let told = async |answer: reqwest::Result<Response>| {
            let answer = answer.unwrap();
            let said = answer.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
            answer.status() == 403 && said == seconds.map(|seconds: u64| seconds.to_string())
        };
        let limit = FaultKind::SecondaryRateLimit { retry_after: seconds.map(Duration::from_secs) };
        assert_eq!(unmoved(limit, told).await, NONE);
    }
}
