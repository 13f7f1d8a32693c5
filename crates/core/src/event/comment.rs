//! `issue_comment`: somebody wrote in the conversation of an issue or a pull request.

use serde::{Deserialize, de::IgnoredAny};

use super::{
    Reading, Trigger,
    payload::{Action, Label, Repository, User, not_created, parse},
};
use crate::{
    fault::Fault,
    names::{Login, RepoName},
    place::Subject,
};

/// A new comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The repository it was written in.
    pub repo: RepoName,
    /// The issue or pull request it was written on.
    pub subject: Subject,
    /// Its database id.
    pub id: u64,
    /// Who wrote it.
    pub author: Login,
    /// What was written.
    pub body: String,
    /// The names of the labels of what it was written on.
    pub labels: Vec<String>,
    /// Whether the conversation is locked.
    pub locked: bool,
}

#[derive(Deserialize)]
struct CommentPayload {
    comment: CommentFields,
    issue: CommentedIssue,
    repository: Repository,
}

#[derive(Deserialize)]
struct CommentFields {
    id: u64,
    body: String,
    user: User,
}

#[derive(Deserialize)]
struct CommentedIssue {
    number: u64,
    #[serde(default)]
    labels: Vec<Label>,
    #[serde(default)]
    locked: bool,
    pull_request: Option<IgnoredAny>,
}

const NAME: &str = "issue_comment";

pub(super) fn read(payload: &str) -> Result<Reading, Fault> {
    let Action { action } = parse(NAME, payload)?;
    if action != "created" {
        return Ok(not_created(&action));
    }
    let told: CommentPayload = parse(NAME, payload)?;
    let number = told.issue.number;
    let subject = match told.issue.pull_request {
        Some(_) => Subject::PullRequest(number),
        None => Subject::Issue(number),
    };
    Ok(Reading::Trigger(Trigger::Comment(Comment {
        repo: told.repository.name(NAME)?,
        subject,
        id: told.comment.id,
        author: told.comment.user.login(),
        body: told.comment.body,
        labels: Label::names(told.issue.labels),
        locked: told.issue.locked,
    })))
}
