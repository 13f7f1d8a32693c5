//! Which permission a request needs, for tokens that were granted only some.

use axum::http::Method;

use crate::state::{Grant, Level, Repo, State};

/// Whether a grant is enough for a request to the REST API.
pub(crate) fn suffices(grant: &Grant, state: &State, method: &Method, path: &str) -> bool {
    let parts: Vec<_> = path.trim_start_matches('/').split('/').collect();
    let ["repos", owner, repo, rest @ ..] = parts.as_slice() else { return true };
    let Some(repo) = state.repo(&format!("{owner}/{repo}")) else { return true };
    let level = if *method == Method::GET { Level::Read } else { Level::Write };
    // Everybody reads what is public; and what is not to be seen is not there, which the route says.
    if level == Level::Read && (!repo.private || !grant.holds(repo)) {
        return true;
    }
    grant.allows(repo, needed(repo, rest), level)
}

/// The permissions of which any one is enough for what stands at a path below a repository.
fn needed(repo: &Repo, path: &[&str]) -> &'static [&'static str] {
    match path {
        ["issues", "comments", ..] | ["labels", ..] => &["issues", "pull_requests"],
        ["issues", number, ..] => talk_about(repo, number.parse().unwrap_or_default()),
        ["issues"] => &["issues"],
        ["pulls", ..] => &["pull_requests"],
        ["check-runs", ..] | ["commits", _, "check-runs"] => &["checks"],
        ["git" | "contents" | "commits" | "readme" | "releases", ..] => &["contents"],
        _ => &["metadata"],
    }
}

/// The permissions of which any one is enough to talk about an issue; a pull request is both.
pub(crate) fn talk_about(repo: &Repo, number: u64) -> &'static [&'static str] {
    let is_pull = repo.issue(number).is_some_and(|issue| issue.pull.is_some());
    if is_pull { &["issues", "pull_requests"] } else { &["issues"] }
}
