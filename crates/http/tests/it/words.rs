//! What people are told when a request fails, and what they are never shown.

use fro_core::Secret;

use crate::server::{Play, Server, answer, client};

const TOKEN: &str = "ghs_0123456789abcdefghij";

async fn describe_error_after(play: Play) -> String {
    let server = Server::playing([play]).await;
    let request = client().patch(format!("{}/user?key={TOKEN}", server.url)).bearer(&Secret::new(TOKEN));
    let error = request.send().await.unwrap_err();
    let fault = error.fault_of("cannot rename");
    let told = format!("{} {fault}\n  {}", fault.exit_code(), fault.hint());
    for shown in [format!("{error:?}"), told.clone()] {
        assert!(!shown.contains(TOKEN), "{shown}");
    }
    told.replace(&server.url, "http://host")
}

#[tokio::test]
async fn each_failure_says_who_has_to_act() {
    let id = [("x-github-request-id", "C0FE:1")];
    let echo = format!(r#"{{"message":"Bad credentials: {TOKEN}"}}"#);
    let told = [
        describe_error_after(answer(401, &id, &echo)).await,
        describe_error_after(answer(403, &id, r#"{"message":"Resource not accessible by integration"}"#))
            .await,
        describe_error_after(answer(404, &[], r#"{"message":"Not Found"}"#)).await,
        describe_error_after(answer(422, &[], r#"{"message":"Validation Failed"}"#)).await,
        describe_error_after(answer(503, &[("retry-after", "9")], "")).await,
        describe_error_after(answer(302, &[("location", "https://user:pass@elsewhere.example/x?y")], ""))
            .await,
    ];
    insta::assert_snapshot!(told.join("\n"), @"
    2 cannot rename: PATCH http://host/user: answered 401 (Bad credentials: [redacted]), request C0FE:1
      check the token: it is wrong, expired or meant for another server
    2 cannot rename: PATCH http://host/user: answered 403 (Resource not accessible by integration), request C0FE:1
      give the token the permission to do this
    2 cannot rename: PATCH http://host/user: answered 404 (Not Found)
      check that it exists and that the token may see it
    1 cannot rename: PATCH http://host/user: answered 422 (Validation Failed)
      this is a bug in fro-bot; please report it with the log of this run
    3 cannot rename: PATCH http://host/user: answered 503 (Service Unavailable); it may have been done all the same
      try again in 9 s
    2 cannot rename: PATCH http://host/user: redirected to https://elsewhere.example, which is not followed; it may have been done all the same
      check the server's address; it sends us elsewhere
    ");
}

#[tokio::test]
async fn the_body_of_a_refusal_can_be_read_but_does_not_show() {
    let server = Server::playing([answer(422, &[], r#"{"errors":["already there"]}"#)]).await;
    let error = client().post(&server.url).send().await.unwrap_err();
    let body: serde_json::Value = error.refusal_body().unwrap();
    assert_eq!(body, serde_json::json!({ "errors": ["already there"] }));
    assert!(!format!("{error:?}").contains("already"), "{error:?}");
}
