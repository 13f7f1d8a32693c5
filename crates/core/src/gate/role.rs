//! What we are here, and what a reviewer is wanted for.

use crate::{
    command::{self, AfterMention, Command},
    event::{PullAction, ReviewComment, Trigger},
    gate::{Policy, SkipReason},
    mention,
    names::Login,
    place::Subject,
    say::marker::Marker,
};

/// What we are in this workflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    /// Somebody to ask and to hand work to.
    #[default]
    Agent,
    /// The reviewer of pull requests, and nothing else.
    Reviewer,
}

/// What a reviewer is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewWish {
    /// The pull request is new or has new commits: nobody waits for words.
    Unasked,
    /// A person asks for a review, and gets an answer whatever comes of it.
    Asked,
    /// Somebody spoke in a thread, which may be one of ours.
    Reply {
        /// The first comment of the thread.
        root: u64,
    },
}

/// Begins each block in which we keep the state of a review: a comment with one is ours, whoever's account we use.
const OWN_BLOCK: &str = "```rmcoc";

impl ReviewWish {
    /// Returns what the reviewer is wanted for; nothing where a question is to be answered, or where we are no reviewer.
    pub fn from_trigger(trigger: &Trigger, policy: &Policy) -> Option<Self> {
        match (policy.role, trigger) {
            (Role::Reviewer, Trigger::Pull(pull)) => Some(match pull.action {
                PullAction::ReviewRequested(_) => Self::Asked,
                PullAction::Opened | PullAction::Synchronized | PullAction::Reopened | PullAction::Ready => {
                    Self::Unasked
                }
            }),
            (Role::Reviewer, Trigger::ReviewComment(comment)) if !is_called(comment, &policy.mention) => {
                Some(Self::Reply { root: comment.root })
            }
            (Role::Reviewer, Trigger::Comment(_) | Trigger::ReviewComment(_)) => {
                asks_for_review(trigger, policy).then_some(Self::Asked)
            }
            (Role::Agent, _)
            | (
                Role::Reviewer,
                Trigger::Issue(_)
                | Trigger::Discussion(_)
                | Trigger::DiscussionComment(_)
                | Trigger::Order(_),
            ) => None,
        }
    }
}

/// A bare mention asks for a review, and so does the word itself; anything else is a question.
fn asks_for_review(trigger: &Trigger, policy: &Policy) -> bool {
    let name = &policy.mention;
    match command::read_trigger(trigger, name, &policy.work_words) {
        AfterMention::Command(command) => command == Command::Review,
        AfterMention::Unknown { .. } => false,
        AfterMention::Request => {
            let asked = mention::request(trigger.words(), name).unwrap_or_default().to_lowercase();
            let asked = asked.trim_matches(|c: char| !c.is_alphanumeric());
            asked.is_empty()
                || ["please review", "can you review", "could you review"]
                    .iter()
                    .any(|start| asked.starts_with(start))
        }
    }
}

/// Tells whether a comment beside the code calls us by name.
pub(super) fn is_called(comment: &ReviewComment, name: &Login) -> bool {
    mention::addresses(&comment.body, name)
}

/// Looks at what a reviewer has nothing to do with.
pub(super) fn look(trigger: &Trigger) -> Result<(), SkipReason> {
    match (trigger, trigger.subject()) {
        (Trigger::Pull(_), _)
        | (Trigger::Comment(_) | Trigger::ReviewComment(_), Subject::PullRequest(_)) => Ok(()),
        (
            Trigger::Comment(_)
            | Trigger::ReviewComment(_)
            | Trigger::Issue(_)
            | Trigger::Discussion(_)
            | Trigger::DiscussionComment(_)
            | Trigger::Order(_),
            _,
        ) => Err(SkipReason::NoPull(trigger.event_name())),
    }
}

/// Looks at a reply beside the code that does not call us: it may be in a thread of ours.
///
/// Our own words have a block, or a marker where they answer a question.
pub(super) fn look_at_reply(comment: &ReviewComment) -> Result<(), SkipReason> {
    let bot = comment.author.as_str().ends_with("[bot]");
    // Who quotes us in a reply quotes the block as well, behind `>`.
    let has_block = comment.body.lines().any(|line| line.trim_start().starts_with(OWN_BLOCK));
    if bot || has_block || Marker::read(&comment.body).is_some() {
        return Err(SkipReason::SelfComment(comment.author.clone()));
    }
    if comment.root == comment.id { Err(SkipReason::NoReply) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
