//! A pull request.

use std::{collections::BTreeMap, sync::Arc};

use async_graphql::{Context, Enum, ID, MergedObject, Object, Result};

use crate::{
    graphql::{
        absent::AutoMergeRequest,
        actor::{Actor, RepositoryOwner},
        changed_file::PullRequestChangedFile,
        commit::{Commit, PullRequestCommit},
        connection::{Connection, Window},
        issue::{self, Issue},
        reference::Ref,
        repository::Repository,
        review::{PullRequestReview, PullRequestReviewState},
        review_request::ReviewRequest,
        review_thread::PullRequestReviewThread,
        scalar::{DateTime, GitObjectId},
        thread::Thread,
        timeline::{self, PullRequestTimelineItems, PullRequestTimelineItemsItemType},
    },
    hub::Hub,
    state::{self, IssueState, MergeState, ReviewState},
};

/// A pull request: what every thread has, and what is to be merged.
#[derive(MergedObject)]
#[graphql(name = "PullRequest")]
pub(super) struct PullRequest(Thread, PullRequestAlone);

struct PullRequestAlone {
    thread: Thread,
    pull: Box<state::Pull>,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum PullRequestState {
    Open,
    Closed,
    Merged,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum MergeableState {
    Mergeable,
    Conflicting,
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "MergeState")]
enum MergeStateStatus {
    Clean,
    Dirty,
    Draft,
    Unstable,
    Unknown,
}

/// Takes a thread for a pull request, if it is one.
pub(super) fn from_thread(thread: Thread) -> Option<PullRequest> {
    let pull = Box::new(thread.issue.pull.clone()?);
    Some(PullRequest(thread.clone(), PullRequestAlone { thread, pull }))
}

impl PullRequest {
    /// What the interface `Node` asks for.
    pub(super) async fn id(&self, _: &Context<'_>) -> Result<ID> {
        Ok(self.0.node_id())
    }
}

impl PullRequest {
    /// What the interface `Lockable` asks for.
    pub(super) async fn is_locked(&self, _: &Context<'_>) -> Result<bool> {
        Ok(self.0.issue.locked)
    }
}

impl From<state::IssueState> for PullRequestState {
    fn from(state: state::IssueState) -> Self {
        match state {
            state::IssueState::Open => Self::Open,
            state::IssueState::Closed => Self::Closed,
            state::IssueState::Merged => Self::Merged,
        }
    }
}

impl PullRequestAlone {
    /// A commit that git has.
    async fn commit(&self, context: &Context<'_>, oid: Option<&str>) -> Result<Option<Commit>> {
        let (Some(oid), Thread { asked, repo, .. }) = (oid, &self.thread) else { return Ok(None) };
        let bare = context.data::<Arc<Hub>>()?.git.open(&repo.full_name()).await?;
        Ok(bare.commit(oid).await.ok().map(|commit| Commit::of_git(asked, repo, commit)))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum PullRequestReviewDecision {
    Approved,
    ChangesRequested,
    ReviewRequired,
}

#[Object]
impl PullRequestAlone {
    async fn state(&self) -> PullRequestState {
        self.thread.issue.state.into()
    }

    async fn auto_merge_request(&self) -> Option<AutoMergeRequest> {
        None
    }

    async fn maintainer_can_modify(&self) -> bool {
        self.pull.open_to_maintainers
    }

    async fn merge_state_status(&self) -> MergeStateStatus {
        let Thread { asked, repo, issue } = &self.thread;
        self.pull.merge_state(issue, &repo.all_checks(&asked.address)).into()
    }

    async fn is_in_merge_queue(&self) -> bool {
        false
    }

    async fn is_merge_queue_enabled(&self) -> bool {
        false
    }

    async fn mergeable(&self) -> MergeableState {
        match self.thread.issue.state {
            IssueState::Open if self.pull.conflicts => MergeableState::Conflicting,
            IssueState::Open => MergeableState::Mergeable,
            IssueState::Closed | IssueState::Merged => MergeableState::Unknown,
        }
    }

    async fn head_repository_owner(&self) -> Option<RepositoryOwner> {
        let owner = self.pull.head_repo.as_deref()?.split('/').next()?;
        RepositoryOwner::find(&self.thread.asked, owner)
    }

    async fn review_requests(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Option<Connection<ReviewRequest>>> {
        let asked = &self.thread.asked;
        let requests = self.pull.requested_reviewers.iter().map(|login| ReviewRequest::new(asked, login));
        Window { first, last, before, after }.on("reviewRequests", requests.collect()).map(Some)
    }

    async fn latest_reviews(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Option<Connection<PullRequestReview>>> {
        let Thread { asked, repo, .. } = &self.thread;
        let all = self.pull.reviews.iter().filter(|review| review.is_seen_by(asked.caller.login().ok()));
        let all: Vec<_> = all.collect();
        let later = |place: usize| all.iter().skip(place + 1).any(|later| later.author == all[place].author);
        let latest = all.iter().enumerate().filter(|(place, _)| !later(*place));
        let latest = latest.map(|(_, review)| PullRequestReview::new(asked, repo, review)).collect();
        Window { first, last, before, after }.on("latestReviews", latest).map(Some)
    }

    async fn is_draft(&self) -> bool {
        self.pull.draft
    }

    async fn merged(&self) -> bool {
        self.thread.issue.state == state::IssueState::Merged
    }

    async fn merged_at(&self) -> Option<DateTime> {
        let issue = &self.thread.issue;
        issue.closed_at().filter(|_| issue.state == IssueState::Merged).map(DateTime)
    }

    async fn merged_by(&self) -> Option<Actor> {
        let Thread { asked, issue, .. } = &self.thread;
        let login = issue.closed_by().filter(|_| issue.state == IssueState::Merged)?;
        Actor::find(&asked.state, &asked.address, login)
    }

    async fn merge_commit(&self, context: &Context<'_>) -> Result<Option<Commit>> {
        if self.thread.issue.state != IssueState::Merged {
            return Ok(None);
        }
        self.commit(context, self.pull.merge_oid.as_deref()).await
    }

    async fn potential_merge_commit(&self, context: &Context<'_>) -> Result<Option<Commit>> {
        if self.thread.issue.state != IssueState::Open || self.pull.conflicts {
            return Ok(None);
        }
        self.commit(context, self.pull.merge_oid.as_deref()).await
    }

    /// What the reviews come to; nothing here asks for any, so that without one nothing is decided.
    async fn review_decision(&self) -> Option<PullRequestReviewDecision> {
        let verdicts = [ReviewState::Approved, ReviewState::ChangesRequested];
        let mut last = BTreeMap::new();
        for review in self.pull.reviews.iter().filter(|review| verdicts.contains(&review.state)) {
            last.insert(&review.author, review.state);
        }
        let refused = last.values().any(|state| *state == ReviewState::ChangesRequested);
        let decision = if refused {
            PullRequestReviewDecision::ChangesRequested
        } else {
            PullRequestReviewDecision::Approved
        };
        (!last.is_empty()).then_some(decision)
    }

    /// The issues that its text says it closes.
    async fn closing_issues_references(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Option<Connection<Issue>>> {
        let Thread { asked, repo, issue } = &self.thread;
        let closing = state::closed_by_words(&issue.body).into_iter().filter_map(|number| repo.issue(number));
        let closing = closing.filter(|issue| issue.pull.is_none()).map(|issue| {
            issue::from_thread(Thread {
                asked: Arc::clone(asked),
                repo: Arc::clone(repo),
                issue: Arc::new(issue.clone()),
            })
        });
        Window { first, last, before, after }.on("closingIssuesReferences", closing.collect()).map(Some)
    }

    async fn timeline_items(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        item_types: Option<Vec<PullRequestTimelineItemsItemType>>,
    ) -> Result<Connection<PullRequestTimelineItems>> {
        let items = timeline::of_pull(&self.thread, item_types.as_deref());
        Window { first, last, before, after }.on("timelineItems", items)
    }

    async fn base_ref(&self) -> Option<Ref> {
        Some(Ref::branch(&self.thread.asked, &self.thread.repo, &self.pull.base_ref))
    }

    async fn base_ref_name(&self) -> &str {
        &self.pull.base_ref
    }

    async fn base_ref_oid(&self) -> GitObjectId {
        GitObjectId(self.pull.base_oid.clone())
    }

    async fn head_ref_name(&self) -> &str {
        &self.pull.head_ref
    }

    async fn head_ref_oid(&self) -> GitObjectId {
        GitObjectId(self.pull.head_oid.clone())
    }

    async fn is_cross_repository(&self) -> bool {
        self.pull.head_repo.as_ref() != Some(&self.thread.repo.full_name())
    }

    async fn head_repository(&self) -> Option<Repository> {
        let asked = &self.thread.asked;
        let repo = asked.state.repo(self.pull.head_repo.as_deref()?)?;
        Some(Repository { asked: Arc::clone(asked), repo: Arc::new(repo.clone()) })
    }

    async fn additions(&self) -> u64 {
        self.pull.files.iter().map(|file| file.additions).sum()
    }

    async fn deletions(&self) -> u64 {
        self.pull.files.iter().map(|file| file.deletions).sum()
    }

    async fn changed_files(&self) -> usize {
        self.pull.files.len()
    }

    async fn files(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Option<Connection<PullRequestChangedFile>>> {
        let files = self.pull.files.iter().map(PullRequestChangedFile::from).collect();
        Window { first, last, before, after }.on("files", files).map(Some)
    }

    async fn commits(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<PullRequestCommit>> {
        let Thread { asked, repo, .. } = &self.thread;
        let commits =
            self.pull.commits.iter().map(|commit| PullRequestCommit::new(asked, repo, commit)).collect();
        Window { first, last, before, after }.on("commits", commits)
    }

    async fn reviews(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        states: Option<Vec<PullRequestReviewState>>,
    ) -> Result<Option<Connection<PullRequestReview>>> {
        let Thread { asked, repo, .. } = &self.thread;
        let seen = self.pull.reviews.iter().filter(|review| review.is_seen_by(asked.caller.login().ok()));
        let meant =
            seen.filter(|review| states.as_ref().is_none_or(|states| states.contains(&review.state.into())));
        let reviews = meant.map(|review| PullRequestReview::new(asked, repo, review)).collect();
        Window { first, last, before, after }.on("reviews", reviews).map(Some)
    }

    async fn review_threads(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<PullRequestReviewThread>> {
        let Thread { asked, repo, .. } = &self.thread;
        let seen = self.pull.threads_seen_by(asked.caller.login().ok());
        let threads = seen.map(|thread| PullRequestReviewThread {
            asked: Arc::clone(asked),
            repo: Arc::clone(repo),
            thread,
        });
        Window { first, last, before, after }.on("reviewThreads", threads.collect())
    }
}
