//! Whether a workflow has the reviewer look at pull requests, so that the agent does not look at them as well.

/// Where the reviewer lies in a repository of the action.
const REVIEWER: &str = "/review";

/// Repositories whose folder `review` is ours; the second is the action's own.
const ACTIONS: [&str; 2] = ["fro-bot/agent", "."];

/// Tells whether a workflow file starts the reviewer when a pull request is opened or pushed to.
///
/// It is read line by line: a file that means it in other ways costs a second look at a pull request, and nothing else.
pub fn reviews_pulls(workflow: &str) -> bool {
    let lines = || workflow.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
    lines().any(is_reviewer) && lines().any(names_pulls)
}

fn is_reviewer(line: &str) -> bool {
    let step = line.strip_prefix('-').map_or(line, str::trim_start);
    let Some(action) = step.strip_prefix("uses:") else { return false };
    let action = action.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    let path = action.split('@').next().unwrap_or_default();
    path.strip_suffix(REVIEWER).is_some_and(|repo| ACTIONS.iter().any(|own| own.eq_ignore_ascii_case(repo)))
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
            assert!(reviews_pulls(&file(on, uses)), "{on} {uses}");
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
            assert!(!reviews_pulls(&file(on, uses)), "{on} {uses}");
        }
    }
}
