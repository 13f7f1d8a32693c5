//! An issue.

use async_graphql::{Enum, MergedObject, SimpleObject};

use crate::{graphql::thread::Thread, state};

/// An issue: what every thread has, and a state of its own kind.
#[derive(MergedObject)]
#[graphql(name = "Issue")]
pub(super) struct Issue(Thread, IssueAlone);

#[derive(SimpleObject)]
struct IssueAlone {
    state: IssueState,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum IssueState {
    Open,
    Closed,
}

/// Takes a thread for an issue.
pub(super) fn of(thread: Thread) -> Issue {
    let state = match thread.issue.state {
        state::IssueState::Open => IssueState::Open,
        state::IssueState::Closed | state::IssueState::Merged => IssueState::Closed,
    };
    Issue(thread, IssueAlone { state })
}
