//! Whether a workflow has the reviewer look at pull requests, so that the agent does not look at them as well.

use crate::RepoName;

/// Where the reviewer lies in a repository of the action.
const REVIEWER: &str = "/review";

/// Repositories whose folder `review` is ours; the second is the action's own.
const ACTIONS: [&str; 2] = ["fro-bot/agent", "."];

/// Tells whether a workflow file starts the reviewer when a pull request is opened or pushed to. `action` is the repository
/// that the running action came from: a release of one's own has its reviewer beside it.
///
/// It is read line by line: a file that means it in other ways costs a second look at a pull request, and nothing else.
pub fn reviews_pulls(workflow: &str, action: Option<&RepoName>) -> bool {
    let lines = || workflow.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
    lines().any(|line| is_reviewer(line, action)) && lines().any(names_pulls)
}

fn is_reviewer(line: &str, action: Option<&RepoName>) -> bool {
    let step = line.strip_prefix('-').map_or(line, str::trim_start);
    let Some(used) = step.strip_prefix("uses:") else { return false };
    let used = used.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    let path = used.split('@').next().unwrap_or_default();
    let is_ours = |repo: &str| {
        let known = ACTIONS.iter().any(|own| own.eq_ignore_ascii_case(repo));
        known || action.is_some_and(|action| action.to_string().eq_ignore_ascii_case(repo))
    };
    path.strip_suffix(REVIEWER).is_some_and(is_ours)
}

/// Tells whether a line names the event, and not a field of one such as `github.event.pull_request`.
fn names_pulls(line: &str) -> bool {
    let events = ["pull_request", "pull_request_target"];
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
    words.into_iter().any(|word| events.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_that_has_pull_requests_reviewed_is_known() {
        let file = |on: &str, uses: &str| format!("on:\n  {on}\njobs:\n  a:\n    steps:\n      {uses}\n");
        for (on, uses) in [
            ("pull_request:", "- uses: fro-bot/agent/review@v0"),
            ("pull_request_target:", "- name: x\n        uses: 'fro-bot/agent/review@0123abc' # v0"),
            ("- pull_request", "- uses: ./review"),
            ("[push, pull_request]", "- uses: \"Fro-Bot/Agent/review@main\""),
        ] {
            assert!(reviews_pulls(&file(on, uses), None), "{on} {uses}");
        }
        for (on, uses) in [
            (
                "issue_comment:",
                "- uses: fro-bot/agent/review@v0\n        if: github.event.pull_request.draft",
            ),
            ("pull_request_review_comment:", "- uses: fro-bot/agent/review@v0"),
            ("pull_request:", "# - uses: fro-bot/agent/review@v0"),
            ("pull_request:", "- uses: fro-bot/agent@v0"),
            ("pull_request:", "- uses: mallory/agent/review@v0"),
            ("pull_request:", "- run: echo uses: fro-bot/agent/review@v0"),
        ] {
            assert!(!reviews_pulls(&file(on, uses), None), "{on} {uses}");
        }
    }

    #[test]
    fn a_release_of_one_s_own_has_its_reviewer_beside_it() {
        let file = |uses: &str| format!("on: pull_request\njobs:\n  a:\n    steps:\n      - uses: {uses}\n");
        let own = RepoName::parse("Ada/our-bot").unwrap();
        for uses in
            ["Ada/our-bot/review@v0", "ada/our-bot/review@main", "fro-bot/agent/review@v0", "./review"]
        {
            assert!(reviews_pulls(&file(uses), Some(&own)), "{uses}");
        }
        for uses in ["ada/our-bot@v0", "ada/our-bot/review/more@v0", "mallory/our-bot/review@v0"] {
            assert!(!reviews_pulls(&file(uses), Some(&own)), "{uses}");
        }
        assert!(!reviews_pulls(&file("ada/our-bot/review@v0"), None));
    }
}
