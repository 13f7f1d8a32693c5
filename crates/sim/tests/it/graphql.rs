//! The GraphQL API.

use fro_sim::{World, state::TokenAccess};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::client::{ask, client};

async fn query(world: &World, login: &str, query: &str) -> Value {
    let (status, answer) = ask(world, "POST /graphql", login, json!({ "query": query })).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

/// Asks as maya for something of octo/garden.
async fn in_garden(world: &World, fields: &str) -> Value {
    query(world, "maya", &format!("{{ repository(owner: \"octo\", name: \"garden\") {{ {fields} }} }}")).await
}

fn pretty(world: &World, answer: &Value) -> String {
    serde_json::to_string_pretty(answer).unwrap().replace(&world.api_url(), "http://sim")
}

/// The data and the only error, without its place in the question.
fn short(answer: &Value) -> String {
    let mut error = answer["errors"][0].clone();
    error.as_object_mut().unwrap().remove("locations");
    format!("{}\n{error}", answer["data"])
}

#[tokio::test]
async fn an_issue_is_told_with_its_comments() {
    let world = World::start().await.unwrap();
    let answer = in_garden(
        &world,
        "nameWithOwner isPrivate defaultBranchRef { name } issue(number: 1) {
           id number title state locked url createdAt author { __typename login } authorAssociation
           labels(first: 10) { totalCount nodes { name } }
           comments(last: 5) {
             totalCount pageInfo { hasPreviousPage hasNextPage }
             nodes { id databaseId fullDatabaseId author { login } authorAssociation body createdAt url isMinimized }
           }
         }",
    );
    assert_snapshot!(pretty(&world, &answer.await));
}

#[tokio::test]
async fn a_pull_request_is_told_with_its_branches() {
    let world = World::start().await.unwrap();
    let answer = in_garden(
        &world,
        "pullRequest(number: 2) {
           id title state isDraft merged baseRefName headRefName headRefOid isCrossRepository
           headRepository { nameWithOwner } additions deletions changedFiles
           files(first: 10) { nodes { path additions deletions changeType } }
           commits(last: 1) { totalCount nodes { commit { oid messageHeadline } } }
           reviews(first: 10) { totalCount nodes { state } }
         }",
    );
    assert_snapshot!(pretty(&world, &answer.await));
}

#[tokio::test]
async fn renamed_spread_and_named_questions_get_the_same_data() {
    let world = World::start().await.unwrap();
    let plain =
        in_garden(&world, "issueOrPullRequest(number: 1) { ... on Issue { title author { login } } }").await;
    let other = json!({
        "operationName": "Second",
        "variables": { "o": "octo", "n": "garden", "number": 1 },
        "query": "query First { viewer { login } }
                  query Second($o: String!, $n: String!, $number: Int!) {
                    place: repository(owner: $o, name: $n) { thing: issueOrPullRequest(number: $number) { ...T } }
                  }
                  fragment T on Issue { heading: title author { ...Who } }
                  fragment Who on Actor { name: login }",
    });
    let (_, other) = ask(&world, "POST /graphql", "maya", other).await;
    let (plain, other) =
        (&plain["data"]["repository"]["issueOrPullRequest"], &other["data"]["place"]["thing"]);
    assert_eq!((&plain["title"], &plain["author"]["login"]), (&other["heading"], &other["author"]["name"]));
    assert_eq!(
        other,
        &json!({ "heading": "The floor is wet every morning", "author": { "name": "mallory" } })
    );
}

#[tokio::test]
async fn a_number_is_an_issue_or_a_pull_request() {
    let world = World::start().await.unwrap();
    let kinds =
        "a: issueOrPullRequest(number: 1) { __typename } b: issueOrPullRequest(number: 2) { __typename }";
    let expected = json!({ "a": { "__typename": "Issue" }, "b": { "__typename": "PullRequest" } });
    assert_eq!(in_garden(&world, kinds).await["data"]["repository"], expected);
    let answer = in_garden(&world, "issue(number: 2) { title }").await;
    assert_snapshot!(short(&answer), @r#"
    {"repository":{"issue":null}}
    {"message":"Could not resolve to an Issue with the number of 2.","path":["repository","issue"],"type":"NOT_FOUND"}
    "#);
}

#[tokio::test]
async fn comments_can_be_walked_through_both_ways() {
    let world = World::start().await.unwrap();
    for n in 2..=5 {
        world.write_comment("octo/garden", 3, "rita", &format!("{n}"));
    }
    let page = async |window: &str| {
        let fields = format!(
            "issue(number: 3) {{ comments({window}) {{ totalCount nodes {{ body }} edges {{ cursor }}
             pageInfo {{ startCursor endCursor hasNextPage hasPreviousPage }} }} }}"
        );
        let comments = in_garden(&world, &fields).await["data"]["repository"]["issue"]["comments"].clone();
        let bodies: String = comments["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|comment| comment["body"].as_str())
            .collect();
        (bodies, comments["pageInfo"].clone())
    };
    let (bodies, info) = page("first: 3").await;
    assert_eq!(
        (bodies.as_str(), &info["hasNextPage"], &info["hasPreviousPage"]),
        ("234", &json!(true), &json!(false))
    );
    let (bodies, info) = page(&format!("first: 3, after: {}", info["endCursor"])).await;
    assert_eq!(
        (bodies.as_str(), &info["hasNextPage"], &info["hasPreviousPage"]),
        ("5", &json!(false), &json!(true))
    );
    let (bodies, info) = page(&format!("last: 2, before: {}", info["startCursor"])).await;
    assert_eq!(
        (bodies.as_str(), &info["hasNextPage"], &info["hasPreviousPage"]),
        ("34", &json!(true), &json!(true))
    );
}

#[tokio::test]
async fn a_window_has_a_size_and_a_limit() {
    let world = World::start().await.unwrap();
    let kind = async |window: &str| {
        let answer =
            in_garden(&world, &format!("issue(number: 1) {{ comments{window} {{ nodes {{ id }} }} }}")).await;
        answer["errors"][0]["type"].clone()
    };
    let count = in_garden(&world, "issue(number: 1) { comments { totalCount } }").await;
    assert_eq!(count["data"]["repository"]["issue"]["comments"]["totalCount"], 1, "counting needs no size");
    assert_eq!(kind("").await, "MISSING_PAGINATION_BOUNDARIES");
    assert_eq!(kind("(first: 101)").await, "EXCESSIVE_PAGINATION");
}

#[tokio::test]
async fn bots_have_another_name_than_in_rest() {
    let world = World::start().await.unwrap();
    world.write_comment("octo/garden", 3, "github-actions[bot]", "Beep");
    let answer = in_garden(
        &world,
        "issue(number: 3) { comments(first: 1) { nodes { author { __typename login } } } }",
    );
    let author = answer.await["data"]["repository"]["issue"]["comments"]["nodes"][0]["author"].clone();
    assert_eq!(author, json!({ "__typename": "Bot", "login": "github-actions" }));
}

#[tokio::test]
async fn what_may_not_be_seen_is_not_there() {
    let world = World::start().await.unwrap();
    let question = "{ repository(owner: \"octo\", name: \"cellar\") { isPrivate } }";
    assert_eq!(
        query(&world, "octo", question).await,
        json!({ "data": { "repository": { "isPrivate": true } } })
    );
    assert_snapshot!(short(&query(&world, "mallory", question).await), @r#"
    {"repository":null}
    {"message":"Could not resolve to a Repository with the name 'octo/cellar'.","path":["repository"],"type":"NOT_FOUND"}
    "#);
}

#[tokio::test]
async fn a_wrong_question_is_told_so() {
    let world = World::start().await.unwrap();
    assert_snapshot!(short(&query(&world, "maya", "{ viewer { shoeSize } }").await), @r#"
    null
    {"extensions":{"code":"undefinedField","fieldName":"shoeSize","typeName":"User"},"message":"Field 'shoeSize' doesn't exist on type 'User'"}
    "#);
}

#[tokio::test]
async fn tokens_count_as_in_rest() {
    let world = World::start().await.unwrap();
    let ask_with = async |token: &str| {
        let request = client().post(world.graphql_url()).json(&json!({ "query": "{ viewer { login } }" }));
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        request.send().await.unwrap().status().as_u16()
    };
    let reading = world.change(|state| state.give_token("rita", TokenAccess::ReadOnly));
    assert_eq!(ask_with(&reading).await, 200, "a question is no write, though it is a POST");
    assert_eq!((ask_with("ghp_wrong").await, ask_with("").await), (401, 401));
}
