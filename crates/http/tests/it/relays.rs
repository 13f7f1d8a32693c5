//! A request that is passed on for somebody else goes once, and its answer comes back as it is.

use fro_core::Secret;

use crate::server::{Server, answer, client};

#[tokio::test]
async fn a_refusal_comes_back_as_it_is_and_is_not_tried_again() {
    let server = Server::playing([answer(503, &[("retry-after", "1")], "later"), answer(200, &[], "")]).await;
    let request = client().post(&server.url).body("question").credential("x-api-key", &Secret::new("sk-1"));
    let mut incoming = request.relay().await.unwrap();
    assert_eq!((incoming.status(), incoming.header("retry-after")), (503, Some("1")));
    assert_eq!(incoming.chunk().await.unwrap().unwrap(), "later");
    assert_eq!(server.lines(), ["POST / HTTP/1.1"]);
    assert!(server.asked()[0].head.contains("x-api-key: sk-1"));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = Server::playing([answer(307, &[("location", "/elsewhere")], "")]).await;
    assert_eq!(client().post(&server.url).relay().await.unwrap().status(), 307);
    assert_eq!(server.lines(), ["POST / HTTP/1.1"]);
}

#[tokio::test]
async fn a_credential_that_is_no_header_is_not_quoted() {
    let request = client().post("http://127.0.0.1:1").credential("x-api-key", &Secret::new("sk-1\nx"));
    let error = format!("{:?}", request.relay().await.unwrap_err());
    assert!(!error.contains("sk-1"), "{error}");
}
