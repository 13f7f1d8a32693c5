//! Why there is nothing to do, in a word, in a sentence, and with a way out.

use std::fmt;

use crate::{
    names::{Login, Permission},
    place::Subject,
};

/// Why there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The event is of a kind we do not answer.
    UnsupportedEvent(String),
    /// A comment was changed or removed, not written.
    ActionNotCreated(String),
    /// The event is one we answer, but not with this action.
    ActionNotSupported {
        /// The event.
        event: &'static str,
        /// What happened.
        action: String,
    },
    /// Nobody mentioned the bot.
    NoMention {
        /// What does not call us.
        what: &'static str,
        /// What we are called.
        name: Login,
    },
    /// The conversation is locked.
    Locked(Subject),
    /// We did it ourselves.
    SelfComment(Login),
    /// The asker may not ask.
    Unauthorized {
        /// Who asked.
        asker: Login,
        /// What they may do.
        has: Permission,
        /// What they would need.
        needs: Permission,
    },
    /// The pull request is not ready to be looked at.
    Draft(Subject),
    /// A label says that we are not wanted.
    Labelled(String),
    /// Somebody else was asked to review.
    OthersReview,
    /// The run was started without the secrets that a model needs.
    NoSecrets(Subject),
    /// We answered the same a moment ago.
    Duplicate(Subject),
    /// A workflow of the repository has the reviewer look at it.
    ReviewerLooks(Subject),
    /// A schedule or a dispatch without a prompt.
    PromptRequired,
    /// The reviewer looks at pull requests only, and this event is about something else.
    NoPull(&'static str),
    /// A comment beside the code that neither calls the reviewer nor replies to anybody.
    NoReply,
    /// Nobody whose word counts said anything new in a thread of the reviewer's.
    NothingNew(Subject),
}

impl SkipReason {
    /// Returns the reason as one word for machines.
    pub fn word(&self) -> &'static str {
        match self {
            Self::UnsupportedEvent(_) => "unsupported_event",
            Self::ActionNotCreated(_) => "action_not_created",
            Self::ActionNotSupported { .. } => "action_not_supported",
            Self::NoMention { .. } => "no_mention",
            Self::Locked(_) => "issue_locked",
            Self::SelfComment(_) => "self_comment",
            Self::Unauthorized { .. } => "unauthorized_author",
            Self::Draft(_) => "draft_pr",
            Self::Labelled(_) => "skip_label",
            Self::OthersReview => "others_review",
            Self::NoSecrets(_) => "no_secrets",
            Self::Duplicate(_) => "duplicate",
            Self::ReviewerLooks(_) => "reviewer_looks",
            Self::PromptRequired => "prompt_required",
            Self::NoPull(_) => "no_pull_request",
            Self::NoReply => "no_reply",
            Self::NothingNew(_) => "nothing_new",
        }
    }

    /// Returns what somebody may do about it, if anything.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::UnsupportedEvent(_) => {
                "let the workflow start on `issue_comment`, `issues`, `pull_request` or the like"
            }
            Self::Unauthorized { .. } => "the input `trigger-permission` sets who may ask",
            Self::Draft(_) => "the input `skip-draft-prs` sets whether drafts are looked at",
            Self::Labelled(_) => "the input `skip-label` names the label",
            Self::NoSecrets(_) => {
                "a maintainer can comment with a mention, or the workflow can start on `pull_request_target`"
            }
            Self::Duplicate(_) => "the input `dedup-window` sets for how long",
            Self::ReviewerLooks(_) => {
                "a mention or a request for a review is answered all the same; the workflow can leave `pull_request` out"
            }
            Self::PromptRequired => "give the action the input `prompt`",
            Self::ActionNotCreated(_)
            | Self::ActionNotSupported { .. }
            | Self::NoMention { .. }
            | Self::Locked(_)
            | Self::SelfComment(_)
            | Self::NoPull(_)
            | Self::NoReply
            | Self::NothingNew(_)
            | Self::OthersReview => return None,
        })
    }

    /// Tells whether the run has failed: somebody waits for it, and it can do nothing.
    pub fn fails_the_run(&self) -> bool {
        *self == Self::PromptRequired
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedEvent(name) => write!(f, "`{name}` is not an event that fro-bot answers"),
            Self::ActionNotCreated(action) => write!(f, "the comment was {action}, not created"),
            Self::ActionNotSupported { event, action } => {
                write!(f, "`{event}` is answered, but not when it is `{action}`")
            }
            Self::NoMention { what, name } => write!(f, "the {what} does not mention @{name}"),
            Self::Locked(subject) => write!(f, "{subject} is locked"),
            Self::SelfComment(own) => write!(f, "this is by @{own}, which is us"),
            Self::Unauthorized { asker, has, needs } => {
                write!(f, "@{asker} has `{has}` permission, asking needs `{needs}`")
            }
            Self::Draft(subject) => write!(f, "{subject} is a draft"),
            Self::Labelled(label) => write!(f, "the label `{label}` says to stay away"),
            Self::OthersReview => f.write_str("somebody else was asked to review"),
            Self::NoSecrets(subject) => {
                write!(f, "{subject} is from a fork or from Dependabot, and such a run gets no secrets")
            }
            Self::Duplicate(subject) => write!(f, "{subject} was answered in this state a moment ago"),
            Self::ReviewerLooks(subject) => write!(f, "the reviewer of this repository looks at {subject}"),
            Self::PromptRequired => f.write_str("a run by schedule or by hand needs a prompt"),
            Self::NoPull(event) => {
                write!(f, "the reviewer looks at pull requests, and this `{event}` is not about one")
            }
            Self::NoReply => f.write_str("the comment neither mentions the reviewer nor replies to it"),
            Self::NothingNew(subject) => write!(f, "nothing is new on {subject} since the last review"),
        }
    }
}
