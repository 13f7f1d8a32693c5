//! The key to a run, and how far it reaches.

use crate::{
    chat::ChannelId,
    command::{self, AfterMention, Wish, WorkWords},
    event::Trigger,
    gate::{Policy, Response},
    names::{Login, Permission, RepoName},
    place::{Subject, Surface, Target},
    trust::Trust,
};

/// The right to act on one subject of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permit {
    repo: RepoName,
    subject: Subject,
    target: Target,
    surface: Surface,
    asker: Login,
    trust: Trust,
    reach: Reach,
    own: Login,
    name: Login,
    said: AfterMention,
    wish: Wish,
    work_words: WorkWords,
}

/// How far a permit reaches, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Anybody's words set this off: they are data, nothing is pushed, the network stays shut.
    ReadOnly,
    /// Somebody who may ask but not push: questions are answered, no work is delegated.
    Answer,
    /// Somebody who may push, so work may be delegated.
    Work,
}

impl Reach {
    /// Returns how far somebody's permission reaches.
    pub(super) fn from_permission(permission: Permission) -> Self {
        if permission >= Permission::Write { Self::Work } else { Self::Answer }
    }
}

impl Permit {
    pub(super) fn new(
        trigger: &Trigger,
        (trust, reach): (Trust, Reach),
        own: &Login,
        policy: &Policy,
    ) -> Self {
        let (target, surface) = match policy.response {
            Response::GitHub => (trigger.target(), trigger.surface()),
            Response::None => (Target::Nowhere, Surface::RunPage),
        };
        let name = &policy.mention;
        Self {
            repo: trigger.repo().clone(),
            subject: trigger.subject(),
            target,
            surface,
            asker: trigger.asker().clone(),
            trust,
            reach,
            own: own.clone(),
            name: name.clone(),
            said: command::read_trigger(trigger, name, &policy.work_words),
            wish: policy.work_words.wish(trigger, name),
            work_words: policy.work_words.clone(),
        }
    }

    /// Mints the key to a turn in a thread: whose words, in which repository, and how far they reach.
    pub(super) fn in_thread(
        (repo, thread): (&RepoName, ChannelId),
        (asker, trust, reach): (Login, Trust, Reach),
        text: &str,
        (own, policy): (&Login, &Policy),
    ) -> Self {
        Self {
            repo: repo.clone(),
            subject: Subject::Thread(thread),
            target: Target::Nowhere,
            surface: Surface::Thread(thread),
            asker,
            trust,
            reach,
            own: own.clone(),
            name: policy.mention.clone(),
            said: AfterMention::Request,
            wish: policy.work_words.wish_of(text),
            work_words: policy.work_words.clone(),
        }
    }

    /// Makes one that looks at a clone and speaks to nobody but whoever sits before it.
    pub(super) fn to_look(repo: &RepoName, subject: Subject, own: &Login, policy: &Policy) -> Self {
        Self {
            repo: repo.clone(),
            subject,
            target: Target::Nowhere,
            surface: Surface::RunPage,
            asker: own.clone(),
            trust: Trust::Stranger,
            reach: Reach::ReadOnly,
            own: own.clone(),
            name: policy.mention.clone(),
            said: AfterMention::Request,
            wish: Wish::Unsaid,
            work_words: policy.work_words.clone(),
        }
    }

    /// Returns the repository it is good for.
    pub fn repo(&self) -> &RepoName {
        &self.repo
    }

    /// Returns the subject it is good for.
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Returns the thing that is acknowledged.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns where the answer goes.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Returns whose words are acted on.
    pub fn asker(&self) -> &Login {
        &self.asker
    }

    /// Returns how far the asker's words may be believed.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// Returns how far it reaches.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Returns the account we act as.
    pub fn own(&self) -> &Login {
        &self.own
    }

    /// Returns the name people call us by.
    pub fn name(&self) -> &Login {
        &self.name
    }

    /// Returns what the asker said to us, if it was one of our words.
    pub fn said(&self) -> &AfterMention {
        &self.said
    }

    /// Returns whether the asker said in fixed words that something is to be changed.
    pub fn wish(&self) -> Wish {
        self.wish
    }

    /// Returns the words for it.
    pub fn work_words(&self) -> &WorkWords {
        &self.work_words
    }
}
