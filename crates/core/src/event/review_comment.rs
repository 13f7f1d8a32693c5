//! `pull_request_review_comment`: somebody wrote beside the code of a pull request.

use serde::Deserialize;

use super::{
    Reading, Trigger,
    payload::{Action, Label, Repository, User, not_created, parse},
    pull::{Branch, Head},
};
use crate::{
    fault::Fault,
    names::{Login, RepoName},
};

/// A new comment in a review thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewComment {
    /// The repository of the pull request.
    pub repo: RepoName,
    /// The pull request's number.
    pub pull: u64,
    /// Its database id.
    pub id: u64,
    /// The first comment of its thread, which is itself if it begins one.
    pub root: u64,
    /// Who wrote it.
    pub author: Login,
    /// What was written.
    pub body: String,
    /// Where in the code it stands.
    pub anchor: CodePlace,
    /// The names of the pull request's labels.
    pub labels: Vec<String>,
    /// Whether the conversation is locked.
    pub locked: bool,
    /// Where the pull request comes from.
    pub head: Head,
}

/// A place in the code of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CodePlace {
    /// The file.
    pub path: String,
    /// The line, unless the comment is on the whole file.
    #[serde(default)]
    pub line: Option<u64>,
    /// The line at the time of writing; the code may have moved since.
    #[serde(default)]
    pub original_line: Option<u64>,
    /// The lines around it.
    #[serde(default)]
    pub diff_hunk: String,
    /// The commit it was written on.
    #[serde(default)]
    pub commit_id: String,
}

#[derive(Deserialize)]
struct ReviewCommentPayload {
    comment: ReviewCommentFields,
    pull_request: CommentedPull,
    repository: Repository,
}

#[derive(Deserialize)]
struct ReviewCommentFields {
    id: u64,
    in_reply_to_id: Option<u64>,
    body: String,
    user: User,
    #[serde(flatten)]
    anchor: CodePlace,
}

#[derive(Deserialize)]
struct CommentedPull {
    number: u64,
    #[serde(default)]
    labels: Vec<Label>,
    #[serde(default)]
    locked: bool,
    head: Branch,
}

const NAME: &str = "pull_request_review_comment";

pub(super) fn read(payload: &str) -> Result<Reading, Fault> {
    let Action { action } = parse(NAME, payload)?;
    if action != "created" {
        return Ok(not_created(&action));
    }
    let told: ReviewCommentPayload = parse(NAME, payload)?;
    let repo = told.repository.name(NAME)?;
    let head = told.pull_request.head.seen_from(&repo);
    Ok(Reading::Trigger(Trigger::ReviewComment(ReviewComment {
        repo,
        pull: told.pull_request.number,
        id: told.comment.id,
        root: told.comment.in_reply_to_id.unwrap_or(told.comment.id),
        author: told.comment.user.login(),
        body: told.comment.body,
        anchor: told.comment.anchor,
        labels: Label::names(told.pull_request.labels),
        locked: told.pull_request.locked,
        head,
    })))
}
