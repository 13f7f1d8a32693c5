//! What a pull request wants to change, and what reviewers said about it, cut to a budget.

use super::{RawComment, Remark, is_request, newest_within, said};
use crate::{budget::Bounded, gate::Permit};

/// Commits that are shown, newest first in importance.
const COMMITS: usize = 100;
/// Files that are shown.
const FILES: usize = 100;
/// Reviews that are shown.
const REVIEWS: usize = 50;
/// Bytes that all reviews together may take.
const ALL_REVIEWS: usize = 12_000;
/// Open threads that are shown.
const THREADS: usize = 50;
/// Bytes that all open threads together may take.
const ALL_THREADS: usize = 20_000;
/// Bytes of a commit's message.
const MESSAGE: usize = 400;
/// Bytes of a commit author's name.
const AUTHOR: usize = 60;
/// Bytes that all commits together may take.
const ALL_COMMITS: usize = 12_000;
/// Bytes that all files together may take.
const ALL_FILES: usize = 10_000;
/// Bytes of a path.
const PATH: usize = 100;

/// A pull request's change as GitHub told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawChange {
    /// Its branches and its size.
    pub outline: PullOutline,
    /// The first changed files.
    pub files: Vec<RawFile>,
    /// How many changed files there are in all.
    pub n_files: usize,
    /// The newest commits, oldest first.
    pub commits: Vec<RawCommit>,
    /// How many commits there are in all.
    pub n_commits: usize,
    /// The newest reviews, oldest first.
    pub reviews: Vec<RawReview>,
    /// How many reviews there are in all.
    pub n_reviews: usize,
    /// The threads, oldest first.
    pub threads: Vec<RawThread>,
}

/// A pull request's branches and size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullOutline {
    /// Whether it is still a draft.
    pub draft: bool,
    /// Whether it comes from another repository.
    pub fork: bool,
    /// The branch it goes into.
    pub base: String,
    /// The branch it comes from.
    pub head: String,
    /// Its newest commit.
    pub head_oid: String,
    /// Lines added.
    pub additions: u64,
    /// Lines deleted.
    pub deletions: u64,
}

/// A changed file as GitHub told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawFile {
    /// Where it is.
    pub path: String,
    /// Lines added.
    pub additions: u64,
    /// Lines deleted.
    pub deletions: u64,
    /// `ADDED`, `MODIFIED` and so on.
    pub change: String,
}

/// A commit as GitHub told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawCommit {
    /// Its hash.
    pub oid: String,
    /// Who wrote it, if GitHub or git knows.
    pub author: Option<String>,
    /// Its message.
    pub message: String,
}

/// A review as GitHub told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawReview {
    /// `APPROVED`, `CHANGES_REQUESTED` and so on.
    pub verdict: String,
    /// Who said what, and when.
    pub comment: RawComment,
}

/// A review thread as GitHub told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawThread {
    /// The file.
    pub path: String,
    /// The line, unless the code has moved on.
    pub line: Option<u64>,
    /// Whether somebody called it done.
    pub is_resolved: bool,
    /// What was said, oldest first.
    pub comments: Vec<RawComment>,
}

/// A pull request's change, fit to be shown to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its branches and its size.
    pub outline: PullOutline,
    /// The files, a line each.
    pub files: Bounded<Vec<String>>,
    /// The commits, a line each.
    pub commits: Bounded<Vec<String>>,
    /// What reviewers said, each about its verdict.
    pub reviews: Bounded<Vec<Remark>>,
    /// What is said in open threads and in the one that the request is in, each about its place.
    pub threads: Bounded<Vec<Remark>>,
}

impl Change {
    pub(super) fn within_budget(told: RawChange, permit: &Permit) -> Self {
        let files: Vec<_> = told.files.iter().map(file_line).collect();
        let commits: Vec<_> = told.commits.iter().map(commit_line).collect();
        let reviews = told.reviews.iter().filter(|review| !review.is_empty());
        let reviews = reviews.map(|review| Remark {
            about: Some(review.verdict.to_lowercase().replace('_', " ")),
            ..said(permit, &review.comment)
        });
        let (more_files, more_commits) =
            (told.n_files.saturating_sub(files.len()), told.n_commits.saturating_sub(commits.len()));
        let n_files = fitting(files.iter(), ALL_FILES).min(FILES);
        let n_commits = fitting(commits.iter().rev(), ALL_COMMITS).min(COMMITS);
        Self {
            outline: told.outline,
            files: Bounded::first(files, n_files).and_missing(more_files),
            commits: Bounded::newest(commits, n_commits).and_missing(more_commits),
            reviews: newest_within(reviews.collect(), ALL_REVIEWS, REVIEWS)
                .and_missing(told.n_reviews.saturating_sub(told.reviews.len())),
            threads: threads(&told.threads, permit),
        }
    }

    /// Returns how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let lines = self.files.value().iter().chain(self.commits.value()).map(String::len);
        let remarks = self.reviews.value().iter().chain(self.threads.value()).map(Remark::bytes);
        let PullOutline { base, head, head_oid, .. } = &self.outline;
        let names = [base, head, head_oid].map(String::len);
        lines.chain(remarks).chain(names).sum()
    }
}

/// Returns how many of these lines fit into so many bytes.
fn fitting<'a>(lines: impl Iterator<Item = &'a String>, bytes: usize) -> usize {
    let mut left = bytes;
    lines.take_while(|line| left.checked_sub(line.len()).map(|rest| left = rest).is_some()).count()
}

impl RawReview {
    /// Tells whether it says nothing by itself: its words are all in threads.
    fn is_empty(&self) -> bool {
        self.comment.body.trim().is_empty() && self.verdict == "COMMENTED"
    }
}

fn file_line(file: &RawFile) -> String {
    let path = Bounded::text(&file.path, PATH).noted().replace('\n', " ");
    format!("{} +{} -{} {path}", file.change.to_lowercase(), file.additions, file.deletions)
}

/// Returns a commit on one line: hash, author, and what its message says.
fn commit_line(commit: &RawCommit) -> String {
    let oid: String = commit.oid.chars().take(7).collect();
    let author = Bounded::text(commit.author.as_deref().unwrap_or("ghost"), AUTHOR);
    let message = commit.message.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{oid} {}: {}", author.value(), Bounded::text(&message, MESSAGE).noted().replace('\n', " "))
}

/// Returns what is said in open threads. The thread of the request is shown whether it is resolved or not.
fn threads(told: &[RawThread], permit: &Permit) -> Bounded<Vec<Remark>> {
    let asked = |thread: &RawThread| thread.comments.iter().any(|comment| is_request(permit, comment));
    let shown = told.iter().filter(|thread| !thread.is_resolved || asked(thread));
    let remarks = shown.flat_map(|thread| {
        let line = thread.line.map(|line| format!(":{line}")).unwrap_or_default();
        let resolved = if thread.is_resolved { ", resolved" } else { "" };
        let place = format!("{}{line}{resolved}", Bounded::text(&thread.path, PATH).value());
        let others = thread.comments.iter().filter(|comment| !is_request(permit, comment));
        others.map(move |comment| Remark { about: Some(place.clone()), ..said(permit, comment) })
    });
    newest_within(remarks.collect(), ALL_THREADS, THREADS)
}
