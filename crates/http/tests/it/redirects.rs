//! Which redirects are followed, and what never goes along.

use fro_core::Secret;

use crate::server::{Play, Server, answer, client};

fn moved(status: u16, to: &str) -> Play {
    answer(status, &[("location", to)], "")
}

#[tokio::test]
async fn a_redirect_on_the_same_server_is_followed_with_the_token() {
    let server = Server::playing([moved(301, "/repositories/1"), answer(200, &[], "garden")]).await;
    let token = Secret::new("ghs_token");
    let answer = client().get(format!("{}/repos/octo/old", server.url)).bearer(&token).send().await.unwrap();
    assert_eq!(answer.bytes(), b"garden");
    assert_eq!(server.lines(), ["GET /repos/octo/old HTTP/1.1", "GET /repositories/1 HTTP/1.1"]);
    assert!(server.asked()[1].head.contains("authorization: Bearer ghs_token"));
}

#[tokio::test]
async fn a_token_never_goes_to_another_origin() {
    let elsewhere = Server::playing([]).await;
    let server = Server::playing([moved(302, &elsewhere.url)]).await;
    let error = client().get(&server.url).bearer(&Secret::new("ghs_token")).send().await.unwrap_err();
    let told = format!("GET {}/: redirected to {}, which is not followed", server.url, elsewhere.url);
    assert_eq!((error.to_string(), elsewhere.lines()), (told, vec![]));
}

#[tokio::test]
async fn a_request_without_a_credential_may_go_elsewhere() {
    let elsewhere = Server::playing([answer(200, &[], "file")]).await;
    let server = Server::playing([moved(302, &elsewhere.url)]).await;
    assert_eq!(client().get(&server.url).send().await.unwrap().bytes(), b"file");
}

#[tokio::test]
async fn a_post_is_never_turned_into_a_get() {
    let server = Server::playing([moved(302, "/elsewhere")]).await;
    let error = client().post(&server.url).json(&1).send().await.unwrap_err();
    assert!(error.ambiguous(), "{error}");
    assert_eq!(server.lines(), ["POST / HTTP/1.1"]);

    let server = Server::playing([moved(307, "/elsewhere"), answer(201, &[], "")]).await;
    client().post(&server.url).json(&1).send().await.unwrap();
    assert_eq!(server.lines(), ["POST / HTTP/1.1", "POST /elsewhere HTTP/1.1"]);
}

#[tokio::test]
async fn a_circle_is_left() {
    let server = Server::playing((0..6).map(|_| moved(302, "/again"))).await;
    let error = client().get(&server.url).send().await.unwrap_err();
    assert!(error.to_string().contains("redirected to one place after another"), "{error}");
}
