//! The REST API.

use fro_sim::{
    World,
    state::{Clock, TokenAccess},
};
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::client::{COMMENTS, ask, client, get, say, send};

/// The `message` of a refusal, with its status.
fn refusal((status, body): (u16, Value)) -> (u16, String) {
    assert!(body["documentation_url"].is_string(), "{body}");
    (status, body["message"].as_str().unwrap().to_owned())
}

fn permission_of(login: &str) -> String {
    format!("/repos/octo/garden/collaborators/{login}/permission")
}

#[tokio::test]
async fn an_issue_has_githubs_shape() {
    let world = World::start().await.unwrap();
    let (status, issue) = get(&world, "/repos/octo/garden/issues/1").await;
    assert_eq!(status, 200);
    let text = issue.to_string().replace(&world.api_url(), "http://sim");
    assert_json_snapshot!(serde_json::from_str::<Value>(&text).unwrap(), { ".user" => "[user]" });
}

#[tokio::test]
async fn a_pull_request_is_an_issue_too() {
    let world = World::start().await.unwrap();
    let (_, issue) = get(&world, "/repos/octo/garden/issues/2").await;
    assert_eq!(issue["pull_request"]["html_url"], format!("{}/octo/garden/pull/2", world.api_url()));
    assert!(issue["node_id"].as_str().unwrap().starts_with("PR_kwDO"), "{issue}");
}

#[tokio::test]
async fn issues_are_listed_newest_first_and_filtered() {
    let world = World::start().await.unwrap();
    let numbers = async |query: &str| -> Vec<u64> {
        let (_, issues) = get(&world, &format!("/repos/octo/garden/issues{query}")).await;
        issues.as_array().unwrap().iter().map(|issue| issue["number"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers("").await, [3, 2, 1]);
    assert_eq!(numbers("?labels=bug").await, [1]);
    assert_eq!(numbers("?creator=maya").await, [2]);
    assert_eq!(numbers("?state=closed").await, [0; 0]);
}

#[tokio::test]
async fn a_comment_is_written_read_edited_and_deleted() {
    let world = World::start().await.unwrap();
    world.change(|state| state.clock = Clock::Counting("2026-06-01T12:00:00Z".parse().unwrap()));
    let (status, written) = say(&world, "maya", "It is the *tap*.").await;
    assert_eq!((status, &written["created_at"]), (201, &json!("2026-06-01T12:00:01Z")));

    let path = format!("/repos/octo/garden/issues/comments/{}", written["id"]);
    assert_eq!(get(&world, &path).await, (200, written.clone()));
    let (status, edited) =
        ask(&world, &format!("PATCH {path}"), "maya", json!({ "body": "The hose." })).await;
    assert_eq!(
        (status, &edited["body"], &edited["updated_at"]),
        (200, &json!("The hose."), &json!("2026-06-01T12:00:02Z"))
    );

    assert_eq!(ask(&world, &format!("DELETE {path}"), "maya", Value::Null).await, (204, Value::Null));
    assert_eq!(refusal(get(&world, &path).await), (404, "Not Found".to_owned()));
}

#[tokio::test]
async fn long_lists_come_in_pages_that_lead_on() {
    let world = World::start().await.unwrap();
    for n in 1..=4 {
        world.write_comment("octo/garden", 1, "rita", &format!("Puddle {n}"));
    }
    let address = format!("{}/repositories/412908377/issues/1/comments", world.api_url());
    let page = async |n: usize| {
        let answer =
            send(&world, &format!("GET {COMMENTS}?per_page=2&page={n}"), "maya", Value::Null).await.unwrap();
        let link = answer.headers().get("link").map(|link| link.to_str().unwrap().replace(&address, ""));
        let bodies: Vec<Value> = answer
            .json::<Vec<Value>>()
            .await
            .unwrap()
            .iter()
            .map(|comment| comment["body"].clone())
            .collect();
        (link.unwrap_or_default(), json!(bodies))
    };
    let next = r#"<?per_page=2&page=2>; rel="next", <?per_page=2&page=3>; rel="last""#;
    assert_eq!(page(1).await, (next.to_owned(), json!(["I saw it too. About two litres.", "Puddle 1"])));
    let previous = r#"<?per_page=2&page=2>; rel="prev", <?per_page=2&page=1>; rel="first""#;
    assert_eq!(page(3).await, (previous.to_owned(), json!(["Puddle 4"])));
}

#[tokio::test]
async fn comments_since_a_time_are_the_newer_ones() {
    let world = World::start().await.unwrap();
    world.write_comment("octo/garden", 1, "rita", "Now");
    let (_, comments) = get(&world, &format!("{COMMENTS}?since=2026-05-05T00:00:00Z")).await;
    assert_eq!((comments.as_array().unwrap().len(), &comments[0]["body"]), (1, &json!("Now")));
}

#[tokio::test]
async fn a_reaction_is_left_once_and_taken_back() {
    let world = World::start().await.unwrap();
    let comment = world.write_comment("octo/garden", 1, "maya", "@fro-bot why?");
    let path = format!("/repos/octo/garden/issues/comments/{comment}/reactions");
    let eyes = json!({ "content": "eyes" });
    let (first, left) = ask(&world, &format!("POST {path}"), "fro-bot", eyes.clone()).await;
    let (second, same) = ask(&world, &format!("POST {path}"), "fro-bot", eyes).await;
    assert_eq!((first, second, &left), (201, 200, &same));
    assert_eq!(world.reactions_on("octo/garden", comment), ["fro-bot: eyes"]);
    assert_eq!(get(&world, &format!("{path}?content=eyes")).await, (200, json!([left])));

    let one = format!("DELETE {path}/{}", left["id"]);
    let other = ask(&world, &one, "maya", Value::Null).await;
    assert_eq!(refusal(other).0, 403, "somebody else's reaction");
    assert_eq!(ask(&world, &one, "fro-bot", Value::Null).await.0, 204);
    assert_eq!(get(&world, &path).await, (200, json!([])));
}

#[tokio::test]
async fn an_issue_can_be_reacted_to_but_only_with_the_eight() {
    let world = World::start().await.unwrap();
    let path = "POST /repos/octo/garden/issues/1/reactions";
    assert_eq!(ask(&world, path, "fro-bot", json!({ "content": "hooray" })).await.0, 201);
    assert_eq!(ask(&world, path, "fro-bot", json!({ "content": "peace" })).await.0, 422);
}

#[tokio::test]
async fn labels_are_made_put_on_and_taken_off() {
    let world = World::start().await.unwrap();
    let label = json!({ "name": "agent: working", "color": "fbca04", "description": "At work" });
    let make = "POST /repos/octo/garden/labels";
    assert_eq!(ask(&world, make, "fro-bot", label.clone()).await.0, 201);
    let (status, again) = ask(&world, make, "fro-bot", label).await;
    assert_eq!((status, &again["errors"][0]["code"]), (422, &json!("already_exists")));
    assert_eq!(get(&world, "/repos/octo/garden/labels/agent:%20working").await.1["color"], "fbca04");

    let on = "/repos/octo/garden/issues/1/labels";
    let names = |labels: &Value| {
        labels.as_array().unwrap().iter().map(|label| label["name"].clone()).collect::<Value>()
    };
    let (_, labels) =
        ask(&world, &format!("POST {on}"), "fro-bot", json!({ "labels": ["agent: working"] })).await;
    assert_eq!(names(&labels), json!(["bug", "agent: working"]));
    let off = format!("DELETE {on}/agent:%20working");
    let (_, labels) = ask(&world, &off, "fro-bot", Value::Null).await;
    assert_eq!(names(&labels), json!(["bug"]));
    assert_eq!(
        refusal(ask(&world, &off, "fro-bot", Value::Null).await),
        (404, "Label does not exist".to_owned())
    );
}

#[tokio::test]
async fn permissions_are_per_person() {
    let world = World::start().await.unwrap();
    let role = async |login: &str| {
        let (status, answer) = get(&world, &permission_of(login)).await;
        assert_eq!(status, 200, "{answer}");
        format!("{} {}", answer["permission"].as_str().unwrap(), answer["role_name"].as_str().unwrap())
    };
    assert_eq!(role("octo").await, "admin admin");
    assert_eq!(role("maya").await, "write write");
    assert_eq!(role("rita").await, "read read");
    assert_eq!(role("mallory").await, "read read", "a public repository can be read by anyone");
    let nobody = refusal(get(&world, &permission_of("nobody")).await);
    assert_eq!(nobody, (404, "nobody is not a user".to_owned()));
    let stranger = ask(&world, &format!("GET {}", permission_of("maya")), "mallory", Value::Null).await;
    assert_eq!(refusal(stranger).0, 403);
}

#[tokio::test]
async fn old_words_for_permissions_are_coarser_than_roles() {
    let world = World::start().await.unwrap();
    let path = "/repos/octo/cellar/collaborators/maya/permission";
    let (_, answer) = ask(&world, &format!("GET {path}"), "octo", Value::Null).await;
    assert_eq!((&answer["permission"], &answer["role_name"]), (&json!("read"), &json!("triage")));
}

#[tokio::test]
async fn a_private_repository_is_not_there_for_others() {
    let world = World::start().await.unwrap();
    let path = "GET /repos/octo/cellar";
    assert_eq!(ask(&world, path, "octo", Value::Null).await.1["private"], true);
    assert_eq!(refusal(ask(&world, path, "mallory", Value::Null).await), (404, "Not Found".to_owned()));
}

#[tokio::test]
async fn wrong_and_expired_tokens_are_refused_everywhere() {
    let world = World::start().await.unwrap();
    let token = world.token("maya");
    let ask_with = async |token: &str, path: &str| {
        let url = format!("{}{path}", world.api_url());
        let answer =
            client().get(url).header("authorization", format!("token {token}")).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    assert_eq!(ask_with(&token, "/user").await.1["login"], "maya");
    world.change(|state| state.tokens.iter_mut().for_each(|token| token.expired = true));
    for (token, path) in
        [(token.as_str(), "/user"), ("ghp_wrong", "/user"), ("ghp_wrong", "/repos/octo/garden")]
    {
        assert_eq!(refusal(ask_with(token, path).await), (401, "Bad credentials".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn a_read_only_token_reads_and_no_more() {
    let world = World::start().await.unwrap();
    let token = world.change(|state| state.give_token("fro-bot", TokenAccess::ReadOnly));
    let url = format!("{}{COMMENTS}", world.api_url());
    assert_eq!(client().get(&url).bearer_auth(&token).send().await.unwrap().status(), 200);
    let refused =
        client().post(&url).bearer_auth(&token).json(&json!({ "body": "Hi" })).send().await.unwrap();
    let refused = (refused.status().as_u16(), refused.json().await.unwrap());
    assert_eq!(refusal(refused), (403, "Resource not accessible by integration".to_owned()));
    assert_eq!(world.comments_by("octo/garden", 1, "fro-bot"), [""; 0]);
}

#[tokio::test]
async fn an_installation_is_no_user() {
    let world = World::start().await.unwrap();
    assert_eq!(ask(&world, "GET /user", "fro-bot", Value::Null).await.1["login"], "fro-bot");
    let bot = ask(&world, "GET /user", "github-actions[bot]", Value::Null).await;
    assert_eq!(refusal(bot), (403, "Resource not accessible by integration".to_owned()));
}

#[tokio::test]
async fn strangers_may_comment_but_not_sort_or_edit() {
    let world = World::start().await.unwrap();
    assert_eq!(say(&world, "mallory", "Me too").await.0, 201);
    let label = json!({ "labels": ["bug"] });
    assert_eq!(ask(&world, "POST /repos/octo/garden/issues/3/labels", "mallory", label).await.0, 403);
    let comment = world.write_comment("octo/garden", 1, "maya", "Mine");
    let edit = format!("PATCH /repos/octo/garden/issues/comments/{comment}");
    assert_eq!(ask(&world, &edit, "mallory", json!({ "body": "Yours" })).await.0, 403);
}

#[tokio::test]
async fn a_locked_issue_takes_comments_of_collaborators_only() {
    let world = World::start().await.unwrap();
    world.change(|state| state.issue_mut("octo/garden", 1).unwrap().locked = true);
    assert_eq!(say(&world, "maya", "Enough.").await.0, 201);
    let locked = "Unable to create comment because issue is locked.".to_owned();
    assert_eq!(refusal(say(&world, "mallory", "But").await), (403, locked));
}

#[tokio::test]
async fn a_comment_has_room_for_65536_characters_of_four_bytes() {
    let world = World::start().await.unwrap();
    assert_eq!(say(&world, "maya", &"🌱".repeat(65_536)).await.0, 201);
    let (status, answer) = say(&world, "maya", &"🌱".repeat(65_537)).await;
    let message = "Body is too long (maximum is 65536 characters)";
    assert_eq!((status, &answer["errors"][0]["message"]), (422, &json!(message)));
    assert_eq!(say(&world, "maya", "  ").await.0, 422);
    let missing = ask(&world, &format!("POST {COMMENTS}"), "maya", json!({})).await;
    assert_eq!(refusal(missing).0, 422);
}

#[tokio::test]
async fn every_answer_says_what_is_left_of_the_limit() {
    let world = World::start().await.unwrap();
    let answer = send(&world, "GET /user", "maya", Value::Null).await.unwrap();
    assert!(answer.headers().contains_key("x-github-request-id"));
    assert_eq!(answer.headers()["x-ratelimit-remaining"], "4999");
    assert_eq!(get(&world, "/rate_limit").await.1["rate"]["used"], 1, "asking about it costs nothing");
}
