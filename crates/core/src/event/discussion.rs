//! `discussion` and `discussion_comment`: somebody began one, or wrote in one.

use serde::Deserialize;

use super::{
    Reading, Trigger,
    payload::{Action, DiscussionPart, Repository, User, not_created, not_supported, parse},
};
use crate::{
    fault::Fault,
    names::{Login, RepoName},
    place::NodeId,
};

/// A new discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discussion {
    /// The repository it is in.
    pub repo: RepoName,
    /// Its number.
    pub number: u64,
    /// What only GraphQL calls it by.
    pub id: NodeId,
    /// Who began it.
    pub author: Login,
    /// What it says.
    pub body: String,
    /// Whether the conversation is locked.
    pub locked: bool,
}

/// A new comment in a discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionComment {
    /// The repository of the discussion.
    pub repo: RepoName,
    /// The discussion's number.
    pub number: u64,
    /// The discussion.
    pub discussion: NodeId,
    /// The comment.
    pub id: NodeId,
    /// The comment's database id.
    pub database_id: u64,
    /// Who wrote it.
    pub author: Login,
    /// What was written.
    pub body: String,
    /// Whether the conversation is locked.
    pub locked: bool,
}

#[derive(Deserialize)]
struct Begun {
    discussion: DiscussionPart,
    repository: Repository,
}

#[derive(Deserialize)]
struct Commented {
    discussion: DiscussionPart,
    comment: DiscussionCommentFields,
    repository: Repository,
}

#[derive(Deserialize)]
struct DiscussionCommentFields {
    id: u64,
    node_id: NodeId,
    body: String,
    user: User,
}

pub(super) fn read(payload: &str) -> Result<Reading, Fault> {
    const NAME: &str = "discussion";
    let Action { action } = parse(NAME, payload)?;
    if action != "created" {
        return Ok(not_supported(NAME, &action));
    }
    let told: Begun = parse(NAME, payload)?;
    let discussion = told.discussion;
    Ok(Reading::Trigger(Trigger::Discussion(Discussion {
        repo: told.repository.name(NAME)?,
        number: discussion.number,
        id: discussion.node_id,
        author: discussion.user.login(),
        body: discussion.body.unwrap_or_default(),
        locked: discussion.locked,
    })))
}

pub(super) fn read_comment(payload: &str) -> Result<Reading, Fault> {
    const NAME: &str = "discussion_comment";
    let Action { action } = parse(NAME, payload)?;
    if action != "created" {
        return Ok(not_created(&action));
    }
    let told: Commented = parse(NAME, payload)?;
    Ok(Reading::Trigger(Trigger::DiscussionComment(DiscussionComment {
        repo: told.repository.name(NAME)?,
        number: told.discussion.number,
        discussion: told.discussion.node_id,
        id: told.comment.node_id,
        database_id: told.comment.id,
        author: told.comment.user.login(),
        body: told.comment.body,
        locked: told.discussion.locked,
    })))
}
