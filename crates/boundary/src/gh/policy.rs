//! What `gh` may ask: REST by method and path, GraphQL by what the document says.

use fro_core::RepoName;

use crate::gh::{
    deed::WantedDeed,
    graphql::{self, GraphqlQuestion, Meaning},
    known_ids::KnownIds,
    rest,
};

/// A request that passes.
#[derive(Debug, PartialEq)]
pub(super) enum PassedRequest {
    /// A path below the REST API, with its query.
    Rest(String, Kind),
    /// A body for the GraphQL API, with what it asks for and where in its answer other repositories may stand.
    GraphQl(GraphqlQuestion),
    /// Something for the harness to do in its own way.
    Deed(WantedDeed),
}

/// What an answer of the REST API is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Things of this repository, whose ids may be asked about.
    Things,
    /// A log, which GitHub keeps elsewhere.
    Log,
    /// Whoever the token belongs to.
    Owner,
    /// Anything else.
    Other,
}

/// Why a request does not pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum GhRefusal {
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
pub(super) struct GhRequest<'a> {
    pub(super) method: &'a str,
    pub(super) host: &'a str,
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
    pub(super) body: &'a [u8],
}

/// Where `gh` may look.
#[derive(Debug, Clone, Copy)]
pub(super) struct GhScope<'a> {
    /// The GitHub that people know by this name.
    pub(super) server: &'a str,
    pub(super) repo: &'a RepoName,
    /// The number that GitHub's own addresses name the repository by, if it is known.
    pub(super) id: Option<u64>,
    pub(super) known_ids: &'a KnownIds,
}

/// Decides on a request.
pub(super) fn decide(asked: &GhRequest<'_>, bounds: GhScope<'_>) -> Result<PassedRequest, GhRefusal> {
    let GhScope { server, repo, id, .. } = bounds;
    let GhRequest { method, host, path, query, body } = *asked;
    let elsewhere = || GhRefusal::Elsewhere(host.chars().take(100).collect());
    let path = below_api(host, path, server).ok_or_else(elsewhere)?;
    let shown: String = path.chars().take(100).collect();
    if !is_plain(path) || !query.is_none_or(str::is_ascii) {
        return Err(GhRefusal::Unclear("the path is unusual"));
    }
    if path == "/graphql" {
        return match method {
            "POST" => graphql::read(body, bounds).map(|meaning| match meaning {
                Meaning::Question(question) => PassedRequest::GraphQl(question),
                Meaning::Wish(wish) => PassedRequest::Deed(wish),
            }),
            _ => Err(GhRefusal::Unclear("GraphQL is asked by POST")),
        };
    }
    let named = by_name(path, repo, id);
    let path = named.as_deref().unwrap_or(path);
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    if matches!(method, "POST" | "PATCH" | "DELETE")
        && let Some(wish) = WantedDeed::of_rest(method, &parts, body, repo)?
    {
        return Ok(PassedRequest::Deed(wish));
    }
    if !matches!(method, "GET" | "HEAD") {
        return Err(GhRefusal::Write(format!("{method} {shown}")));
    }
    match parts.as_slice() {
        ["" | "user" | "rate_limit" | "meta"] => {}
        ["repos", owner, name, rest @ ..] if is(owner, repo.owner()) && is(name, repo.name()) => {
            if rest::leads_away(rest, query) {
                return Err(GhRefusal::Elsewhere(shown));
            }
            if !rest::is_open(rest) {
                return Err(GhRefusal::Private(shown));
            }
        }
        _ => return Err(GhRefusal::Elsewhere(shown)),
    }
    let kind = match () {
        () if rest::is_log(&parts) => Kind::Log,
        () if parts == ["user"] => Kind::Owner,
        () if rest::names_things(&parts) => Kind::Things,
        () => Kind::Other,
    };
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Ok(PassedRequest::Rest(format!("{path}{query}"), kind))
}

/// Returns the path with the repository's name, where it has the number: GitHub's own addresses of a next page do.
fn by_name(path: &str, repo: &RepoName, id: Option<u64>) -> Option<String> {
    let rest = path.strip_prefix("/repositories/")?;
    let (number, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    (number.parse().ok() == Some(id?)).then(|| format!("/repos/{repo}{rest}"))
}

/// Returns the path below the API, if a request is for the API of this server at all.
///
/// GitHub's own hosts have a host for it, a server of a company has a folder.
fn below_api<'a>(host: &str, path: &'a str, server: &str) -> Option<&'a str> {
    if is_github_s_own(server) {
        return (host.strip_prefix("api.") == Some(server)).then_some(path);
    }
    match path.strip_prefix("/api").filter(|_| host == server)? {
        "/graphql" => Some("/graphql"),
        "/v3" => Some("/"),
        below => below.strip_prefix("/v3").filter(|path| path.starts_with('/')),
    }
}

/// Tells whether a server is one of GitHub's own, whose API has a host of its own.
pub(super) fn is_github_s_own(server: &str) -> bool {
    server == "github.com" || server.ends_with(".ghe.com")
}

fn is(part: &str, name: &str) -> bool {
    part.eq_ignore_ascii_case(name)
}

/// Tells whether a path means the same to everybody: no escapes but a space's, which names of labels and files have, no
/// dots for names, no empty parts.
fn is_plain(path: &str) -> bool {
    let path = path.replace("%20", "_");
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
        let body = br#"{"body": "Hi", "event": "COMMENT", "title": "T", "head": "octo:x", "base": "main"}"#;
        check_with(server, line, body, expected);
    }

    #[track_caller]
    fn check_with(server: &str, line: &str, body: &[u8], expected: &str) {
        let (method, target) = line.split_once(' ').unwrap();
        let (host, path) = match target.find('/') {
            Some(0) | None => ("api.github.com", target),
            Some(at) => target.split_at(at),
        };
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let asked = GhRequest { method, host, path, query, body };
        let (repo, known_ids) = (RepoName::parse("Octo/garden").unwrap(), KnownIds::default());
        let decision =
            match decide(&asked, GhScope { server, repo: &repo, id: Some(7), known_ids: &known_ids }) {
                Ok(PassedRequest::Rest(path, Kind::Log)) => format!("the log {path}"),
                Ok(PassedRequest::Rest(path, Kind::Things | Kind::Owner | Kind::Other)) => path,
                Ok(PassedRequest::GraphQl(..)) => "graphql".to_owned(),
                Ok(PassedRequest::Deed(wish)) => format!("{:?} about {:?}", wish.deed, wish.about),
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
    fn labels_assignees_and_state_are_deeds_of_the_harness() {
        for (line, body, deed) in [
            ("POST issues/1/labels", r#"{"labels": ["bug"]}"#, r#"Sort(Label(["bug"])) about Number(1)"#),
            ("DELETE issues/1/labels/bug", "", r#"Sort(Unlabel(["bug"])) about Number(1)"#),
            ("DELETE issues/1/labels/help%20wanted", "", r#"Sort(Unlabel(["help wanted"])) about Number(1)"#),
            (
                "POST issues/1/assignees",
                r#"{"assignees": ["maya"]}"#,
                r#"Sort(Assign(["maya"])) about Number(1)"#,
            ),
            (
                "DELETE issues/1/assignees",
                r#"{"assignees": ["maya"]}"#,
                r#"Sort(Unassign(["maya"])) about Number(1)"#,
            ),
            ("PATCH pulls/2", r#"{"state": "closed"}"#, "Sort(Close(None)) about Number(2)"),
            (
                "PATCH issues/1",
                r#"{"state": "closed", "state_reason": "not_planned"}"#,
                "Sort(Close(Some(NotPlanned))) about Number(1)",
            ),
            ("PATCH issues/1", r#"{"state": "open"}"#, "Sort(Reopen) about Number(1)"),
            (
                "PATCH issues/1",
                r#"{"state": "open", "title": "Mine"}"#,
                "the request is not clear: only `state` and `state_reason` can be changed",
            ),
            (
                "POST issues/1/labels",
                r#"{"labels": [7]}"#,
                "the request is not clear: a list of names is missing",
            ),
            (
                "PUT issues/1/labels",
                r#"{"labels": ["bug"]}"#,
                "`gh` may only read here, and `PUT /repos/octo/garden/issues/1/labels` writes",
            ),
            (
                "DELETE issues/1/labels",
                "",
                "`gh` may only read here, and `DELETE /repos/octo/garden/issues/1/labels` writes",
            ),
            (
                "PATCH issues/comments/9",
                r#"{"body": "x"}"#,
                "`gh` may only read here, and `PATCH /repos/octo/garden/issues/comments/9` writes",
            ),
        ] {
            let (method, place) = line.split_once(' ').unwrap();
            check_with("github.com", &format!("{method} /repos/octo/garden/{place}"), body.as_bytes(), deed);
        }
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
        for part in [
            "Keys",
            "hooks",
            "security-advisories",
            "code-scanning/alerts",
            "dependabot/alerts",
            "forks",
            "environments",
            "stargazers",
            "actions/caches",
            "actions/variables",
            "actions/runs/1/pending_deployments",
            "actions/artifacts/1/zip",
        ] {
            check(
                &format!("GET /repos/octo/garden/{part}"),
                &format!("`/repos/octo/garden/{part}` is not for an agent"),
            );
        }
    }

    #[test]
    fn a_branch_of_another_repository_is_not_compared_with() {
        check("GET /repos/octo/garden/compare/main...seal", "/repos/octo/garden/compare/main...seal");
        check("GET /repos/octo/garden/pulls?head=octo:seal", "/repos/octo/garden/pulls?head=octo:seal");
        let timed = "/repos/octo/garden/issues?since=2026-01-01T00:00:00Z&labels=area:tap";
        check(&format!("GET {timed}"), timed);
        for place in ["compare/main...mole:garden:main", "compare/main...mole:main", "commits/mole:main"] {
            let path = format!("/repos/octo/garden/{place}");
            check(&format!("GET {path}"), &format!("`{path}` is not for `gh` here: only this repository is"));
        }
        for query in [
            "ref=mole:main",
            "per_page=1&sha=mole%3Amain",
            "%73ha=mole:main",
            "sha[]=mole:main",
            "base=mole:main",
        ] {
            let line = format!("GET /repos/octo/garden/commits?{query}");
            check(&line, "`/repos/octo/garden/commits` is not for `gh` here: only this repository is");
        }
    }

    #[test]
    fn checks_runs_jobs_and_their_logs_may_be_read() {
        for place in [
            "actions/runs?branch=main",
            "actions/runs/1/jobs",
            "actions/workflows/ci.yml/runs",
            "commits/abc/check-runs",
            "check-runs/1/annotations",
        ] {
            let path = format!("/repos/octo/garden/{place}");
            check(&format!("GET {path}"), &path);
        }
        for place in ["runs/1/logs", "runs/1/attempts/2/logs", "jobs/1/logs"] {
            let path = format!("/repos/octo/garden/actions/{place}");
            check(&format!("GET {path}"), &format!("the log {path}"));
        }
    }

    #[test]
    fn the_number_of_this_repository_is_this_repository() {
        check("GET /repositories/7/issues?page=2", "/repos/Octo/garden/issues?page=2");
        check("GET /repositories/7", "/repos/Octo/garden");
        check("GET /repositories/7/keys", "`/repositories/7/keys` is not for an agent");
        for path in ["/repositories/8/issues", "/repositories/07x/issues", "/repositories"] {
            check(&format!("GET {path}"), &format!("`{path}` is not for `gh` here: only this repository is"));
        }
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
