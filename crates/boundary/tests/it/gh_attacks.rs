//! Attacks on the `gh` broker by what GitHub answers, and what it fetches in the agent's place.

use std::sync::Arc;

use fro_boundary::{Deeds, GhBroker, Upstream};
use fro_core::{RepoName, Secret};
use fro_http::{Client, ClientSettings};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};

use crate::provider::{Pieces, Provider, Request, whole};

const TOKEN: &str = "planted-token-of-github-0123456789";
const OTHER: &str = "planted-key-of-a-provider-0123456789";

struct Scene {
    github: Provider,
    broker: GhBroker,
    _folder: TempDir,
}

impl Scene {
    async fn new(answer: impl Fn(&Request) -> Pieces + Send + Sync + 'static) -> Self {
        let github = Provider::start(answer).await;
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream {
            api: github.base.clone(),
            graphql: format!("{}/graphql", github.base),
            server: "github.com".to_owned(),
            repo: RepoName::parse("octo/garden").unwrap(),
            subject: Some(1),
            token: Secret::new(TOKEN),
            secrets: vec![Secret::new(OTHER)],
        };
        let deeds: Deeds = Arc::new(|_| Box::pin(async { Err("no".to_owned()) }));
        let client = Client::new(ClientSettings::loopback()).unwrap();
        let broker = GhBroker::open(&folder.path().join("s"), upstream, client, deeds).unwrap();
        Self { github, broker, _folder: folder }
    }

    /// Asks as `gh` does, and returns all of the answer.
    async fn get(&self, path: &str) -> String {
        let mut stream = UnixStream::connect(self.broker.socket()).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: api.github.com\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).await.unwrap();
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Returns the first line of each request that reached GitHub.
    fn asked(&self) -> Vec<String> {
        let asked = self.github.asked();
        asked.iter().map(|request| request.head.lines().next().unwrap_or_default().to_owned()).collect()
    }
}

const JSON: &str = "content-type: application/json\r\n";

#[tokio::test]
async fn a_server_that_repeats_the_token_does_not_hand_it_over() {
    for headers in [JSON, "content-type: text/plain\r\n"] {
        let scene = Scene::new(move |request| {
            let head = request.head.replace(['\r', '\n'], " ");
            let headers = format!("{headers}x-github-request-id: {TOKEN}\r\n");
            whole(401, &headers, &serde_json::json!({ "message": head }).to_string())
        })
        .await;
        let said = scene.get("/repos/octo/garden/issues/1").await;
        assert!(said.contains("[redacted]") && !said.contains("planted"), "{said}");
    }
}

#[tokio::test]
async fn a_token_for_cloning_stays_with_the_harness() {
    for kind in
        ["application/json", "application/vnd.github+json; charset=utf-8", "Application/JSON", "text/json"]
    {
        let headers = format!("content-type: {kind}\r\n");
        let scene =
            Scene::new(move |_| whole(200, &headers, r#"{"id":7,"temp_clone_token":"AABBCC"}"#)).await;
        let said = scene.get("/repos/octo/garden").await;
        assert!(said.contains("{\"id\":7}") && !said.contains("AABBCC"), "{kind}: {said}");
    }
}

#[tokio::test]
async fn a_log_is_fetched_where_github_says_without_the_token() {
    let log = format!("2026 building\nTOKEN={TOKEN}\nKEY={OTHER}\nerror: the seal leaks\n");
    let scene = Scene::new(move |request| {
        let host = request.head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        if request.head.contains("GET /blob") {
            whole(200, "content-type: text/plain\r\n", &log)
        } else {
            whole(302, &format!("location: http://{host}/blob/1?sig=planted-signature\r\n"), "")
        }
    })
    .await;

    let said = scene.get("/repos/octo/garden/actions/jobs/1/logs").await;

    assert!(said.starts_with("HTTP/1.1 200 OK\r\n"), "{said}");
    assert!(said.contains("TOKEN=[redacted]\nKEY=[redacted]\nerror: the seal leaks"), "{said}");
    assert!(!said.contains("planted"), "{said}");
    let asked = scene.github.asked();
    assert!(asked[0].head.contains(TOKEN), "{asked:?}");
    assert!(!asked[1].head.contains("planted-token") && asked[1].head.contains("/blob/1?sig="), "{asked:?}");
}

#[tokio::test]
async fn only_logs_are_fetched_from_elsewhere() {
    let scene = Scene::new(|_| whole(302, "location: http://127.0.0.1:1/x\r\n", "")).await;
    for path in ["/repos/octo/garden/issues/1", "/repos/octo/garden/contents/logs"] {
        let said = scene.get(path).await;
        assert!(said.starts_with("HTTP/1.1 302 ") && !said.contains("127.0.0.1:1"), "{said}");
    }
}

#[tokio::test]
async fn the_next_page_is_one_of_this_repository() {
    let scene = Scene::new(|request| {
        let host = request.head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        let link = format!("{JSON}link: <http://{host}/repositories/7/issues?page=2>; rel=\"next\"\r\n");
        whole(200, &link, r#"{"id":7}"#)
    })
    .await;

    let first = scene.get("/repos/octo/garden/issues").await;
    let second = scene.get("/repositories/7/issues?page=2").await;
    let other = scene.get("/repositories/8/issues?page=2").await;

    assert!(first.contains("link: <https://api.github.com/repositories/7/issues?page=2>"), "{first}");
    assert!(second.starts_with("HTTP/1.1 200 "), "{second}");
    assert!(other.starts_with("HTTP/1.1 403 "), "{other}");
    assert_eq!(
        scene.asked(),
        [
            "GET /repos/octo/garden/issues HTTP/1.1",
            "GET /repos/octo/garden HTTP/1.1",
            "GET /repos/octo/garden/issues?page=2 HTTP/1.1",
        ]
    );
}
