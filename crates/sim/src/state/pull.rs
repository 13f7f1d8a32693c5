//! What makes an issue a pull request: its branches, files, commits and reviews.

use jiff::Timestamp;

use crate::state::{CheckRun, Comment, Conclusion, Issue, IssueState, Review, ReviewThread, moved};

/// The pull request of an issue.
#[derive(Debug, Clone)]
pub struct Pull {
    /// Whether it is not ready yet.
    pub draft: bool,
    /// The branch that it wants to change.
    pub base_ref: String,
    /// The commit at that branch's tip.
    pub base_oid: String,
    /// The branch that it comes from.
    pub head_ref: String,
    /// The commit at that branch's tip.
    pub head_oid: String,
    /// `owner/name` of where that branch is; none once the fork was deleted.
    pub head_repo: Option<String>,
    /// The commit that merging it would make, or has made; none as long as there was no such commit.
    pub merge_oid: Option<String>,
    /// Whether both branches change the same lines in different ways.
    pub conflicts: bool,
    /// Whether those who may push where it goes may push to its branch in a fork.
    pub open_to_maintainers: bool,
    /// The files that differ.
    pub files: Vec<ChangedFile>,
    /// Oldest first.
    pub commits: Vec<Commit>,
    /// Oldest first.
    pub reviews: Vec<Review>,
    /// What was said beside the code, oldest first.
    pub threads: Vec<ReviewThread>,
    /// Logins of those who were asked for a review and have not given it.
    pub requested_reviewers: Vec<String>,
}

/// Whether a pull request could be merged now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MergeState {
    /// Yes.
    Clean,
    /// No: both sides change the same lines.
    Dirty,
    /// Not before it is ready.
    Draft,
    /// Yes, though a check has not succeeded.
    Unstable,
    /// Nobody has tried.
    Unknown,
}

impl MergeState {
    /// The word in REST.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Dirty => "dirty",
            Self::Draft => "draft",
            Self::Unstable => "unstable",
            Self::Unknown => "unknown",
        }
    }
}

impl Pull {
    /// Whether it could be merged now, as far as its branches and the checks on its head say.
    pub(crate) fn merge_state(&self, issue: &Issue, checks: &[CheckRun]) -> MergeState {
        let good = [Conclusion::Success, Conclusion::Neutral, Conclusion::Skipped];
        let passed = |run: &CheckRun| run.progress.end().is_some_and(|(end, _)| good.contains(&end));
        let mut about = checks.iter().filter(|run| run.head_oid == self.head_oid);
        match () {
            () if issue.state != IssueState::Open => MergeState::Unknown,
            () if self.conflicts => MergeState::Dirty,
            () if self.draft => MergeState::Draft,
            () if !about.all(passed) => MergeState::Unstable,
            () => MergeState::Clean,
        }
    }

    /// Moves the threads along with their lines; one whose line is gone is outdated.
    pub(crate) fn follow_code(&mut self) {
        for thread in self.threads.iter_mut().filter(|thread| thread.line.is_some()) {
            let file = self.files.iter().find(|file| file.path == thread.path);
            let found = file.and_then(|file| moved(file, &thread.anchor()));
            let before = thread.line.unwrap_or_default();
            thread.start = found.and_then(|(line, _)| {
                let (first, side) = thread.start?;
                Some((first + line).checked_sub(before).map_or((first, side), |first| (first, side)))
            });
            (thread.line, thread.position) = found.unzip();
        }
    }

    /// Whether somebody sees a comment beside the code: those of a review that is not given yet are its author's own.
    pub fn is_seen_by(&self, comment: &Comment, login: Option<&str>) -> bool {
        let review = self.reviews.iter().find(|review| Some(review.id) == comment.review);
        review.is_none_or(|review| review.is_seen_by(login))
    }

    /// The threads that somebody sees, each with what they see of it.
    pub fn threads_seen_by(&self, login: Option<&str>) -> impl Iterator<Item = ReviewThread> {
        self.threads.iter().filter_map(move |thread| {
            let mut thread = thread.clone();
            thread.comments.retain(|comment| self.is_seen_by(comment, login));
            (!thread.comments.is_empty()).then_some(thread)
        })
    }

    /// Finds a comment beside the code and the thread that it is in.
    pub fn review_comment(&self, id: u64) -> Option<(&ReviewThread, &Comment)> {
        self.threads.iter().find_map(|thread| {
            let comment = thread.comments.iter().find(|comment| comment.id == id)?;
            Some((thread, comment))
        })
    }
}

/// A file that a pull request changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path in the head.
    pub path: String,
    /// Lines added.
    pub additions: u64,
    /// Lines removed.
    pub deletions: u64,
    /// What happened to it.
    pub change: Change,
    /// Its path in the base, if it had another one.
    pub previous_path: Option<String>,
    /// The hash of its contents in the head; in the base, if it is gone.
    pub blob: String,
    /// The hunks; none if it is not a text.
    pub patch: Option<String>,
}

/// What can happen to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It has other contents.
    Modified,
    /// It has another name.
    Renamed,
}

/// A commit of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The hash.
    pub oid: String,
    /// The whole message.
    pub message: String,
    /// The name of who made it, which need not be an account's.
    pub author_name: String,
    /// Their address.
    pub author_email: String,
    /// When it was made.
    pub committed_at: Timestamp,
}
