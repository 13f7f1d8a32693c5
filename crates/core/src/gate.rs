//! Decides whether a run takes place, and hands out the only key to it.
//!
//! Invariant: a `Permit` exists only because `decide` said yes to an event, `talk` to words in a chat, or `permit_local_review` to somebody before a
//! clone of their own. Every deed that others can see, and every
//! start of the engine, asks for one.

mod installed;
mod permit;
mod questions;
mod role;
mod skip;
mod talk;

pub use installed::reviews_pulls;
pub use permit::{Permit, Reach};
pub use questions::{answered_since, is_workflow_file, may_be_reviewed};
pub use role::{ReviewWish, Role};
pub use skip::SkipReason;
pub use talk::{ThreadWords, talk};

use std::time::Duration;

use crate::{
    command::WorkWords,
    event::{Head, Issue, IssueAction, Pull, PullAction, PullEvent, Trigger},
    mention,
    names::{Login, Permission, RepoName},
    place::Subject,
    task::Task,
    trust::Trust,
};

/// What the repository's maintainers want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// What we are here.
    pub role: Role,
    /// The name people call us by.
    pub mention: Login,
    /// What somebody must be allowed before their words count.
    pub needed: Permission,
    /// What becomes of pull requests that are not ready.
    pub drafts: DraftPulls,
    /// The label that keeps us away from an issue or a pull request.
    pub skip_label: String,
    /// For how long the same state of an issue or a pull request is not answered again.
    pub dedup_window: Duration,
    /// Whether the run was given what a model needs.
    pub secrets: Secrets,
    /// Where answers go.
    pub response: Response,
    /// What asks for a change without further words.
    pub work_words: WorkWords,
}

/// Where answers go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Response {
    /// To where the request is.
    #[default]
    GitHub,
    /// Nowhere but to the run's page: nothing is written where people talk.
    None,
}

/// What becomes of pull requests that are not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftPulls {
    /// Drafts are left alone.
    Skipped,
    /// Drafts are reviewed like other pull requests.
    Reviewed,
}

/// Whether the run was given the operator's secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// The run has its secrets.
    Given,
    /// The run has no secrets, as happens to runs for forks.
    Withheld,
}

impl Policy {
    /// Returns what holds if nobody says otherwise.
    pub fn usual() -> Self {
        Self {
            role: Role::Agent,
            mention: Login::new("fro-bot"),
            needed: Permission::Write,
            drafts: DraftPulls::Skipped,
            skip_label: "skip-agent-review".to_owned(),
            dedup_window: Duration::from_mins(10),
            secrets: Secrets::Given,
            response: Response::GitHub,
            work_words: WorkWords::usual(),
        }
    }
}

/// What was asked of GitHub before deciding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The account that our token belongs to.
    pub own: Login,
    /// What the asker may do in the repository, if that matters.
    pub permission: Permission,
    /// What we answered to the same state within the window.
    pub answered: Answered,
}

/// Whether another run of ours answers the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// Not as far as anybody knows.
    No,
    /// Within the window.
    Lately,
    /// The reviewer looks at every pull request of the repository.
    ByReviewer,
}

/// Whether a run takes place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The run takes place, for this task.
    Run(Box<Permit>, Task),
    /// The run does not take place, for this reason.
    Skip(SkipReason),
}

/// On whose account a run takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnBehalfOf {
    /// The asker's: their permission counts.
    Asker,
    /// Nobody's: it happens to whoever comes by, and so it may only look and answer.
    Anyone,
    /// The operator's, who wrote the workflow and the prompt.
    Operator,
}

impl OnBehalfOf {
    /// Returns on whose account a run for this takes place.
    pub fn from_trigger(trigger: &Trigger, policy: &Policy) -> Self {
        // Whose word counts in a thread of a review is decided by the rules of disputes, reply by reply.
        if let Some(ReviewWish::Reply { .. }) = ReviewWish::from_trigger(trigger, policy) {
            return Self::Anyone;
        }
        match trigger {
            Trigger::Comment(_)
            | Trigger::ReviewComment(_)
            | Trigger::Discussion(_)
            | Trigger::DiscussionComment(_)
            | Trigger::Issue(Issue { action: IssueAction::Edited, .. }) => Self::Asker,
            Trigger::Issue(Issue { action: IssueAction::Opened, .. }) | Trigger::Pull(_) => Self::Anyone,
            Trigger::Order(_) => Self::Operator,
        }
    }
}

/// Looks at the event alone: whatever it can rule out costs no network.
pub fn glance(trigger: &Trigger, policy: &Policy) -> Result<(), SkipReason> {
    match policy.role {
        Role::Agent => {}
        Role::Reviewer => role::look(trigger)?,
    }
    match trigger {
        Trigger::Comment(comment) => {
            not_locked(trigger, comment.locked)?;
            called(trigger, "comment", policy)
        }
        Trigger::ReviewComment(comment) => {
            not_locked(trigger, comment.locked)?;
            match ReviewWish::from_trigger(trigger, policy) {
                Some(ReviewWish::Reply { .. }) => role::look_at_reply(comment)?,
                Some(ReviewWish::Asked | ReviewWish::Unasked) | None => called(trigger, "comment", policy)?,
            }
            has_secrets(trigger, comment.head, &comment.author, policy)
        }
        Trigger::Issue(issue) => look_at_issue(trigger, issue, policy),
        Trigger::Pull(pull) => look_at_pull(trigger, pull, policy),
        Trigger::Discussion(discussion) => {
            not_locked(trigger, discussion.locked)?;
            called(trigger, "discussion", policy)
        }
        Trigger::DiscussionComment(comment) => {
            not_locked(trigger, comment.locked)?;
            called(trigger, "comment", policy)
        }
        Trigger::Order(_) => Ok(()),
    }
}

/// Decides, with everything known.
pub fn decide(trigger: &Trigger, facts: &Facts, policy: &Policy) -> Decision {
    match weigh(trigger, facts, policy) {
        Ok(permit) => {
            let task = Task::find(trigger, &permit, policy);
            Decision::Run(Box::new(permit), task)
        }
        Err(reason) => Decision::Skip(reason),
    }
}

/// Permits whoever sits before a clone to have it looked at: nothing is written anywhere, nothing is pushed, and the
/// change is as little to be believed as anybody's.
pub fn permit_local_review(repo: &RepoName, subject: Subject, own: &Login, policy: &Policy) -> Permit {
    Permit::to_look(repo, subject, own, policy)
}

fn weigh(trigger: &Trigger, facts: &Facts, policy: &Policy) -> Result<Permit, SkipReason> {
    glance(trigger, policy)?;
    let (trust, reach) = match OnBehalfOf::from_trigger(trigger, policy) {
        OnBehalfOf::Operator => (Trust::Operator, Reach::Work),
        OnBehalfOf::Anyone => {
            // A person whose account we use may contradict us; our own words in a thread are known by their block.
            if !matches!(trigger, Trigger::ReviewComment(_)) {
                not_by(&facts.own, trigger)?;
            }
            (Trust::Stranger, Reach::ReadOnly)
        }
        OnBehalfOf::Asker => {
            not_by(&facts.own, trigger)?;
            authorized(trigger, facts, policy)?;
            let reach = match policy.role {
                Role::Agent => Reach::from_permission(facts.permission),
                // Nobody hands work to a reviewer.
                Role::Reviewer => Reach::Answer,
            };
            (Trust::from_permission(facts.permission), reach)
        }
    };
    match facts.answered {
        Answered::Lately => Err(SkipReason::Duplicate(trigger.subject())),
        Answered::ByReviewer => Err(SkipReason::ReviewerLooks(trigger.subject())),
        Answered::No => Ok(Permit::new(trigger, (trust, reach), &facts.own, policy)),
    }
}

fn look_at_issue(trigger: &Trigger, issue: &Issue, policy: &Policy) -> Result<(), SkipReason> {
    not_locked(trigger, issue.locked)?;
    not_by(&policy.mention, trigger)?;
    match issue.action {
        IssueAction::Opened => not_labelled(&issue.labels, policy),
        // Only what the edit added counts: who mends a typo in somebody's call does not call.
        IssueAction::Edited => called(trigger, "edit", policy),
    }
}

fn look_at_pull(trigger: &Trigger, pull: &Pull, policy: &Policy) -> Result<(), SkipReason> {
    not_locked(trigger, pull.locked)?;
    not_by(&policy.mention, trigger)?;
    match &pull.action {
        // A person who asks for a review gets one, whatever is usual for drafts and labels.
        PullAction::ReviewRequested(reviewer) if !reviewer.is_same_identity(&policy.mention) => {
            return Err(SkipReason::OthersReview);
        }
        PullAction::ReviewRequested(_) => {}
        PullAction::Opened | PullAction::Synchronized | PullAction::Reopened | PullAction::Ready => {
            if pull.draft && policy.drafts == DraftPulls::Skipped {
                return Err(SkipReason::Draft(trigger.subject()));
            }
            not_labelled(&pull.labels, policy)?;
        }
    }
    match pull.event {
        PullEvent::Plain => has_secrets(trigger, pull.head, &pull.sender, policy),
        PullEvent::Target => Ok(()),
    }
}

fn not_locked(trigger: &Trigger, locked: bool) -> Result<(), SkipReason> {
    if locked { Err(SkipReason::Locked(trigger.subject())) } else { Ok(()) }
}

/// Checks that neither the words nor the deed are our own, or we would answer ourselves for ever.
fn not_by(own: &Login, trigger: &Trigger) -> Result<(), SkipReason> {
    let sender = match trigger {
        Trigger::Issue(issue) => &issue.sender,
        Trigger::Pull(pull) => &pull.sender,
        Trigger::Comment(_)
        | Trigger::ReviewComment(_)
        | Trigger::Discussion(_)
        | Trigger::DiscussionComment(_)
        | Trigger::Order(_) => trigger.asker(),
    };
    let ours = [trigger.asker(), sender].into_iter().find(|login| login.is_same_identity(own));
    ours.map_or(Ok(()), |login| Err(SkipReason::SelfComment(login.clone())))
}

fn called(trigger: &Trigger, what: &'static str, policy: &Policy) -> Result<(), SkipReason> {
    not_by(&policy.mention, trigger)?;
    if mention::addresses(trigger.words(), &policy.mention) {
        return Ok(());
    }
    Err(SkipReason::NoMention { what, name: policy.mention.clone() })
}

fn not_labelled(labels: &[String], policy: &Policy) -> Result<(), SkipReason> {
    match labels.iter().find(|label| label.eq_ignore_ascii_case(&policy.skip_label)) {
        Some(label) => Err(SkipReason::Labelled(label.clone())),
        None => Ok(()),
    }
}

/// Checks that GitHub gave the run its secrets, which it does not do for forks and Dependabot.
fn has_secrets(trigger: &Trigger, head: Head, by: &Login, policy: &Policy) -> Result<(), SkipReason> {
    let outside = head == Head::Fork || by.is_same_identity(&Login::new("dependabot[bot]"));
    if outside && policy.secrets == Secrets::Withheld {
        return Err(SkipReason::NoSecrets(trigger.subject()));
    }
    Ok(())
}

fn authorized(trigger: &Trigger, facts: &Facts, policy: &Policy) -> Result<(), SkipReason> {
    if facts.permission >= policy.needed {
        return Ok(());
    }
    Err(SkipReason::Unauthorized {
        asker: trigger.asker().clone(),
        has: facts.permission,
        needs: policy.needed,
    })
}

#[cfg(test)]
pub(crate) mod tests;
