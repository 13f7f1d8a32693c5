//! Which permission a request needs, for tokens that were granted only some.

use axum::http::Method;

use crate::state::{Grant, Level, Node, Repo, State};

/// Whether a grant is enough for a request to the REST API.
pub(crate) fn suffices(grant: &Grant, state: &State, method: &Method, path: &str) -> bool {
    let Some((repo, rest)) = place(state, path) else { return true };
    let level = level(method);
    // Everybody reads what is public; and what is not to be seen is not there, which the route says.
    if !grant.holds(repo) && repo.private || level == Level::Read && !repo.private {
        return true;
    }
    grant.allows(repo, needed(repo, &rest, level), level)
}

/// What the header `X-Accepted-GitHub-Permissions` tells of a request.
pub(crate) fn accepted(state: &State, method: &Method, path: &str) -> Option<String> {
    let (repo, rest) = place(state, path)?;
    let any_of = needed(repo, &rest, level(method)).iter();
    let word = |name: &str| if name == "metadata" { Level::Read } else { level(method) }.word();
    Some(any_of.map(|name| format!("{name}={}", word(name))).collect::<Vec<_>>().join("; "))
}

/// The repository that an address is about, and what of it.
fn place<'a, 'b>(state: &'a State, path: &'b str) -> Option<(&'a Repo, Vec<&'b str>)> {
    let mut parts = path.strip_prefix("/repos/")?.split('/');
    let name = format!("{}/{}", parts.next()?, parts.next()?);
    Some((state.repo(&name)?, parts.collect()))
}

fn level(method: &Method) -> Level {
    if *method == Method::GET { Level::Read } else { Level::Write }
}

/// The permissions of which any one is enough for what stands at a path below a repository.
fn needed(repo: &Repo, path: &[&str], level: Level) -> &'static [&'static str] {
    match path {
        [] if level == Level::Write => &["administration"],
        ["issues", "comments" | "events", ..] | ["labels", ..] => &["issues", "pull_requests"],
        ["issues", number, ..] => talk_about(repo, number.parse().unwrap_or_default()),
        ["issues" | "milestones"] => &["issues"],
        // Merging writes a branch.
        ["pulls", _, "merge"] => &["contents"],
        ["pulls", ..] => &["pull_requests"],
        ["check-runs" | "check-suites", ..] | ["commits", _, "check-runs" | "check-suites"] => &["checks"],
        ["statuses", ..] | ["commits", _, "status" | "statuses"] => &["statuses"],
        ["actions", ..] => &["actions"],
        [
            "git" | "codeowners" | "contents" | "commits" | "compare" | "readme" | "releases" | "branches"
            | "tags",
            ..,
        ] => &["contents"],
        _ => &["metadata"],
    }
}

/// The permissions of which any one is enough to read what a node id stands for, if it stands in this repository.
pub(crate) fn to_read(repo: &Repo, node: Node) -> &'static [&'static str] {
    let issue_of = |comment: u64| repo.comment(comment).map_or(0, |(issue, _)| issue.number);
    match node {
        Node::Issue { .. } => &["issues"],
        Node::IssueComment { id, .. } => talk_about(repo, issue_of(id)),
        Node::Label { .. } | Node::Reaction { .. } | Node::Happening { .. } => &["issues", "pull_requests"],
        Node::PullRequest { .. }
        | Node::Review { .. }
        | Node::ReviewThread { .. }
        | Node::ReviewComment { .. } => &["pull_requests"],
        Node::Discussion { .. } | Node::DiscussionComment { .. } => &["discussions"],
        Node::CheckRun { .. } | Node::CheckSuite { .. } => &["checks"],
        Node::Status { .. } => &["statuses"],
        Node::Commit { .. } => &["contents"],
        Node::User(_) | Node::Bot(_) | Node::Repo(_) => &["metadata"],
    }
}

/// The permissions of which any one is enough to talk about an issue; a pull request is both.
pub(crate) fn talk_about(repo: &Repo, number: u64) -> &'static [&'static str] {
    let is_pull = repo.issue(number).is_some_and(|issue| issue.pull.is_some());
    if is_pull { &["issues", "pull_requests"] } else { &["issues"] }
}
