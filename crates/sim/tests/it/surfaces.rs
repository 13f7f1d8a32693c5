//! Review threads and discussions, knocked on by a client that is not ours.

use fro_sim::{World, state::TokenAccess};
use serde_json::{Value, json};

use crate::client::{ask, client, get};

const REPO: &str = "octo/garden";

async fn graphql(world: &World, login: &str, query: &str) -> Value {
    ask(world, "POST /graphql", login, json!({ "query": query })).await.1
}

#[tokio::test]
async fn a_thread_takes_replies_to_its_first_comment_only() {
    let world = World::start().await.unwrap();
    let root = world.change(|state| state.begin_thread(REPO, 2, "octo", "Rubber?").unwrap());
    let replies = |to: u64| format!("POST /repos/{REPO}/pulls/2/comments/{to}/replies");
    let (status, reply) = ask(&world, &replies(root), "maya", json!({ "body": "No." })).await;
    assert_eq!((status, &reply["in_reply_to_id"], &reply["path"]), (201, &json!(root), &json!("tap.rs")));
    let reply = reply["id"].as_u64().unwrap();
    assert_eq!(ask(&world, &replies(reply), "maya", json!({ "body": "?" })).await.0, 404);

    let edit = format!("PATCH /repos/{REPO}/pulls/comments/{reply}");
    assert_eq!(ask(&world, &edit, "mallory", json!({ "body": "Yes." })).await.0, 403);
    assert_eq!(ask(&world, &edit, "maya", json!({ "body": "Yes." })).await.0, 200);
    let (_, newest_first) =
        get(&world, "/repos/octo/garden/pulls/2/comments?sort=created&direction=desc").await;
    let bodies: Vec<_> = newest_first.as_array().unwrap().iter().map(|said| said["body"].clone()).collect();
    assert_eq!(bodies, ["Yes.", "Rubber?"]);
}

#[tokio::test]
async fn a_review_comment_takes_reactions() {
    let world = World::start().await.unwrap();
    let root = world.change(|state| state.begin_thread(REPO, 2, "octo", "Rubber?").unwrap());
    let path = format!("/repos/{REPO}/pulls/comments/{root}/reactions");
    let (status, left) = ask(&world, &format!("POST {path}"), "maya", json!({ "content": "eyes" })).await;
    assert_eq!(status, 201);
    let taken = ask(&world, &format!("DELETE {path}/{}", left["id"]), "maya", Value::Null).await;
    assert_eq!(taken.0, 204);
}

#[tokio::test]
async fn threads_are_told_with_the_pull_request() {
    let world = World::start().await.unwrap();
    world.change(|state| state.begin_thread(REPO, 2, "octo", "Rubber?").unwrap());
    let query = "{ repository(owner: \"octo\", name: \"garden\") { pullRequest(number: 2) {
        reviewThreads(first: 5) { nodes { isResolved path line comments(first: 5) { nodes { body } } } } } } }";
    let answer = graphql(&world, "maya", query).await;
    let threads = &answer["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"];
    let comments = json!({ "nodes": [{ "body": "Rubber?" }] });
    assert_eq!(threads, &json!([{ "isResolved": false, "path": "tap.rs", "line": 1, "comments": comments }]));
}

#[tokio::test]
async fn a_discussion_takes_comments_and_replies_to_them() {
    let world = World::start().await.unwrap();
    let number = world.change(|state| state.begin_discussion(REPO, "octo", "Ideas", "What?").unwrap());
    let id = world.discussion_event(REPO, number)["discussion"]["node_id"].clone();
    let add = |body: &str, below: &str| {
        let input = format!("{{ discussionId: {id}, body: \"{body}\"{below} }}");
        format!(
            "mutation {{ addDiscussionComment(input: {input}) {{ comment {{ id body replyTo {{ id }} }} }} }}"
        )
    };
    let top = graphql(&world, "rita", &add("Tomatoes", "")).await;
    let top = &top["data"]["addDiscussionComment"]["comment"];
    let below = format!(", replyToId: {}", top["id"]);
    let reply = graphql(&world, "maya", &add("Which?", &below)).await;
    let reply = &reply["data"]["addDiscussionComment"]["comment"];
    assert_eq!((&reply["body"], &reply["replyTo"]["id"]), (&json!("Which?"), &top["id"]));
    let deeper = graphql(&world, "rita", &add("All", &format!(", replyToId: {}", reply["id"]))).await;
    assert_eq!(deeper["errors"][0]["type"], "UNPROCESSABLE", "a reply has no replies");

    let edit = format!(
        "mutation {{ updateDiscussionComment(input: {{ commentId: {}, body: \"Red ones\" }}) {{ comment {{ body }} }} }}",
        top["id"]
    );
    assert_eq!(graphql(&world, "mallory", &edit).await["errors"][0]["type"], "FORBIDDEN");
    assert_eq!(
        graphql(&world, "rita", &edit).await["data"]["updateDiscussionComment"]["comment"]["body"],
        "Red ones"
    );
}

#[tokio::test]
async fn a_discussion_takes_reactions_but_not_from_tokens_that_only_read() {
    let world = World::start().await.unwrap();
    let number = world.change(|state| state.begin_discussion(REPO, "octo", "Ideas", "What?").unwrap());
    let id = world.discussion_event(REPO, number)["discussion"]["node_id"].clone();
    let react = |deed: &str| {
        format!(
            "mutation {{ {deed}(input: {{ subjectId: {id}, content: EYES }}) {{ reaction {{ content }} }} }}"
        )
    };
    let count = || world.state(|state| state.repo(REPO).unwrap().discussion(number).unwrap().reactions.len());
    for _ in 0..2 {
        graphql(&world, "maya", &react("addReaction")).await;
    }
    assert_eq!(count(), 1, "the same one again is no second one");
    let reading = world.change(|state| state.give_token("rita", TokenAccess::ReadOnly));
    let body = json!({ "query": react("addReaction") });
    let refused = client().post(world.graphql_url()).bearer_auth(reading).json(&body).send().await.unwrap();
    let refused: Value = serde_json::from_str(&refused.text().await.unwrap()).unwrap();
    assert_eq!((&refused["errors"][0]["type"], count()), (&json!("FORBIDDEN"), 1));
    graphql(&world, "maya", &react("removeReaction")).await;
    assert_eq!(count(), 0);
}
