//! What is read of an answer, and what is made of a bad one.

use std::collections::BTreeMap;

use fro_core::{Fault, Secret};
use fro_http::{Client, ClientSettings, Retry};
use futures::TryStreamExt as _;
use serde::Deserialize;

use crate::server::{Play, Server, answer, client};

#[derive(Debug, Deserialize, PartialEq)]
struct Comment {
    id: u64,
    author: BTreeMap<String, String>,
}

#[tokio::test]
async fn a_request_carries_our_name_and_the_token_and_reuses_its_connection() {
    let server = Server::playing([answer(200, &[], r#"{"id":7,"author":{}}"#), answer(204, &[], "")]).await;
    let (client, token) = (client(), Secret::new("ghs_token"));

    let first = client
        .get(format!("{}/one", server.url))
        .bearer(&token)
        .header("accept", "x/y")
        .send()
        .await
        .unwrap();
    let second = client.delete(format!("{}/two", server.url)).basic("opencode", &token).send().await.unwrap();

    assert_eq!(first.json::<Comment>().unwrap(), Comment { id: 7, author: BTreeMap::new() });
    assert_eq!((second.status(), second.bytes()), (204, &[][..]));
    let asked = server.asked();
    assert_eq!(asked.iter().map(|asked| asked.connection).collect::<Vec<_>>(), [0, 0]);
    insta::with_settings!({filters => vec![("127.0.0.1:[0-9]+", "HOST"), (env!("CARGO_PKG_VERSION"), "VERSION")]}, {
        insta::assert_snapshot!(format!("{}\n\n{}", asked[0].head, asked[1].head), @"
        GET /one HTTP/1.1
        authorization: Bearer ghs_token
        accept: x/y
        user-agent: fro-bot/VERSION
        host: HOST

        DELETE /two HTTP/1.1
        authorization: Basic b3BlbmNvZGU6Z2hzX3Rva2Vu
        accept: */*
        user-agent: fro-bot/VERSION
        host: HOST
        ");
    });
}

#[tokio::test]
async fn a_request_may_be_sent_from_any_task() {
    let server = Server::playing([answer(200, &[], "whole"), answer(200, &[], "in pieces")]).await;
    let client = client();

    let sent = tokio::spawn(client.get(format!("{}/send", server.url)).send()).await.unwrap().unwrap();
    let streamed = tokio::spawn(client.get(format!("{}/stream", server.url)).stream()).await.unwrap();

    assert_eq!(sent.bytes(), b"whole");
    assert_eq!(streamed.unwrap().chunk().await.unwrap().unwrap(), "in pieces");
}

#[tokio::test]
async fn an_answer_larger_than_the_cap_is_refused_whatever_length_it_announces() {
    let lengthless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(2000));
    let announced = answer(200, &[], &"x".repeat(2000));
    let server = Server::playing([Play::SendAndClose(lengthless), announced, answer(200, &[], "four")]).await;
    let client = Client::new(ClientSettings { max_body: 1000, ..ClientSettings::loopback() }).unwrap();

    for path in ["/lengthless", "/announced"] {
        let error = client.get(format!("{}{path}", server.url)).send().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("GET {}{path}: the answer is larger than 1000 bytes", server.url)
        );
        assert!(!error.retryable());
    }
    let raised = client.get(&server.url).at_most(3).send().await.unwrap_err();
    assert!(raised.to_string().ends_with("larger than 3 bytes"), "{raised}");
}

#[tokio::test]
async fn a_json_answer_that_does_not_fit_is_named_by_path_and_field_but_never_quoted() {
    let id = [("x-github-request-id", "AB:12")];
    let bodies = [
        r#"[{"id":1,"author":{"login":["hunter2"]}}]"#,
        r#"[{"id":1,"author":{}},{"id":"hunter2","author":{}}]"#,
        r#"[{"author":{}}]"#,
        r#"[{"id":1,"#,
        "<html>hunter2</html>",
        "[] hunter2",
        "",
    ];
    let server = Server::playing(bodies.map(|body| answer(200, &id, body))).await;

    let mut told = Vec::new();
    for _ in bodies {
        let answer = client().get(format!("{}/comments?key=hunter2", server.url)).send().await.unwrap();
        let error = answer.json::<Vec<Comment>>().unwrap_err();
        assert_eq!((error.request_id(), error.retryable()), (Some("AB:12"), false));
        told.push(error.to_string().replace(&server.url, "http://host"));
    }
    insta::assert_snapshot!(told.join("\n"), @"
    GET http://host/comments: the answer cannot be understood at `[0].author.login`: expected a string at line 1 column 27, request AB:12
    GET http://host/comments: the answer cannot be understood at `[1].id`: expected u64 at line 1 column 37, request AB:12
    GET http://host/comments: the answer cannot be understood at `[0]`: missing field `id` at line 1 column 14, request AB:12
    GET http://host/comments: the answer cannot be understood at `[0].?`: EOF while parsing a value at line 1 column 9, request AB:12
    GET http://host/comments: the answer cannot be understood at `.`: expected value at line 1 column 1, request AB:12
    GET http://host/comments: the answer cannot be understood at `.`: trailing characters at line 1 column 4, request AB:12
    GET http://host/comments: the answer cannot be understood at `.`: EOF while parsing a value at line 1 column 0, request AB:12
    ");
}

#[tokio::test]
async fn a_stream_is_handed_over_piece_by_piece_and_a_cut_one_is_an_error() {
    let whole = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:\r\n3\r\n 1\n\r\n0\r\n\r\n";
    let cut = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:\r\n3\r\n 1";
    let server = Server::playing([Play::Send(whole.to_owned()), Play::SendAndClose(cut.to_owned())]).await;

    let incoming = client().get(&server.url).at_most(1).stream().await.unwrap();
    assert_eq!(incoming.header("transfer-encoding"), Some("chunked"));
    let pieces: Vec<_> = incoming.into_stream().try_collect().await.unwrap();
    assert_eq!(pieces.concat(), b"data: 1\n");

    let mut incoming = client().get(&server.url).stream().await.unwrap();
    let error = loop {
        match incoming.chunk().await {
            Ok(piece) => assert!(piece.is_some(), "the cut was taken for an end"),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().ends_with("the connection broke before the answer was whole"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_may_take_longer_than_the_timeout_once_it_began() {
    let begun = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:\r\n";
    let server = Server::playing([Play::Send(begun.to_owned()), Play::Stall]).await;
    let client = Client::new(ClientSettings { retry: Retry::never(), ..ClientSettings::loopback() }).unwrap();

    let mut incoming = client.get(&server.url).stream().await.unwrap();
    assert_eq!(incoming.chunk().await.unwrap().unwrap(), "data:");
    let silence = tokio::time::timeout(std::time::Duration::from_hours(1), incoming.chunk()).await;
    assert!(silence.is_err(), "an open stream ended by itself");

    let never_begun = client.get(&server.url).stream().await.unwrap_err();
    assert!(never_begun.to_string().ends_with("no whole answer within 30 s"), "{never_begun}");
}

#[tokio::test]
async fn an_address_that_is_none_is_our_own_mistake() {
    let error = client().patch("api.example/no scheme").send().await.unwrap_err();
    let what = "PATCH an unusable address: the request cannot be built: relative URL without a base";
    assert_eq!(error.fault(), Fault::ours(what));
}
