//! A pull request.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, MergedObject, Object, Result};

use crate::{
    graphql::{
        absent::AutoMergeRequest,
        actor::RepositoryOwner,
        changed_file::PullRequestChangedFile,
        commit::PullRequestCommit,
        connection::{Connection, Window},
        repository::Repository,
        review::PullRequestReview,
        review_request::ReviewRequest,
        review_thread::PullRequestReviewThread,
        scalar::GitObjectId,
        thread::Thread,
    },
    state,
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
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum MergeStateStatus {
    Clean,
}

/// Takes a thread for a pull request, if it is one.
pub(super) fn of(thread: Thread) -> Option<PullRequest> {
    let pull = Box::new(thread.issue.pull.clone()?);
    Some(PullRequest(thread.clone(), PullRequestAlone { thread, pull }))
}

impl PullRequest {
    /// What the interface `Node` asks for.
    pub(super) async fn id(&self, _: &Context<'_>) -> Result<ID> {
        Ok(self.0.node_id())
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
        MergeStateStatus::Clean
    }

    async fn is_in_merge_queue(&self) -> bool {
        false
    }

    async fn is_merge_queue_enabled(&self) -> bool {
        false
    }

    async fn mergeable(&self) -> MergeableState {
        MergeableState::Mergeable
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
    ) -> Result<Option<Connection<PullRequestReview>>> {
        let Thread { asked, repo, .. } = &self.thread;
        let seen = self.pull.reviews.iter().filter(|review| review.is_seen_by(asked.caller.login().ok()));
        let reviews = seen.map(|review| PullRequestReview::new(asked, repo, review)).collect();
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
        let threads =
            seen.map(|thread| PullRequestReviewThread { asked: Arc::clone(asked), repo: repo.id, thread });
        Window { first, last, before, after }.on("reviewThreads", threads.collect())
    }
}
