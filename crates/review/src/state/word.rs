//! Replies in our review threads: who wrote each, which earlier reply it answers, and what they add up to.

use serde::Deserialize as _;
use serde_json::Value;

use super::{
    Account, DeveloperReply, ESCALATED_MARKER, Fix, RESOLVED_MARKER, Settlement, Status, ThreadFact, text,
};
use crate::rmcoc::{self, Fields};

/// What a reply of ours did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) status: Status,
    /// Whether it conceded the point.
    conceded: bool,
    /// Whether GitHub's thread was resolved together with it.
    closed: bool,
    /// What fixed the finding, if that is what it says.
    pub(super) fix: Option<Fix>,
    /// The newest reply of others that was read before it was said. A block without it answers everything above it.
    heard: Option<u64>,
}

/// Whose word a reply is.
pub(super) enum WhoseWord {
    /// Ours: it decides.
    Ours(Event),
    /// Ours too, but an answer to the question in this comment: it judges nothing.
    Answer(Option<u64>),
    /// Somebody else's.
    Theirs,
    /// Another bot's, or one that does not count.
    Nobodys,
}

impl Event {
    /// A reply of ours without a block: its author alone tells that it is ours.
    pub(super) fn without_block(status: Status) -> Self {
        Self { status, conceded: false, closed: false, fix: None, heard: None }
    }

    /// Reads the block of a reply; nothing if it is about another finding.
    pub(super) fn read(fields: &Fields, finding_id: &str) -> Option<Self> {
        let status = Status::deserialize(fields.get("status")?).ok()?;
        let flag = |name: &str| fields.get(name).and_then(Value::as_bool).unwrap_or(false);
        let (commit, path) = (text(fields, "commit"), Some(text(fields, "fixed_in")));
        let is_fix = status == Status::Resolved && !flag("conceded") && !commit.is_empty();
        let fix = is_fix.then(|| Fix { commit, path: path.filter(|path| !path.is_empty()) });
        let heard = fields.get("heard").and_then(Value::as_u64);
        (text(fields, "id") == finding_id).then(|| Self {
            status,
            conceded: flag("conceded"),
            closed: flag("closed"),
            fix,
            heard,
        })
    }

    /// Reads the marker of a reply that has no block.
    pub(super) fn marked(body: &str) -> Option<Self> {
        let markers = [(RESOLVED_MARKER, Status::Resolved), (ESCALATED_MARKER, Status::Escalated)];
        let found = markers.into_iter().find(|(marker, _)| rmcoc::begins_a_paragraph(body, marker));
        found.map(|(_, status)| Self::without_block(status))
    }

    /// Notes which replies it answers: those that were read before it was said. One that was written meanwhile still waits.
    pub(super) fn answers(&self, replies: &mut [DeveloperReply]) {
        let heard = |reply: &&mut DeveloperReply| self.heard.is_none_or(|newest| reply.id <= newest);
        replies.iter_mut().filter(heard).for_each(|reply| reply.is_answered = true);
    }
}

/// Notes that a question was answered: nothing else that was said is.
pub(super) fn answered(question: Option<u64>, replies: &mut [DeveloperReply]) {
    let asked = |reply: &&mut DeveloperReply| Some(reply.id) == question;
    replies.iter_mut().filter(asked).for_each(|reply| reply.is_answered = true);
}

/// Puts our last word and GitHub's together.
///
/// GitHub does not say when a thread was resolved, only whether it is. So each of our blocks says whether the thread
/// was closed with it: if it was and now is not, somebody opened it again. A run that was killed between resolving a
/// thread and replying in it leaves no word of ours: where somebody waits for an answer, it was conceded to them.
pub(super) fn concluded(
    last: Option<&Event>,
    fact: Option<&ThreadFact>,
    own: &Account,
    waits: bool,
) -> (Status, Settlement) {
    let ours = last.filter(|event| event.status == Status::Resolved);
    let by_us = ours.map(|event| if event.conceded { Settlement::Conceded } else { Settlement::Fixed });
    match (fact.map(|fact| fact.resolved), ours) {
        (Some(true), _) => {
            let resolver = fact.and_then(|fact| fact.resolved_by.as_ref());
            // What is resolved in the name of a person may have been resolved by that person.
            let us = own.is_bot && resolver.is_some_and(|resolver| resolver.is(own));
            let by_whom = match (us, waits) {
                (true, false) => Settlement::Fixed,
                (true, true) => Settlement::Conceded,
                (false, _) => Settlement::Dismissed,
            };
            (Status::Resolved, by_us.unwrap_or(by_whom))
        }
        (Some(false), Some(event)) if event.closed => (Status::Pending, Settlement::Open),
        (Some(false) | None, Some(_)) => (Status::Resolved, by_us.unwrap_or(Settlement::Fixed)),
        (Some(false) | None, None) => (last.map_or(Status::Pending, |event| event.status), Settlement::Open),
    }
}

/// Tells whether we have resolved a thread on GitHub and never said so. In the name of a person that cannot be told.
pub(super) fn is_unsaid(last: Option<&Event>, fact: Option<&ThreadFact>, own: &Account) -> bool {
    let resolver = fact.filter(|fact| fact.resolved).and_then(|fact| fact.resolved_by.as_ref());
    let by_us = own.is_bot && resolver.is_some_and(|resolver| resolver.is(own));
    by_us && last.is_none_or(|event| event.status != Status::Resolved)
}
