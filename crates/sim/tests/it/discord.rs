//! What the little Discord takes and what it refuses, in Discord's numbers and words.

use std::time::Duration;

use fro_sim::{
    FaultKind,
    discord::{Answered, Discord, LimitScope},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::client;

/// A bot that asks as Discord's documentation has it, and a Discord to ask.
struct Stage {
    discord: Discord,
    client: &'static reqwest::Client,
    garden: u64,
}

impl Stage {
    async fn new() -> Self {
        let discord = Discord::start().await.unwrap();
        let garden = discord.channel("garden");
        Self { discord, client: client(), garden }
    }

    async fn ask(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let url = format!("{}/v10{path}", self.discord.api_url());
        let token = format!("Bot {}", self.discord.token());
        let answer = self.client.request(method, url).header("authorization", token).json(body);
        let answer = answer.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    /// Says something in a channel; the status and Discord's own code or the message's text.
    async fn say(&self, channel: u64, body: Value) -> (u16, Value) {
        let (status, answer) = self.ask(Method::POST, &format!("/channels/{channel}/messages"), &body).await;
        (status, if status < 400 { answer["content"].clone() } else { answer["code"].clone() })
    }

    async fn answer(&self, interaction: u64, body: &Value) -> (u16, Value) {
        let token = self.token(interaction);
        let (status, answer) =
            self.ask(Method::POST, &format!("/interactions/{interaction}/{token}/callback"), body).await;
        (status, answer["code"].clone())
    }

    fn token(&self, interaction: u64) -> String {
        self.discord
            .state(|chat| chat.interactions.iter().find(|it| it.id == interaction).unwrap().token.clone())
    }

    async fn with_command(&self) {
        let bot = self.discord.person("fro-bot");
        let option = json!({ "name": "repo", "description": "Which", "type": 3, "required": true });
        let commands = json!([{ "name": "link", "description": "Links", "options": [option] }]);
        let (status, _) = self.ask(Method::PUT, &format!("/applications/{bot}/commands"), &commands).await;
        assert_eq!(status, 200);
    }
}

#[tokio::test]
async fn a_message_has_limits() {
    let stage = Stage::new().await;
    stage.discord.lift_limits();
    let button = |id: &str| json!({ "type": 2, "style": 1, "label": "Yes", "custom_id": id });
    let row = |inside: Value| json!({ "content": "?", "components": [{ "type": 1, "components": inside }] });
    let options =
        |n: usize| (0..n).map(|i| json!({ "label": "x", "value": i.to_string() })).collect::<Value>();
    let menu = |n| row(json!([{ "type": 3, "custom_id": "m", "options": options(n) }]));
    let rows = |n: usize| {
        (0..n).map(|i| json!({ "type": 1, "components": [button(&i.to_string())] })).collect::<Value>()
    };
    let texts = (0..41).map(|_| json!({ "type": 10, "content": "x" })).collect::<Value>();
    let cases = [
        (json!({ "content": "ß".repeat(2000) }), (200, json!("ß".repeat(2000)))),
        (json!({ "content": "x".repeat(2001) }), (400, json!(50035))),
        (json!({ "content": "" }), (400, json!(50006))),
        (json!({ "content": 5 }), (400, json!(50035))),
        (row(json!([button(&"i".repeat(100))])), (200, json!("?"))),
        (row(json!([button(&"i".repeat(101))])), (400, json!(50035))),
        (row(json!([button("a"), button("a")])), (400, json!(50035))),
        (row(json!([])), (400, json!(50035))),
        (menu(25), (200, json!("?"))),
        (menu(26), (400, json!(50035))),
        (json!({ "content": "?", "components": rows(5) }), (200, json!("?"))),
        (json!({ "content": "?", "components": rows(6) }), (400, json!(50035))),
        (json!({ "flags": 1 << 15, "components": texts }), (400, json!(50035))),
        (json!({ "content": "?", "nonce": "n".repeat(26) }), (400, json!(50035))),
        (json!({ "content": "?", "message_reference": { "message_id": "1" } }), (400, json!(50035))),
    ];
    for (body, expected) in cases {
        assert_eq!(stage.say(stage.garden, body.clone()).await, expected, "{body}");
    }
}

#[tokio::test]
async fn a_nonce_that_is_enforced_says_a_thing_once_for_some_minutes() {
    let stage = Stage::new().await;
    let twice = json!({ "content": "Hello", "nonce": "7", "enforce_nonce": true });
    for _ in 0..2 {
        assert_eq!(stage.say(stage.garden, twice.clone()).await, (200, json!("Hello")));
    }
    assert_eq!(stage.discord.texts(stage.garden), ["fro-bot: Hello"]);
    stage.discord.change(|chat| chat.pass(Duration::from_mins(4)));
    stage.say(stage.garden, twice).await;
    assert_eq!(stage.discord.texts(stage.garden).len(), 2);
    // What is read later does not tell it.
    let (_, all) = stage.ask(Method::GET, &format!("/channels/{}/messages", stage.garden), &json!({})).await;
    assert_eq!(all[0].get("nonce"), None);
}

#[tokio::test]
async fn who_may_not_is_refused() {
    let stage = Stage::new().await;
    let (cellar, attic) = (stage.discord.channel("cellar"), stage.discord.channel("attic"));
    let text = json!({ "content": "Hello" });
    assert_eq!(stage.say(cellar, text.clone()).await, (200, json!("Hello")));
    assert_eq!(stage.say(attic, text.clone()).await, (403, json!(50001)));
    assert_eq!(stage.say(1, text.clone()).await, (404, json!(10003)));
    let theirs = stage.discord.says("maya", stage.garden, "Mine");
    let path = format!("/channels/{}/messages/{theirs}", stage.garden);
    let code = async |method| stage.ask(method, &path, &text).await.1["code"].clone();
    assert_eq!((code(Method::PATCH).await, code(Method::DELETE).await), (json!(50005), json!(50013)));
    stage.discord.change(|chat| chat.guilds[0].roles.iter_mut().for_each(|role| role.permissions = 1 << 10));
    assert_eq!(stage.say(stage.garden, text.clone()).await, (403, json!(50013)));
    let stranger = stage.client.post(format!("{}/v10/channels/{cellar}/messages", stage.discord.api_url()));
    let answer = stranger.header("authorization", "Bot wrong").json(&text).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 401);
}

#[tokio::test]
async fn a_thread_has_the_number_of_its_message_and_two_new_names_in_ten_minutes() {
    let stage = Stage::new().await;
    let message = stage.discord.says("maya", stage.garden, "@fro-bot why?");
    let path = format!("/channels/{}/messages/{message}/threads", stage.garden);
    let name = |name: &str| json!({ "name": name });
    let (status, thread) = stage.ask(Method::POST, &path, &name("Why")).await;
    assert_eq!((status, &thread["id"]), (201, &json!(message.to_string())));
    let (status, again) = stage.ask(Method::POST, &path, &name("Why")).await;
    assert_eq!((status, &again["code"]), (400, &json!(160_004)));
    let thread = format!("/channels/{message}");
    let mut statuses = Vec::new();
    for n in 0..3 {
        statuses.push(stage.ask(Method::PATCH, &thread, &name(&format!("Name {n}"))).await.0);
    }
    assert_eq!(statuses, [200, 200, 429]);
    stage.discord.change(|chat| chat.pass(Duration::from_mins(10)));
    assert_eq!(stage.ask(Method::PATCH, &thread, &name("Name 3")).await.0, 200);
}

#[tokio::test]
async fn words_take_a_thread_out_of_the_archive_unless_it_is_locked() {
    let stage = Stage::new().await;
    let message = stage.discord.says("maya", stage.garden, "Why?");
    let thread = stage.discord.begins_thread("maya", stage.garden, message, "Why");
    let archived =
        || stage.discord.state(|chat| chat.channel(thread).unwrap().thread.as_ref().unwrap().archived);
    stage.discord.archives(thread, false);
    assert_eq!(stage.say(thread, json!({ "content": "So" })).await, (200, json!("So")));
    assert!(!archived());
    stage.discord.archives(thread, true);
    // The bot's role moderates threads; without that, a locked one stays shut.
    stage.discord.change(|chat| chat.guilds[0].members[0].roles.clear());
    assert_eq!(stage.say(thread, json!({ "content": "So" })).await, (400, json!(50083)));
}

#[tokio::test]
async fn an_interaction_is_answered_within_three_seconds_and_for_fifteen_minutes() {
    let stage = Stage::new().await;
    stage.with_command().await;
    let ask = || stage.discord.commands("maya", stage.garden, "link", &json!({ "repo": "octo/garden" }));
    let defer = json!({ "type": 5 });
    let late = ask();
    stage.discord.change(|chat| chat.pass(Duration::from_secs(4)));
    assert_eq!(stage.answer(late, &defer).await, (404, json!(10062)));
    let asked = ask();
    assert_eq!(stage.answer(asked, &defer).await.0, 204);
    assert_eq!(stage.answer(asked, &defer).await, (400, json!(40060)));
    let bot = stage.discord.person("fro-bot");
    let original = format!("/webhooks/{bot}/{}/messages/@original", stage.token(asked));
    let (status, _) = stage.ask(Method::PATCH, &original, &json!({ "content": "Linked" })).await;
    assert_eq!((status, stage.discord.texts(stage.garden)), (200, vec!["fro-bot: Linked".to_owned()]));
    stage.discord.change(|chat| chat.pass(Duration::from_mins(15)));
    let (status, refused) = stage.ask(Method::PATCH, &original, &json!({ "content": "Again" })).await;
    assert_eq!((status, &refused["code"]), (401, &json!(50027)));
    // Nobody else's answer counts.
    let forged = ask();
    let path = format!("/interactions/{forged}/forged/callback");
    assert_eq!(stage.ask(Method::POST, &path, &defer).await.1["code"], json!(10062));
    let none = stage.discord.state(|chat| chat.interactions.last().unwrap().answered.clone());
    assert_eq!(none, None::<Answered>);
}

#[tokio::test]
async fn nobody_is_rung_whom_the_sender_does_not_allow() {
    let stage = Stage::new().await;
    let (maya, rita) = (stage.discord.person("maya"), stage.discord.person("rita"));
    let text = format!("<@{maya}> <@{rita}> @everyone");
    let rung = async |allowed: Value| {
        stage.say(stage.garden, json!({ "content": text, "allowed_mentions": allowed })).await;
        stage.discord.state(|chat| chat.messages.last().unwrap().pings.users.clone())
    };
    assert_eq!(rung(json!({ "parse": [] })).await, Vec::<u64>::new());
    assert_eq!(rung(json!({ "parse": [], "users": [maya.to_string()] })).await, [maya]);
    assert_eq!(rung(json!({ "parse": ["users"] })).await, [maya, rita]);
}

#[tokio::test]
async fn who_asks_too_often_is_told_to_wait() {
    let stage = Stage::new().await;
    let mut statuses = Vec::new();
    for n in 0..6 {
        statuses.push(stage.say(stage.garden, json!({ "content": n.to_string() })).await.0);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429]);
    let route = "GET /api/v10/users/@me";
    stage.discord.slow_down(route, LimitScope::Global, Duration::from_secs(2));
    let (status, body) = stage.ask(Method::GET, "/users/@me", &json!({})).await;
    assert_eq!((status, &body["global"], &body["retry_after"]), (429, &json!(true), &json!(2.0)));
}

#[tokio::test]
async fn an_unknown_route_is_remembered_and_a_fault_strikes() {
    let stage = Stage::new().await;
    assert_eq!(stage.ask(Method::GET, "/sticker-packs", &json!({})).await.0, 404);
    assert_eq!(stage.discord.unknown_routes(), ["GET /api/v10/sticker-packs"]);
    stage.discord.faults().on("GET /api/v10/users/@me", FaultKind::Status(503));
    assert_eq!(stage.ask(Method::GET, "/users/@me", &json!({})).await.0, 503);
    assert_eq!(stage.ask(Method::GET, "/users/@me", &json!({})).await.0, 200);
}

#[tokio::test]
async fn the_page_of_a_channel_shows_what_was_said_and_keeps_private_ones() {
    let stage = Stage::new().await;
    stage.discord.says("maya", stage.garden, "@fro-bot <b>why</b>?");
    let read = async |channel| stage.client.get(stage.discord.page_url(channel)).send().await.unwrap();
    let page = read(stage.garden).await.text().await.unwrap();
    assert!(page.contains("@fro-bot &lt;b&gt;why&lt;/b&gt;?"), "{page}");
    assert_eq!(read(stage.discord.channel("cellar")).await.status().as_u16(), 404);
}
