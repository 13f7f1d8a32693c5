//! Which facts a decision depends on: what has to be asked of GitHub for a trigger, and what need not.

use jiff::Timestamp;

use super::{Answered, Policy, Role};
use crate::event::{Pull, PullAction, Trigger};

impl Answered {
    /// Returns what another run has answered or is about to.
    pub fn from_runs(by_reviewer: bool, lately: bool) -> Self {
        match (by_reviewer, lately) {
            (true, _) => Self::ByReviewer,
            (false, true) => Self::Lately,
            (false, false) => Self::No,
        }
    }
}

/// Tells whether the reviewer may look at the same as this run: at pull requests for which nobody asked us by name.
pub fn may_be_reviewed(trigger: &Trigger, policy: &Policy) -> bool {
    match (policy.role, trigger) {
        (Role::Agent, Trigger::Pull(Pull { action, .. })) => {
            !matches!(action, PullAction::ReviewRequested(_))
        }
        (Role::Agent | Role::Reviewer, _) => false,
    }
}

/// Returns the issue or pull request on which an answer to the same state is looked for, and since when.
///
/// Only what happens by itself is held back: who asks in a comment means it. What a review said is known from its threads.
pub fn answered_since(trigger: &Trigger, policy: &Policy, began: Timestamp) -> Option<(u64, Timestamp)> {
    let number = match trigger {
        Trigger::Issue(issue) => issue.number,
        Trigger::Pull(pull) => pull.number,
        Trigger::Comment(_)
        | Trigger::ReviewComment(_)
        | Trigger::Discussion(_)
        | Trigger::DiscussionComment(_)
        | Trigger::Order(_) => return None,
    };
    let window = match policy.role {
        Role::Agent if !policy.dedup_window.is_zero() => policy.dedup_window,
        Role::Agent | Role::Reviewer => return None,
    };
    Some((number, began.checked_sub(window).ok()?))
}

/// Tells whether a file of `.github/workflows` is read: a workflow with a name that fits into an address as it is.
pub fn is_workflow_file(name: &str) -> bool {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    is_plain && [".yml", ".yaml"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::event::tests::all;

    const BEGAN: Timestamp = Timestamp::constant(1_000, 0);

    fn policy(role: Role, window: u64) -> Policy {
        Policy { role, dedup_window: Duration::from_secs(window), ..Policy::usual() }
    }

    #[test]
    fn answers_are_looked_for_where_nobody_asked_in_a_comment() {
        let asked = |policy: &Policy| {
            let since = |trigger: &Trigger| {
                let (number, since) = answered_since(trigger, policy, BEGAN)?;
                Some(format!("{} #{number} since {}", trigger.event_name(), since.as_second()))
            };
            all().iter().filter_map(since).collect::<Vec<_>>()
        };
        let (issue, pull) = ("issues #7 since 400", "pull_request #2 since 400");
        let target = "pull_request_target #2 since 400";
        assert_eq!(asked(&policy(Role::Agent, 600)), [issue, issue, pull, pull, target]);
        assert_eq!(asked(&policy(Role::Agent, 0)), [""; 0]);
        assert_eq!(asked(&policy(Role::Reviewer, 600)), [""; 0]);
        assert_eq!(asked(&policy(Role::Agent, u64::MAX)), [""; 0], "no time is so early");
    }

    #[test]
    fn the_reviewer_may_look_at_pull_requests_that_nobody_asked_us_about() {
        let pulls = |role| {
            let policy = policy(role, 600);
            all()
                .into_iter()
                .filter(|trigger| may_be_reviewed(trigger, &policy))
                .map(|trigger| match trigger {
                    Trigger::Pull(pull) => format!("{:?}", pull.action),
                    other => panic!("{other:?} is no pull request"),
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(pulls(Role::Agent), ["Opened", "Synchronized"]);
        assert_eq!(pulls(Role::Reviewer), [""; 0]);
    }

    #[test]
    fn a_reviewer_s_look_counts_for_more_than_an_answer_of_our_own() {
        assert_eq!(Answered::from_runs(true, true), Answered::ByReviewer);
        assert_eq!(Answered::from_runs(true, false), Answered::ByReviewer);
        assert_eq!(Answered::from_runs(false, true), Answered::Lately);
        assert_eq!(Answered::from_runs(false, false), Answered::No);
    }

    #[test]
    fn only_files_with_plain_names_are_workflows() {
        for name in ["ci.yml", "review.yaml", "a-b_c.1.yml"] {
            assert!(is_workflow_file(name), "{name}");
        }
        for name in ["README.md", "ci.yml?ref=x", "../ci.yml", "a b.yml", "ç.yaml", "yml", ""] {
            assert!(!is_workflow_file(name), "{name}");
        }
    }
}
