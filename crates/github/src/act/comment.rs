//! Writes the answer, and rewrites it.

use fro_core::{Clean, Permit};
use serde_json::json;

use crate::{
    act::{aim, number},
    ask::comment::{Comment, WireComment},
    client::GitHub,
    error::{Cause, Error},
};

impl GitHub {
    /// Posts a comment on the permit's subject.
    ///
    /// It is sent once: when the answer is lost the error is [ambiguous](Error::ambiguous), and only reading
    /// the comments tells whether it stands.
    pub async fn post_comment(&self, permit: &Permit, body: &Clean) -> Result<Comment, Error> {
        let aim = aim("post the comment on", permit);
        let path = format!("/repos/{}/issues/{}/comments", permit.repo(), number(permit, &aim)?);
        let request = self.post(&path).json(&json!({ "body": body.as_str() }));
        let answer = request.send().await.map_err(|error| aim.missed(error))?;
        let wire: WireComment = answer.json().map_err(|error| aim.missed(error))?;
        Ok(wire.into())
    }

    /// Gives a comment on the permit's subject another text.
    pub async fn update_comment(
        &self,
        permit: &Permit,
        comment: &Comment,
        body: &Clean,
    ) -> Result<Comment, Error> {
        let aim = aim(&format!("update comment {} on", comment.id), permit);
        // GitHub would take any comment of the repository, but a permit is good for one subject.
        if comment.number != number(permit, &aim)? {
            return Err(aim.missed(Cause::Elsewhere(format!("comment {}", comment.id))));
        }
        let path = format!("/repos/{}/issues/comments/{}", permit.repo(), comment.id);
        let request = self.patch(&path).idempotent().json(&json!({ "body": body.as_str() }));
        let answer = request.send().await.map_err(|error| aim.missed(error))?;
        let wire: WireComment = answer.json().map_err(|error| aim.missed(error))?;
        Ok(wire.into())
    }
}
