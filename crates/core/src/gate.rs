//! Decides whether a run takes place, and hands out the only key to it.
//!
//! Invariant: a `Permit` exists only because `decide` said yes. Every deed that others can see, and every
//! start of the engine, asks for one.

use std::fmt;

use crate::{
    event::Trigger,
    mention,
    names::{Login, Permission, RepoName, Spot, Subject},
    trust::Trust,
};

/// What the repository's maintainers want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The name people call us by.
    pub mention: Login,
    /// What somebody must be allowed before their words count.
    pub needed: Permission,
}

/// What was asked of GitHub before deciding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The account that our token belongs to.
    pub own: Login,
    /// What the asker may do in the repository.
    pub permission: Permission,
}

/// Yes or no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The run takes place.
    Run(Permit),
    /// It does not, for this reason.
    Skip(SkipReason),
}

/// The right to act on one subject of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permit {
    repo: RepoName,
    subject: Subject,
    spot: Spot,
    asker: Login,
    trust: Trust,
    own: Login,
}

impl Permit {
    /// Returns the repository it is good for.
    pub fn repo(&self) -> &RepoName {
        &self.repo
    }

    /// Returns the subject it is good for.
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Returns the thing that is acknowledged.
    pub fn spot(&self) -> Spot {
        self.spot
    }

    /// Returns whose words are acted on.
    pub fn asker(&self) -> &Login {
        &self.asker
    }

    /// Returns how far the asker's words may be believed.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// Returns the account we act as.
    pub fn own(&self) -> &Login {
        &self.own
    }
}

/// Why there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The event is of a kind we do not answer.
    UnsupportedEvent(String),
    /// A comment was changed or removed, not written.
    ActionNotCreated(String),
    /// Nobody called us.
    NoMention(Login),
    /// The conversation is locked.
    Locked(Subject),
    /// We wrote it ourselves.
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
}

impl SkipReason {
    /// Returns the reason as one word for machines.
    pub fn word(&self) -> &'static str {
        match self {
            Self::UnsupportedEvent(_) => "unsupported_event",
            Self::ActionNotCreated(_) => "action_not_created",
            Self::NoMention(_) => "no_mention",
            Self::Locked(_) => "issue_locked",
            Self::SelfComment(_) => "self_comment",
            Self::Unauthorized { .. } => "unauthorized_author",
        }
    }

    /// Returns what somebody may do about it, if anything.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnsupportedEvent(_) => Some("let the workflow start on `issue_comment`".to_owned()),
            Self::Unauthorized { .. } => Some("the input `trigger-permission` sets who may ask".to_owned()),
            Self::ActionNotCreated(_) | Self::NoMention(_) | Self::Locked(_) | Self::SelfComment(_) => None,
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedEvent(name) => write!(f, "`{name}` is not an event that fro-bot answers"),
            Self::ActionNotCreated(action) => write!(f, "the comment was {action}, not created"),
            Self::NoMention(name) => write!(f, "the comment does not mention @{name}"),
            Self::Locked(subject) => write!(f, "{} #{} is locked", subject.noun(), subject.number()),
            Self::SelfComment(own) => write!(f, "the comment is by @{own}, which is us"),
            Self::Unauthorized { asker, has, needs } => {
                write!(f, "@{asker} has `{has}` permission, asking needs `{needs}`")
            }
        }
    }
}

/// Looks at the event alone: whatever it can rule out costs no network.
pub fn glance(trigger: &Trigger, policy: &Policy) -> Result<(), SkipReason> {
    let Trigger::Comment(comment) = trigger;
    if comment.locked {
        return Err(SkipReason::Locked(comment.subject));
    }
    if comment.author.is_same_identity(&policy.mention) {
        return Err(SkipReason::SelfComment(comment.author.clone()));
    }
    if !mention::addresses(&comment.body, &policy.mention) {
        return Err(SkipReason::NoMention(policy.mention.clone()));
    }
    Ok(())
}

/// Decides, with everything known.
pub fn decide(trigger: &Trigger, facts: &Facts, policy: &Policy) -> Decision {
    if let Err(reason) = glance(trigger, policy) {
        return Decision::Skip(reason);
    }
    let asker = trigger.asker();
    if asker.is_same_identity(&facts.own) {
        return Decision::Skip(SkipReason::SelfComment(facts.own.clone()));
    }
    if facts.permission < policy.needed {
        return Decision::Skip(SkipReason::Unauthorized {
            asker: asker.clone(),
            has: facts.permission,
            needs: policy.needed,
        });
    }
    Decision::Run(Permit {
        repo: trigger.repo().clone(),
        subject: trigger.subject(),
        spot: trigger.spot(),
        asker: asker.clone(),
        trust: Trust::of(facts.permission),
        own: facts.own.clone(),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::event::Comment;

    /// Returns maya's mention on octo/garden#7.
    pub(crate) fn a_mention() -> Trigger {
        Trigger::Comment(comment("maya", "@fro-bot why is the floor wet?"))
    }

    /// Returns the permit that it gets.
    pub(crate) fn a_permit() -> Permit {
        let facts = Facts { own: Login::new("fro-bot"), permission: Permission::Write };
        match decide(&a_mention(), &facts, &policy()) {
            Decision::Run(permit) => permit,
            Decision::Skip(reason) => panic!("{reason}"),
        }
    }

    fn comment(author: &str, body: &str) -> Comment {
        Comment {
            repo: RepoName::parse("octo/garden").unwrap(),
            subject: Subject::Issue(7),
            id: 99,
            author: Login::new(author),
            body: body.to_owned(),
            locked: false,
        }
    }

    fn policy() -> Policy {
        Policy { mention: Login::new("fro-bot"), needed: Permission::Write }
    }

    fn check(comment: Comment, permission: Permission, expect: &str) {
        let facts = Facts { own: Login::new("garden-helper[bot]"), permission };
        let told = match decide(&Trigger::Comment(comment), &facts, &policy()) {
            Decision::Run(permit) => format!("run for {} on {}", permit.asker(), permit.repo()),
            Decision::Skip(reason) => format!("{}: {reason}", reason.word()),
        };
        assert_eq!(told, expect);
    }

    #[test]
    fn a_maintainer_is_answered() {
        check(comment("maya", "@fro-bot why?"), Permission::Write, "run for maya on octo/garden");
    }

    #[test]
    fn a_reader_is_not() {
        let expect = "unauthorized_author: @rita has `read` permission, asking needs `write`";
        check(comment("rita", "@fro-bot why?"), Permission::Read, expect);
    }

    #[test]
    fn nobody_who_did_not_call_is_answered() {
        check(
            comment("maya", "why?"),
            Permission::Admin,
            "no_mention: the comment does not mention @fro-bot",
        );
    }

    #[test]
    fn we_never_answer_ourselves() {
        let body = "I am @fro-bot";
        check(
            comment("fro-bot", body),
            Permission::Admin,
            "self_comment: the comment is by @fro-bot, which is us",
        );
        let expect = "self_comment: the comment is by @garden-helper[bot], which is us";
        check(comment("garden-helper", body), Permission::Admin, expect);
    }

    #[test]
    fn a_locked_conversation_stays_quiet() {
        let locked = Comment { locked: true, ..comment("maya", "@fro-bot why?") };
        check(locked, Permission::Admin, "issue_locked: issue #7 is locked");
    }
}
