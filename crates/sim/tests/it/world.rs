//! The world as a whole.

use fro_sim::{Exchange, World};
use serde_json::{Value, json};

use crate::client::{COMMENTS, ask, get, say};

#[tokio::test]
async fn all_traffic_is_recorded() {
    let world = World::start().await.unwrap();
    get(&world, "/repos/octo/garden/issues/1/reactions?content=eyes").await;
    let (_, written) = say(&world, "maya", "Hi").await;
    let expected = [
        Exchange {
            method: "GET".to_owned(),
            path: "/repos/octo/garden/issues/1/reactions".to_owned(),
            query: "content=eyes".to_owned(),
            headers: String::new(),
            login: Some("maya".to_owned()),
            request: String::new(),
            status: Some(200),
            response: "[]".to_owned(),
        },
        Exchange {
            method: "POST".to_owned(),
            path: COMMENTS.to_owned(),
            query: String::new(),
            headers: String::new(),
            login: Some("maya".to_owned()),
            request: r#"{"body":"Hi"}"#.to_owned(),
            status: Some(201),
            response: written.to_string(),
        },
    ];
    let traffic = world.traffic();
    assert!(traffic.iter().all(|call| call.headers.contains("authorization: Bearer ")), "{traffic:?}");
    let bare = traffic.into_iter().map(|call| Exchange { headers: String::new(), ..call });
    assert_eq!(bare.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn unknown_routes_are_answered_404_and_told() {
    let world = World::start().await.unwrap();
    assert_eq!(get(&world, "/repos/octo/garden/languages").await.0, 404);
    assert_eq!(ask(&world, "PUT /user", "maya", Value::Null).await.0, 404);
    assert_eq!(get(&world, "/repos/octo/garden/issues/99").await.0, 404, "known, but not there");
    assert_eq!(world.unknown_routes(), ["GET /repos/octo/garden/languages", "PUT /user"]);
}

#[tokio::test]
async fn the_event_of_a_comment_holds_what_the_api_says() {
    let world = World::start().await.unwrap();
    let comment = world.write_comment("octo/garden", 1, "maya", "@fro-bot why?");
    let event = world.comment_event("octo/garden", comment);
    assert_eq!(event["action"], "created");
    assert_eq!(event["sender"]["login"], "maya");
    assert_eq!(
        event["comment"],
        get(&world, &format!("/repos/octo/garden/issues/comments/{comment}")).await.1
    );
    assert_eq!(event["issue"], get(&world, "/repos/octo/garden/issues/1").await.1);
    let (_, mut repository) = get(&world, "/repos/octo/garden").await;
    repository.as_object_mut().unwrap().remove("permissions");
    assert_eq!(event["repository"], repository);
}

#[tokio::test]
async fn waiting_ends_when_the_world_is_as_told() {
    let world = World::start().await.unwrap();
    let fact = world.wait_until(|state| state.issue("octo/garden", 3).unwrap().comments.len() == 1);
    let deed = ask(&world, "POST /repos/octo/garden/issues/3/comments", "rita", json!({ "body": "Six!" }));
    tokio::join!(fact, deed);
}

#[tokio::test]
async fn tokens_are_per_person_and_per_world() {
    let (one, other) = (World::start().await.unwrap(), World::start().await.unwrap());
    assert_eq!(one.token("maya"), one.token("maya"));
    assert_ne!(one.token("maya"), one.token("rita"));
    assert_ne!(one.token("maya"), other.token("maya"));
}

#[tokio::test]
async fn a_dropped_world_frees_its_ports() {
    let world = World::start().await.unwrap();
    let ports = [world.port(), world.model().port()];
    drop(world);
    // The listeners close when their aborted tasks are next run.
    tokio::task::yield_now().await;
    for port in ports {
        assert!(
            tokio::net::TcpListener::bind(("127.0.0.1", port)).await.is_ok(),
            "port {port} is still taken"
        );
    }
}

#[tokio::test]
async fn a_taken_port_is_an_error() {
    let world = World::start().await.unwrap();
    assert!(World::start_on(world.port()).await.is_err());
}
