//! The web pages.

use fro_sim::{World, state::ReactionContent};

use serde_json::json;

use crate::client::{ask, client, get};

async fn page(world: &World, path: &str) -> (u16, String) {
    let answer = client().get(format!("{}{path}", world.api_url())).send().await.unwrap();
    let policy = answer.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn an_issue_is_shown_with_comments_labels_badges_and_reactions() {
    let world = World::start().await.unwrap();
    let (status, html) = page(&world, "/octo/garden/issues/1").await;
    assert_eq!(status, 200);
    let emoji = ReactionContent::ThumbsUp.emoji();
    for shown in
        ["The floor is wet every morning", "I saw it too.", ">bug<", ">Collaborator<", &format!("{emoji} 1")]
    {
        assert!(html.contains(shown), "{shown} is not in {html}");
    }
}

#[tokio::test]
async fn every_list_leads_to_its_issues() {
    let world = World::start().await.unwrap();
    for path in ["/", "/octo/garden"] {
        let (status, html) = page(&world, path).await;
        assert_eq!(status, 200);
        assert!(
            html.contains("href=\"/octo/garden/issues/1\"") && html.contains("href=\"/octo/garden/pull/2\""),
            "{html}"
        );
    }
    assert_eq!(page(&world, "/octo/garden/pull/2").await.0, 200);
    assert_eq!(page(&world, "/octo/garden/issues/99").await.0, 404);
}

#[tokio::test]
async fn a_pull_request_shows_its_threads_and_its_change() {
    let world = World::start().await.unwrap();
    let head =
        world.state(|state| state.issue("octo/garden", 2)?.pull.as_ref().map(|pull| pull.head_oid.clone()));
    let remark =
        json!({ "body": "Is it silicone?", "path": "tap.rs", "subject_type": "file", "commit_id": head });
    let (status, told) = ask(&world, "POST /repos/octo/garden/pulls/2/comments", "rita", remark).await;
    assert_eq!(status, 201, "{told}");
    world.change(|state| {
        let pull = state.issue_mut("octo/garden", 2).unwrap().pull.as_mut().unwrap();
        pull.threads[0].resolved = true;
        pull.threads[0].path += "<i>";
        pull.files[0].patch = Some("@@ -1 +1 @@\n-<old>\n+<new>".to_owned());
    });
    let (_, html) = page(&world, "/octo/garden/pull/2").await;
    for shown in [
        "<code>tap.rs&lt;i&gt;</code>",
        "Is it silicone?",
        ">resolved<",
        "Files changed",
        "<code>tap.rs</code>",
        "<span class=\"removed\">-&lt;old&gt;",
        "<span class=\"added\">+&lt;new&gt;",
    ] {
        assert!(html.contains(shown), "{shown} is not in {html}");
    }
}

#[tokio::test]
async fn what_strangers_write_is_no_markup() {
    let world = World::start().await.unwrap();
    world.change(|state| {
        let issue = state.issue_mut("octo/garden", 1).unwrap();
        issue.title = "<script>alert('title')</script>".to_owned();
        issue.labels.push("<b>label</b>".to_owned());
    });
    world.write_comment(
        "octo/garden",
        1,
        "mallory",
        "<script>alert('body')</script><b onclick=\"alert(1)\">bold</b>",
    );
    let (_, html) = page(&world, "/octo/garden/issues/1").await;
    assert!(
        !html.contains("alert('body')") && !html.contains("onclick") && !html.contains("<script>"),
        "{html}"
    );
    assert!(html.contains("<b>bold</b>") && html.contains("&lt;b&gt;label"), "{html}");
}

#[tokio::test]
async fn looking_is_no_traffic() {
    let world = World::start().await.unwrap();
    for path in ["/", "/octo/garden/issues/1", "/assets/page.css", "/assets/refresh.js"] {
        assert_eq!(page(&world, path).await.0, 200, "{path}");
    }
    assert_eq!((world.traffic(), world.unknown_routes()), (vec![], vec![]));
}

#[tokio::test]
async fn an_address_of_the_api_that_nobody_knows_is_no_page() {
    let world = World::start().await.unwrap();
    let (status, body) = get(&world, "/user/emails").await;
    assert_eq!((status, body["message"].as_str()), (404, Some("Not Found")));
    assert_eq!(world.unknown_routes(), ["GET /user/emails"]);
}
