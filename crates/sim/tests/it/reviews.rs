//! Reviews: what GitHub takes and refuses, and what becomes of threads when the code moves on.

use fro_sim::World;
use serde_json::{Value, json};

use crate::client::{ask, get};

const REVIEWS: &str = "POST /repos/octo/garden/pulls/2/reviews";

/// Sends a review with one remark and returns the status with what is complained of.
async fn remark(world: &World, remark: Value) -> (u16, Value) {
    let review = json!({ "event": "COMMENT", "body": "Hm", "comments": [remark] });
    let (status, answer) = ask(world, REVIEWS, "octo", review).await;
    (status, answer["errors"][0].clone())
}

#[tokio::test]
async fn a_remark_stands_only_on_lines_of_the_diff() {
    let world = World::start().await.unwrap();
    let at = |line: u64, start: Option<u64>| json!({ "path": "tap.rs", "body": "Hm", "line": line, "start_line": start });
    let complaint = |words: &str| (422, json!(format!("Pull request review thread {words}")));
    assert_eq!(remark(&world, at(5, None)).await, (200, Value::Null));
    assert_eq!(remark(&world, at(6, Some(4))).await, (200, Value::Null));
    assert_eq!(remark(&world, at(500, None)).await, complaint("line must be part of the diff"));
    assert_eq!(remark(&world, at(5, Some(5))).await, complaint("start line must precede the end line"));
    let elsewhere = json!({ "path": "door.rs", "body": "Hm", "line": 5 });
    assert_eq!(remark(&world, elsewhere).await, complaint("path is invalid"));
}

#[tokio::test]
async fn a_refused_review_leaves_nothing_behind() {
    let world = World::start().await.unwrap();
    let comments = json!([
        { "path": "tap.rs", "body": "Fine", "line": 5 },
        { "path": "tap.rs", "body": "Nowhere", "line": 500 },
    ]);
    let review = json!({ "event": "COMMENT", "body": "Two things", "comments": comments });
    assert_eq!(ask(&world, REVIEWS, "octo", review).await.0, 422);
    assert_eq!(get(&world, "/repos/octo/garden/pulls/2/comments").await, (200, json!([])));
    assert_eq!(get(&world, "/repos/octo/garden/pulls/2/reviews").await, (200, json!([])));
}

#[tokio::test]
async fn nobody_approves_their_own_pull_request() {
    let world = World::start().await.unwrap();
    let approve = json!({ "event": "APPROVE" });
    let (status, answer) = ask(&world, REVIEWS, "maya", approve.clone()).await;
    assert_eq!((status, &answer["errors"]), (422, &json!(["Can not approve your own pull request"])));
    assert_eq!(ask(&world, REVIEWS, "octo", approve).await.1["state"], "APPROVED");
}

#[tokio::test]
async fn a_review_that_is_not_given_yet_is_its_author_s_own() {
    let world = World::start().await.unwrap();
    let begun = json!({ "comments": [{ "path": "tap.rs", "body": "Later", "line": 5 }] });
    let (_, review) = ask(&world, REVIEWS, "octo", begun).await;
    assert_eq!(get(&world, "/repos/octo/garden/pulls/2/comments").await, (200, json!([])));
    let submit = format!("{REVIEWS}/{}/events", review["id"]);
    ask(&world, &submit, "octo", json!({ "event": "COMMENT", "body": "Now" })).await;
    let (_, comments) = get(&world, "/repos/octo/garden/pulls/2/comments").await;
    assert_eq!(comments[0]["body"], "Later");
}
