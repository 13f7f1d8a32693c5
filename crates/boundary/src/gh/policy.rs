//! What `gh` may ask: REST by method and path, GraphQL by what the document says.

use fro_core::RepoName;
use serde_json::Value;

use crate::gh::{
    deed::Wish,
    graphql::{self, Meaning},
    seen::Seen,
};

/// A request that passes.
#[derive(Debug, PartialEq)]
pub(super) enum Passed {
    /// A path below the REST API, with its query.
    Rest(String),
    /// A body for the GraphQL API, and what it asks for.
    GraphQl(Value, String),
    /// Something for the harness to do in its own way.
    Deed(Wish),
}

/// Why a request does not pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("`gh` may only read here, and `{0}` writes")]
    Write(String),
    #[error("`{0}` is not for `gh` here: only this repository is")]
    Elsewhere(String),
    #[error("`{0}` is no id that GitHub has named in this run")]
    Unknown(String),
    #[error("`{0}` is not for an agent")]
    Private(String),
    #[error("the verdict `{0}` is for people to give; `COMMENT` takes your words")]
    Verdict(String),
    #[error("this run is about {0}, and its answer goes there")]
    OtherSubject(String),
    #[error("{0}")]
    Undone(String),
    #[error("the request is not clear: {0}")]
    Unclear(&'static str),
}

/// A request as it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) method: &'a str,
    pub(super) host: &'a str,
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
    pub(super) body: &'a [u8],
}

/// Where `gh` may look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds<'a> {
    /// The GitHub that people know by this name.
    pub(super) server: &'a str,
    pub(super) repo: &'a RepoName,
    pub(super) seen: &'a Seen,
}

/// Parts of a repository that hold its secrets, its keys, or the power of its workflows.
const PRIVATE: [&str; 9] = [
    "actions",
    "codespaces",
    "dependabot",
    "environments",
    "hooks",
    "invitations",
    "keys",
    "secret-scanning",
    "traffic",
];

/// Decides on a request.
pub(super) fn decide(asked: &Asked<'_>, bounds: Bounds<'_>) -> Result<Passed, Refusal> {
    let Bounds { server, repo, .. } = bounds;
    let Asked { method, host, path, query, body } = *asked;
    let elsewhere = || Refusal::Elsewhere(host.chars().take(100).collect());
    let path = below_api(host, path, server).ok_or_else(elsewhere)?;
    let shown: String = path.chars().take(100).collect();
    if !is_plain(path) || !query.is_none_or(str::is_ascii) {
        return Err(Refusal::Unclear("the path is unusual"));
    }
    if path == "/graphql" {
        return match method {
            "POST" => graphql::read(body, bounds).map(|meaning| match meaning {
                Meaning::Question(question) => Passed::GraphQl(question.body, question.asks),
                Meaning::Wish(wish) => Passed::Deed(wish),
            }),
            _ => Err(Refusal::Unclear("GraphQL is asked by POST")),
        };
    }
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    if method == "POST"
        && let Some(wish) = Wish::of_rest(&parts, body, repo)?
    {
        return Ok(Passed::Deed(wish));
    }
    if !matches!(method, "GET" | "HEAD") {
        return Err(Refusal::Write(format!("{method} {shown}")));
    }
    match parts.as_slice() {
        ["" | "user" | "rate_limit" | "meta"] => {}
        ["repos", owner, name, rest @ ..] if is(owner, repo.owner()) && is(name, repo.name()) => {
            if rest.first().is_some_and(|part| PRIVATE.iter().any(|private| is(part, private))) {
                return Err(Refusal::Private(shown));
            }
        }
        _ => return Err(Refusal::Elsewhere(shown)),
    }
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Ok(Passed::Rest(format!("{path}{query}")))
}

/// Returns the path below the API, if a request is for the API of this server at all.
///
/// GitHub's own hosts have a host for it, a server of a company has a folder.
fn below_api<'a>(host: &str, path: &'a str, server: &str) -> Option<&'a str> {
    if server == "github.com" || server.ends_with(".ghe.com") {
        return (host.strip_prefix("api.") == Some(server)).then_some(path);
    }
    match path.strip_prefix("/api").filter(|_| host == server)? {
        "/graphql" => Some("/graphql"),
        "/v3" => Some("/"),
        below => below.strip_prefix("/v3").filter(|path| path.starts_with('/')),
    }
}

fn is(part: &str, name: &str) -> bool {
    part.eq_ignore_ascii_case(name)
}

/// Tells whether a path means the same to everybody: no escapes, no dots for names, no empty parts.
fn is_plain(path: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~:@+,=".contains(&byte);
    let odd = |part: &str| part.is_empty() || part == "." || part == "..";
    path.starts_with('/')
        && path.bytes().all(fits)
        && (path == "/" || !path.trim_start_matches('/').split('/').any(odd) && !path.starts_with("//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        check_at("github.com", line, expected);
    }

    #[track_caller]
    fn check_at(server: &str, line: &str, expected: &str) {
        let (method, target) = line.split_once(' ').unwrap();
        let (host, path) = match target.find('/') {
            Some(0) | None => ("api.github.com", target),
            Some(at) => target.split_at(at),
        };
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let body = br#"{"body": "Hi", "event": "COMMENT", "title": "T", "head": "octo:x", "base": "main"}"#;
        let asked = Asked { method, host, path, query, body };
        let (repo, seen) = (RepoName::parse("Octo/garden").unwrap(), Seen::default());
        let decision = match decide(&asked, Bounds { server, repo: &repo, seen: &seen }) {
            Ok(Passed::Rest(path)) => path,
            Ok(Passed::GraphQl(..)) => "graphql".to_owned(),
            Ok(Passed::Deed(wish)) => format!("{:?} about {:?}", wish.deed, wish.about),
            Err(refusal) => refusal.to_string(),
        };
        assert_eq!(decision, expected, "{line}");
    }

    #[test]
    fn this_repository_may_be_read() {
        check("GET /repos/octo/garden/issues/1?per_page=3", "/repos/octo/garden/issues/1?per_page=3");
        check("HEAD /repos/Octo/Garden", "/repos/Octo/Garden");
        check("GET /user", "/user");
        check("GET /", "/");
    }

    #[test]
    fn a_server_of_a_company_has_its_api_in_a_folder() {
        let check = |line: &str, expected: &str| check_at("ghe.corp.test", line, expected);
        check("GET ghe.corp.test/api/v3/user", "/user");
        check("GET ghe.corp.test/api/v3/", "/");
        check("GET ghe.corp.test/api/v3", "/");
        for target in
            ["ghe.corp.test/user", "ghe.corp.test/api/v3x/user", "api.github.com/user", "other/api/v3/user"]
        {
            let host = target.split('/').next().unwrap();
            check(
                &format!("GET {target}"),
                &format!("`{host}` is not for `gh` here: only this repository is"),
            );
        }
        check_at("octo.ghe.com", "GET api.octo.ghe.com/user", "/user");
    }

    #[test]
    fn what_is_said_on_a_subject_becomes_a_draft() {
        let said = r#"Say(Object {"body": String("Hi")}) about Number(1)"#;
        check("POST /repos/octo/garden/issues/1/comments", said);
        check("POST /repos/octo/garden/pulls/1/comments/9/replies", said);
        check(
            "POST /repos/octo/garden/pulls/1/reviews",
            r#"Say(Object {"body": String("Hi"), "comments": Array []}) about Number(1)"#,
        );
        check(
            "POST /repos/octo/garden/pulls",
            r#"Propose { title: "T", body: "Hi", head: "x" } about Repository"#,
        );
        check(
            "POST /repos/octo/other/issues/1/comments",
            "`gh` may only read here, and `POST /repos/octo/other/issues/1/comments` writes",
        );
        check(
            "POST /repos/octo/garden/issues/x/comments",
            "the request is not clear: there is no such number",
        );
    }

    #[test]
    fn nothing_else_is_written() {
        check(
            "POST /repos/octo/garden/issues",
            "`gh` may only read here, and `POST /repos/octo/garden/issues` writes",
        );
        check(
            "PUT /repos/octo/garden/pulls/1/merge",
            "`gh` may only read here, and `PUT /repos/octo/garden/pulls/1/merge` writes",
        );
        check(
            "DELETE /repos/octo/garden/git/refs/heads/main",
            "`gh` may only read here, and `DELETE /repos/octo/garden/git/refs/heads/main` writes",
        );
    }

    #[test]
    fn nothing_else_is_read() {
        check(
            "GET /repos/octo/garden-evil",
            "`/repos/octo/garden-evil` is not for `gh` here: only this repository is",
        );
        check("GET /repos/octo", "`/repos/octo` is not for `gh` here: only this repository is");
        check("GET /user/repos", "`/user/repos` is not for `gh` here: only this repository is");
        check("GET /search/code", "`/search/code` is not for `gh` here: only this repository is");
        check("GET blob.example/x", "`blob.example` is not for `gh` here: only this repository is");
        check(
            "GET /repos/octo/garden/actions/secrets",
            "`/repos/octo/garden/actions/secrets` is not for an agent",
        );
        check("GET /repos/octo/garden/Keys", "`/repos/octo/garden/Keys` is not for an agent");
    }

    #[test]
    fn a_path_that_could_mean_two_things_is_refused() {
        for path in [
            "/repos/octo/garden/../evil",
            "/repos/octo/garden/%2e%2e/evil",
            "//repos/octo/garden",
            "/repos/octo//garden",
            "/repos/octo/garden/",
            "/repos\\octo",
        ] {
            check(&format!("GET {path}"), "the request is not clear: the path is unusual");
        }
    }
}
