//! A pull request.

use std::sync::Arc;

use async_graphql::{Enum, MergedObject, Object, Result};

use crate::{
    graphql::{
        changed_file::PullRequestChangedFile,
        commit::PullRequestCommit,
        connection::{Connection, Window},
        repository::Repository,
        review::PullRequestReview,
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
enum PullRequestState {
    Open,
    Closed,
    Merged,
}

/// Takes a thread for a pull request, if it is one.
pub(super) fn of(thread: Thread) -> Option<PullRequest> {
    let pull = Box::new(thread.issue.pull.clone()?);
    Some(PullRequest(thread.clone(), PullRequestAlone { thread, pull }))
}

#[Object]
impl PullRequestAlone {
    async fn state(&self) -> PullRequestState {
        match self.thread.issue.state {
            state::IssueState::Open => PullRequestState::Open,
            state::IssueState::Closed => PullRequestState::Closed,
            state::IssueState::Merged => PullRequestState::Merged,
        }
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
        let commits = self.pull.commits.iter().map(PullRequestCommit::from).collect();
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
        let reviews =
            self.pull.reviews.iter().map(|review| PullRequestReview::new(asked, repo, review)).collect();
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
        let threads = self.pull.threads.iter().map(|thread| PullRequestReviewThread {
            asked: Arc::clone(asked),
            repo: repo.id,
            thread: thread.clone(),
        });
        Window { first, last, before, after }.on("reviewThreads", threads.collect())
    }
}
