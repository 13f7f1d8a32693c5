//! What does a pull request want to change, and what do reviewers say? A part of the question about a subject.

use fro_core::{
    Target,
    context::{PullOutline, RawChange, RawComment, RawCommit, RawFile, RawReview, RawThread},
};
use jiff::Timestamp;
use serde::Deserialize;

use crate::ask::{
    actor::{Actor, big},
    list::{Counted, Listed},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Change {
    is_draft: bool,
    is_cross_repository: bool,
    base_ref_name: String,
    head_ref_name: String,
    head_ref_oid: String,
    additions: u64,
    deletions: u64,
    /// Nothing while GitHub still computes it.
    files: Option<Counted<FileNode>>,
    commits: Counted<CommitNode>,
    reviews: Option<Counted<Review>>,
    review_threads: Listed<ThreadNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileNode {
    path: String,
    additions: u64,
    deletions: u64,
    change_type: String,
}

#[derive(Deserialize)]
struct CommitNode {
    commit: WholeCommit,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WholeCommit {
    oid: String,
    message: String,
    /// A commit without one is rare, but there are some.
    authors: Listed<CommitAuthor>,
}

#[derive(Deserialize)]
struct CommitAuthor {
    name: Option<String>,
    user: Option<CommitAccount>,
}

#[derive(Deserialize)]
struct CommitAccount {
    login: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    #[serde(deserialize_with = "big")]
    full_database_id: u64,
    state: String,
    body: String,
    author: Option<Actor>,
    /// Nothing while it is pending.
    submitted_at: Option<Timestamp>,
    last_edited_at: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadNode {
    is_resolved: bool,
    path: String,
    line: Option<u64>,
    comments: Listed<ThreadComment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadComment {
    #[serde(deserialize_with = "big")]
    full_database_id: u64,
    body: String,
    created_at: Timestamp,
    last_edited_at: Option<Timestamp>,
    author: Option<Actor>,
}

impl From<Change> for RawChange {
    fn from(change: Change) -> Self {
        let (n_files, files) = change.files.map_or((0, Vec::new()), |files| (files.total_count, files.nodes));
        let reviews = change.reviews.map_or((0, Vec::new()), |reviews| (reviews.total_count, reviews.nodes));
        Self {
            outline: PullOutline {
                draft: change.is_draft,
                fork: change.is_cross_repository,
                base: change.base_ref_name,
                head: change.head_ref_name,
                head_oid: change.head_ref_oid,
                additions: change.additions,
                deletions: change.deletions,
            },
            files: files.into_iter().map(RawFile::from).collect(),
            n_files,
            n_commits: change.commits.total_count,
            commits: change.commits.nodes.into_iter().map(RawCommit::from).collect(),
            n_reviews: reviews.0,
            reviews: reviews.1.into_iter().map(RawReview::from).collect(),
            threads: change.review_threads.nodes.into_iter().map(RawThread::from).collect(),
        }
    }
}

impl From<FileNode> for RawFile {
    fn from(file: FileNode) -> Self {
        let FileNode { path, additions, deletions, change_type } = file;
        Self { path, additions, deletions, change: change_type }
    }
}

impl From<CommitNode> for RawCommit {
    fn from(node: CommitNode) -> Self {
        let WholeCommit { oid, message, authors } = node.commit;
        let author = authors.nodes.into_iter().next();
        let author = author.and_then(|author| author.user.map(|user| user.login).or(author.name));
        Self { oid, author, message }
    }
}

impl From<Review> for RawReview {
    fn from(review: Review) -> Self {
        let comment = RawComment {
            target: Target::Review(review.full_database_id),
            author: review.author.map(Actor::login),
            at: review.submitted_at.unwrap_or_default(),
            edited: review.last_edited_at,
            body: review.body,
        };
        Self { verdict: review.state, comment }
    }
}

impl From<ThreadNode> for RawThread {
    fn from(thread: ThreadNode) -> Self {
        let comments = thread.comments.nodes.into_iter().map(|comment| RawComment {
            target: Target::ReviewComment(comment.full_database_id),
            author: comment.author.map(Actor::login),
            at: comment.created_at,
            edited: comment.last_edited_at,
            body: comment.body,
        });
        Self {
            path: thread.path,
            line: thread.line,
            is_resolved: thread.is_resolved,
            comments: comments.collect(),
        }
    }
}
