//! Webhook events, as a workflow run finds them in its event file.

use serde_json::{Value, json};

use crate::{rest::Shape, state::State};

/// The event that a new comment sets off; none if there is no such comment.
pub(crate) fn issue_comment(state: &State, address: &str, repo: &str, comment: u64) -> Option<Value> {
    let repo = state.repo(repo)?;
    let (issue, comment) = repo.comment(comment)?;
    let shape = Shape { state, address };
    Some(json!({
        "action": "created",
        "issue": shape.issue(repo, issue),
        "comment": shape.comment(repo, issue, comment),
        "repository": shape.repo(repo),
        "sender": shape.user(&comment.author),
    }))
}
