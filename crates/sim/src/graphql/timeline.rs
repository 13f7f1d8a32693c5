//! What happened to issues and pull requests, with what was said and done in between.

mod event;
mod kinds;

use std::sync::Arc;

use async_graphql::Union;

use crate::{
    graphql::{
        Asked,
        commit::PullRequestCommit,
        issue_comment::IssueComment,
        review::PullRequestReview,
        thread::Thread,
        timeline::event::{
            AssignedEvent, ClosedEvent, ConvertToDraftEvent, CrossReferencedEvent, LabeledEvent, LockedEvent,
            MergedEvent, ReadyForReviewEvent, RenamedTitleEvent, ReopenedEvent, ReviewRequestRemovedEvent,
            ReviewRequestedEvent, UnassignedEvent, UnlabeledEvent, UnlockedEvent,
        },
    },
    state::{Happening, HappeningKind},
};

pub(super) use kinds::{IssueTimelineItemsItemType, PullRequestTimelineItemsItemType};

/// A moment of an issue.
#[derive(Union)]
pub(super) enum IssueTimelineItems {
    IssueComment(IssueComment),
    Assigned(AssignedEvent),
    Unassigned(UnassignedEvent),
    Labeled(LabeledEvent),
    Unlabeled(UnlabeledEvent),
    Locked(LockedEvent),
    Unlocked(UnlockedEvent),
    RenamedTitle(RenamedTitleEvent),
    CrossReferenced(CrossReferencedEvent),
    Closed(ClosedEvent),
    Reopened(ReopenedEvent),
}

/// A moment of a pull request.
#[derive(Union)]
pub(super) enum PullRequestTimelineItems {
    IssueComment(IssueComment),
    Assigned(AssignedEvent),
    Unassigned(UnassignedEvent),
    Labeled(LabeledEvent),
    Unlabeled(UnlabeledEvent),
    Locked(LockedEvent),
    Unlocked(UnlockedEvent),
    RenamedTitle(RenamedTitleEvent),
    CrossReferenced(CrossReferencedEvent),
    Closed(ClosedEvent),
    Reopened(ReopenedEvent),
    Commit(PullRequestCommit),
    Review(PullRequestReview),
    ReviewRequested(ReviewRequestedEvent),
    ReviewRequestRemoved(ReviewRequestRemovedEvent),
    ReadyForReview(ReadyForReviewEvent),
    ConvertToDraft(ConvertToDraftEvent),
    Merged(MergedEvent),
}

/// The second and the id by which moments are in order, the name of the kind, and the moment.
type Moment<T> = ((i64, u64), String, T);

/// The moments of an issue, oldest first, as far as they are asked for.
pub(super) fn of_issue(
    thread: &Thread,
    kinds: Option<&[IssueTimelineItemsItemType]>,
) -> Vec<IssueTimelineItems> {
    let said = said(thread)
        .map(|(at, comment)| moment(at, "IssueComment", IssueTimelineItems::IssueComment(comment)));
    let named = references(thread)
        .map(|(at, event)| moment(at, "CrossReferencedEvent", IssueTimelineItems::CrossReferenced(event)));
    let done = thread.issue.happenings.iter().filter_map(|happening| {
        let item = event::of_issue(thread, happening)?;
        Some(moment((happening.at.as_second(), happening.id), &kind(happening), item))
    });
    let kinds = kinds.map(|kinds| kinds.iter().map(|kind| format!("{kind:?}")).collect::<Vec<_>>());
    in_order(said.chain(named).chain(done).collect(), kinds.as_deref())
}

/// The moments of a pull request, oldest first, as far as they are asked for.
pub(super) fn of_pull(
    thread: &Thread,
    kinds: Option<&[PullRequestTimelineItemsItemType]>,
) -> Vec<PullRequestTimelineItems> {
    use PullRequestTimelineItems as Item;
    let Thread { asked, repo, issue } = thread;
    let said = said(thread).map(|(at, comment)| moment(at, "IssueComment", Item::IssueComment(comment)));
    let named = references(thread)
        .map(|(at, event)| moment(at, "CrossReferencedEvent", Item::CrossReferenced(event)));
    let done = issue.happenings.iter().filter_map(|happening| {
        let item = event::of_pull(thread, happening)?;
        Some(moment((happening.at.as_second(), happening.id), &kind(happening), item))
    });
    let pull = issue.pull.iter();
    let commits = pull.clone().flat_map(|pull| &pull.commits).map(|commit| {
        let item = Item::Commit(PullRequestCommit::new(asked, repo, commit));
        // Commits have no id and come first.
        moment((commit.committed_at.as_second(), 0), "PullRequestCommit", item)
    });
    let login = asked.caller.login().ok();
    let reviews = pull.flat_map(|pull| &pull.reviews).filter(|review| review.is_seen_by(login));
    let reviews = reviews.map(|review| {
        let item = Item::Review(PullRequestReview::new(asked, repo, review));
        moment((review.submitted_at.as_second(), review.id), "PullRequestReview", item)
    });
    let kinds = kinds.map(|kinds| kinds.iter().map(|kind| format!("{kind:?}")).collect::<Vec<_>>());
    in_order(said.chain(named).chain(done).chain(commits).chain(reviews).collect(), kinds.as_deref())
}

fn moment<T>(at: (i64, u64), kind: &str, item: T) -> Moment<T> {
    (at, kind.to_owned(), item)
}

fn in_order<T>(mut moments: Vec<Moment<T>>, kinds: Option<&[String]>) -> Vec<T> {
    moments.retain(|(_, kind, _)| kinds.is_none_or(|kinds| kinds.contains(kind)));
    moments.sort_by_key(|(at, ..)| *at);
    moments.into_iter().map(|(.., item)| item).collect()
}

fn said(thread: &Thread) -> impl Iterator<Item = ((i64, u64), IssueComment)> {
    let comments = thread.issue.comments.iter();
    comments.map(|comment| ((comment.created_at.as_second(), comment.id), thread.comment(comment)))
}

/// Where other issues and pull requests of the repository name this one.
fn references(thread: &Thread) -> impl Iterator<Item = ((i64, u64), CrossReferencedEvent)> {
    let Thread { asked, repo, issue } = thread;
    let number = issue.number;
    let others = repo.issues.iter().filter(move |other| other.number != number && other.names(number));
    others.map(move |other| {
        let (asked, repo) = (Arc::<Asked>::clone(asked), Arc::clone(repo));
        let source = Thread { asked, repo, issue: Arc::new(other.clone()) };
        ((other.created_at.as_second(), other.id), CrossReferencedEvent::new(source, thread.clone()))
    })
}

/// The name of a kind of event.
fn kind(happening: &Happening) -> String {
    let name = match &happening.kind {
        HappeningKind::Labeled(_) => "Labeled",
        HappeningKind::Unlabeled(_) => "Unlabeled",
        HappeningKind::Assigned(_) => "Assigned",
        HappeningKind::Unassigned(_) => "Unassigned",
        HappeningKind::ReviewRequested(_) => "ReviewRequested",
        HappeningKind::ReviewRequestRemoved(_) => "ReviewRequestRemoved",
        HappeningKind::Renamed(..) => "RenamedTitle",
        HappeningKind::Locked(_) => "Locked",
        HappeningKind::Unlocked => "Unlocked",
        HappeningKind::ReadyForReview => "ReadyForReview",
        HappeningKind::ConvertToDraft => "ConvertToDraft",
        HappeningKind::Merged => "Merged",
        HappeningKind::Closed => "Closed",
        HappeningKind::Reopened => "Reopened",
    };
    format!("{name}Event")
}
