//! The Actions cache service.

use fro_sim::{World, state::CacheAccess};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::client::client;

const MAIN: &str = "refs/heads/main";
const PULL: &str = "refs/pull/2/merge";

fn run(world: &World, scopes: &[&str], access: CacheAccess) -> String {
    world.change(|state| state.start_run("octo/garden", scopes, access))
}

/// Calls a method of the service; the status and the answer.
async fn call(world: &World, token: &str, method: &str, body: Value) -> (u16, Value) {
    let url = format!("{}twirp/github.actions.results.api.v1.CacheService/{method}", world.actions_url());
    let answer = client().post(url).bearer_auth(token).json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

async fn reserve(world: &World, token: &str, key: &str) -> (u16, Value) {
    call(world, token, "CreateCacheEntry", json!({ "key": key, "version": "v" })).await
}

async fn put(url: &str, body: &str) -> u16 {
    client().put(url).body(body.to_owned()).send().await.unwrap().status().as_u16()
}

async fn finish(world: &World, token: &str, key: &str, size: usize) -> (u16, Value) {
    let body = json!({ "key": key, "version": "v", "size_bytes": size.to_string() });
    call(world, token, "FinalizeCacheEntryUpload", body).await
}

async fn save(world: &World, token: &str, key: &str) {
    let (_, reserved) = reserve(world, token, key).await;
    assert_eq!(put(reserved["signed_upload_url"].as_str().unwrap(), key).await, 201);
    assert_eq!(finish(world, token, key, key.len()).await.1["ok"], true);
}

/// The key of what is found, and what it holds.
async fn restore(world: &World, token: &str, key: &str, restore_keys: &[&str]) -> Option<(String, String)> {
    let body = json!({ "key": key, "restore_keys": restore_keys, "version": "v" });
    let (_, found) = call(world, token, "GetCacheEntryDownloadURL", body).await;
    let matched = found["matched_key"].as_str().filter(|key| !key.is_empty())?.to_owned();
    let answer = client().get(found["signed_download_url"].as_str()?).send().await.unwrap();
    Some((matched, answer.text().await.unwrap()))
}

#[tokio::test]
async fn the_nearest_scope_wins_then_the_key_then_the_newest() {
    let world = World::start().await.unwrap();
    let main = run(&world, &[MAIN], CacheAccess::Write);
    let pull = run(&world, &[PULL, MAIN], CacheAccess::Write);
    for key in ["mem-1", "mem-2", "memo"] {
        save(&world, &main, key).await;
    }
    let found = async |token: &str, key: &str, rest: &[&str]| {
        restore(&world, token, key, rest).await.map(|(key, text)| {
            assert_eq!(key, text);
            key
        })
    };
    assert_eq!(found(&main, "mem-1", &["mem-"]).await.as_deref(), Some("mem-1"));
    assert_eq!(found(&main, "mem-9", &["mem-", "mem"]).await.as_deref(), Some("mem-2"));
    assert_eq!(found(&main, "me", &[]).await.as_deref(), Some("memo"));
    assert_eq!(found(&main, "hose", &[]).await, None);
    save(&world, &pull, "mem-0").await;
    assert_eq!(found(&pull, "mem-1", &["mem-"]).await.as_deref(), Some("mem-0"), "its own ref comes first");
    assert_eq!(found(&main, "mem-0", &[]).await, None, "a pull request's entries are its own");
}

#[tokio::test]
async fn an_entry_is_written_once_and_seen_when_finished() {
    let world = World::start().await.unwrap();
    let token = run(&world, &[MAIN], CacheAccess::Write);
    let (_, reserved) = reserve(&world, &token, "mem").await;
    let upload = reserved["signed_upload_url"].as_str().unwrap();
    assert_eq!(put(upload, "soil").await, 201);
    assert_eq!(restore(&world, &token, "mem", &[]).await, None, "not finished");
    let (status, refused) = reserve(&world, &token, "mem").await;
    assert_eq!((status, &refused["code"]), (409, &json!("already_exists")), "though it is not finished");
    assert_eq!(finish(&world, &token, "mem", 5).await.0, 400, "of another size");
    assert_eq!(finish(&world, &token, "mem", 4).await.0, 200);
    assert_eq!(put(upload, "sand").await, 409);
    assert_eq!(finish(&world, &token, "mem", 4).await.0, 404);
    assert_eq!(restore(&world, &token, "mem", &[]).await, Some(("mem".to_owned(), "soil".to_owned())));
}

#[tokio::test]
async fn a_run_that_strangers_set_off_only_reads() {
    let world = World::start().await.unwrap();
    save(&world, &run(&world, &[MAIN], CacheAccess::Write), "mem").await;
    let token = run(&world, &[MAIN], CacheAccess::ReadOnly);
    assert!(restore(&world, &token, "mem", &[]).await.is_some());
    let (status, answer) = reserve(&world, &token, "other").await;
    assert_snapshot!(format!("{status} {answer}"), @r#"200 {"message":"cache write denied: token has no writable scopes","ok":false,"signed_upload_url":""}"#);
    assert_eq!(reserve(&world, &world.token("octo"), "other").await.0, 401, "a token of another kind");
}

#[tokio::test]
async fn blocks_become_a_whole_in_the_order_of_the_list() {
    let world = World::start().await.unwrap();
    let token = run(&world, &[MAIN], CacheAccess::Write);
    let (_, reserved) = reserve(&world, &token, "mem").await;
    let upload = reserved["signed_upload_url"].as_str().unwrap();
    for (id, text) in [("Mg%3D%3D", "worms"), ("MQ%3D%3D", "soil ")] {
        assert_eq!(put(&format!("{upload}&comp=block&blockid={id}"), text).await, 201);
    }
    let list = format!("{upload}&comp=blocklist");
    assert_eq!(put(&list, "<BlockList><Latest>Mw==</Latest></BlockList>").await, 400, "never sent");
    let whole = "<BlockList><Latest>MQ==</Latest><Latest>Mg==</Latest></BlockList>";
    assert_eq!(put(&list, whole).await, 201);
    assert_eq!(put(&upload.replace("sig=", "sig=x"), "weeds").await, 403);
    finish(&world, &token, "mem", 10).await;
    assert_eq!(restore(&world, &token, "mem", &[]).await.unwrap().1, "soil worms");
}
