//! The events of a timeline, each with what is to be known of it.

use async_graphql::{ID, SimpleObject, Union};

use crate::{
    graphql::{
        actor::{Actor, Assignee},
        issue::{self, Issue},
        label::Label,
        pull_request::{self, PullRequest},
        review_request::{RequestedReviewer, ReviewRequest},
        scalar::{DateTime, Uri},
        thread::{LockReason, Thread},
        timeline::{IssueTimelineItems, PullRequestTimelineItems},
    },
    state::{self, Happening, HappeningKind, Node, closed_by_words, node_id},
};

/// What can name another one.
#[derive(Union)]
enum ReferencedSubject {
    Issue(Issue),
    PullRequest(PullRequest),
}

macro_rules! events {
    ($($name:ident { $($field:ident: $kind:ty,)* })+) => {
        $(
            #[derive(SimpleObject)]
            pub(in crate::graphql) struct $name {
                id: ID,
                actor: Option<Actor>,
                created_at: DateTime,
                $($field: $kind,)*
            }
        )+
    };
}

events! {
    AssignedEvent { assignee: Option<Assignee>, }
    UnassignedEvent { assignee: Option<Assignee>, }
    LabeledEvent { label: Label, }
    UnlabeledEvent { label: Label, }
    LockedEvent { lock_reason: Option<LockReason>, }
    UnlockedEvent {}
    RenamedTitleEvent { previous_title: String, current_title: String, }
    ClosedEvent { url: Uri, }
    ReopenedEvent {}
    ReviewRequestedEvent { requested_reviewer: Option<RequestedReviewer>, }
    ReviewRequestRemovedEvent { requested_reviewer: Option<RequestedReviewer>, }
    ReadyForReviewEvent {}
    ConvertToDraftEvent {}
    MergedEvent { url: Uri, merge_ref_name: String, }
    CrossReferencedEvent {
        source: ReferencedSubject,
        target: ReferencedSubject,
        is_cross_repository: bool,
        will_close_target: bool,
        referenced_at: DateTime,
    }
}

impl CrossReferencedEvent {
    /// The moment at which one thing came to name another.
    pub(super) fn new(source: Thread, target: Thread) -> Self {
        let (repo, other) = (target.repo.id, &source.issue);
        let number = target.issue.number;
        let created_at = DateTime(other.created_at);
        Self {
            id: node_id(Node::Happening { repo, id: other.id }).into(),
            actor: Actor::find(&target.asked.state, &target.asked.address, &other.author),
            created_at,
            referenced_at: created_at,
            is_cross_repository: false,
            will_close_target: other.pull.is_some() && closed_by_words(&other.body).contains(&number),
            source: ReferencedSubject::new(source),
            target: ReferencedSubject::new(target),
        }
    }
}

impl ReferencedSubject {
    fn new(thread: Thread) -> Self {
        match pull_request::from_thread(thread.clone()) {
            Some(pull) => Self::PullRequest(pull),
            None => Self::Issue(issue::from_thread(thread)),
        }
    }
}

/// Makes an event of this kind, with these fields besides those that all have.
macro_rules! event {
    ($thread:ident, $happening:ident, $name:ident { $($field:ident: $value:expr),* $(,)? }) => {
        $name {
            id: node_id(Node::Happening { repo: $thread.repo.id, id: $happening.id }).into(),
            actor: Actor::find(&$thread.asked.state, &$thread.asked.address, &$happening.actor),
            created_at: DateTime($happening.at),
            $($field: $value,)*
        }
    };
}

/// Tells both kinds of items from one list: the variant of the item, and the event in it.
macro_rules! told {
    ($items:ident, $thread:ident, $happening:ident) => {
        match &$happening.kind {
            HappeningKind::Assigned(login) => $items::Assigned(event!(
                $thread,
                $happening,
                AssignedEvent { assignee: Assignee::find(&$thread.asked, login) }
            )),
            HappeningKind::Unassigned(login) => $items::Unassigned(event!(
                $thread,
                $happening,
                UnassignedEvent { assignee: Assignee::find(&$thread.asked, login) }
            )),
            HappeningKind::Labeled(name) => {
                $items::Labeled(event!($thread, $happening, LabeledEvent { label: label($thread, name) }))
            }
            HappeningKind::Unlabeled(name) => {
                $items::Unlabeled(event!($thread, $happening, UnlabeledEvent { label: label($thread, name) }))
            }
            HappeningKind::Locked(reason) => {
                let lock_reason = reason.as_deref().and_then(LockReason::from_word);
                $items::Locked(event!($thread, $happening, LockedEvent { lock_reason: lock_reason }))
            }
            HappeningKind::Unlocked => $items::Unlocked(event!($thread, $happening, UnlockedEvent {})),
            HappeningKind::Renamed(from, to) => $items::RenamedTitle(event!(
                $thread,
                $happening,
                RenamedTitleEvent { previous_title: from.clone(), current_title: to.clone() }
            )),
            HappeningKind::Closed => {
                $items::Closed(event!($thread, $happening, ClosedEvent { url: page($thread, $happening) }))
            }
            HappeningKind::Reopened => $items::Reopened(event!($thread, $happening, ReopenedEvent {})),
            HappeningKind::ReviewRequested(_)
            | HappeningKind::ReviewRequestRemoved(_)
            | HappeningKind::ReadyForReview
            | HappeningKind::ConvertToDraft
            | HappeningKind::Merged => return None,
        }
    };
}

/// What happened to an issue.
pub(super) fn of_issue(thread: &Thread, happening: &Happening) -> Option<IssueTimelineItems> {
    Some(told!(IssueTimelineItems, thread, happening))
}

/// What happened to a pull request.
pub(super) fn of_pull(thread: &Thread, happening: &Happening) -> Option<PullRequestTimelineItems> {
    use PullRequestTimelineItems as Items;
    let asked_of = |login: &str| ReviewRequest::reviewer(&thread.asked, login);
    Some(match &happening.kind {
        HappeningKind::ReviewRequested(login) => Items::ReviewRequested(event!(
            thread,
            happening,
            ReviewRequestedEvent { requested_reviewer: asked_of(login) }
        )),
        HappeningKind::ReviewRequestRemoved(login) => Items::ReviewRequestRemoved(event!(
            thread,
            happening,
            ReviewRequestRemovedEvent { requested_reviewer: asked_of(login) }
        )),
        HappeningKind::ReadyForReview => {
            Items::ReadyForReview(event!(thread, happening, ReadyForReviewEvent {}))
        }
        HappeningKind::ConvertToDraft => {
            Items::ConvertToDraft(event!(thread, happening, ConvertToDraftEvent {}))
        }
        HappeningKind::Merged => {
            let base = thread.issue.pull.as_ref().map(|pull| pull.base_ref.clone()).unwrap_or_default();
            let url = page(thread, happening);
            Items::Merged(event!(thread, happening, MergedEvent { url: url, merge_ref_name: base }))
        }
        _ => told!(Items, thread, happening),
    })
}

/// The label of this name; one that is deleted by now is grey.
fn label(thread: &Thread, name: &str) -> Label {
    let gone =
        || state::Label { id: 0, name: name.to_owned(), color: "ededed".to_owned(), description: None };
    let known = thread.repo.label(name).cloned().unwrap_or_else(gone);
    Label::new(&thread.asked.address, &thread.repo, &known)
}

fn page(thread: &Thread, happening: &Happening) -> Uri {
    Uri(format!("{}#event-{}", thread.page(), happening.id))
}
