//! Gives a review with remarks beside the code, and rewrites its text.

use fro_core::{Anchor, Clean, Permit, Side};
use serde_json::{Value, json};

use crate::{
    act::{aim, number},
    ask::{answer::Answer, review::WireReview},
    client::GitHub,
    error::Error,
};

/// A remark and the lines that it stands beside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The lines, proven to be part of the diff.
    pub anchor: Anchor,
    /// What is said.
    pub body: Clean,
}

impl GitHub {
    /// Gives a review of the pull request's commit. It neither approves nor blocks, and it is sent once.
    ///
    /// GitHub takes all of it or, with status 422, nothing.
    pub async fn post_review(
        &self,
        permit: &Permit,
        commit: &str,
        body: &Clean,
        remarks: &[Remark],
    ) -> Result<Answer, Error> {
        let aim = aim("review", permit);
        let path = format!("/repos/{}/pulls/{}/reviews", permit.repo(), number(permit, &aim)?);
        let comments: Vec<Value> = remarks.iter().map(Remark::wire).collect();
        let review =
            json!({ "commit_id": commit, "event": "COMMENT", "body": body.as_str(), "comments": comments });
        let answer = self.post(&path).json(&review).send().await.map_err(|error| aim.missed(error))?;
        let wire: WireReview = answer.json().map_err(|error| aim.missed(error))?;
        Ok(wire.answer())
    }

    /// Gives a review another text; its remarks stay as they are.
    pub(crate) async fn update_review(
        &self,
        permit: &Permit,
        id: u64,
        body: &Clean,
    ) -> Result<Answer, Error> {
        let aim = aim(&format!("update review {id} of"), permit);
        let path = format!("/repos/{}/pulls/{}/reviews/{id}", permit.repo(), number(permit, &aim)?);
        let request = self.put(&path).json(&json!({ "body": body.as_str() }));
        let answer = request.send().await.map_err(|error| aim.missed(error))?;
        let wire: WireReview = answer.json().map_err(|error| aim.missed(error))?;
        Ok(wire.answer())
    }
}

impl Remark {
    fn wire(&self) -> Value {
        let Anchor { path, side, start_line, line } = &self.anchor;
        let side = match side {
            Side::Left => "LEFT",
            Side::Right => "RIGHT",
        };
        let mut wire = json!({ "path": path, "line": line, "side": side, "body": self.body.as_str() });
        if let Some(start) = start_line {
            wire["start_line"] = json!(start);
            wire["start_side"] = json!(side);
        }
        wire
    }
}
