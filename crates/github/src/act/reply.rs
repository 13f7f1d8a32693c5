//! Replies in a review thread, and rewrites the reply.

use fro_core::{Clean, Permit};
use serde_json::json;

use crate::{
    act::{aim, number},
    ask::{answer::Answer, review_comment::WireReviewComment},
    client::GitHub,
    error::{Cause, Error},
};

impl GitHub {
    /// Replies to the comment that began a thread. It is sent once.
    pub(crate) async fn reply(
        &self,
        permit: &Permit,
        (pull, root): (u64, u64),
        body: &Clean,
    ) -> Result<Answer, Error> {
        let aim = aim(&format!("reply to review comment {root} on"), permit);
        let path = format!("/repos/{}/pulls/{pull}/comments/{root}/replies", permit.repo());
        let request = self.post(&path).json(&json!({ "body": body.as_str() }));
        let answer = request.send().await.map_err(|error| aim.missed(error))?;
        let wire: WireReviewComment = answer.json().map_err(|error| aim.missed(error))?;
        Ok(wire.answer())
    }

    /// Replies in a thread of the permit's own pull request. It is sent once.
    pub async fn reply_in_thread(&self, permit: &Permit, root: u64, body: &Clean) -> Result<Answer, Error> {
        let aim = aim(&format!("reply to review comment {root} on"), permit);
        self.reply(permit, (number(permit, &aim)?, root), body).await
    }

    /// Gives a reply on the pull request another text.
    pub(crate) async fn update_reply(
        &self,
        permit: &Permit,
        (pull, id): (u64, u64),
        body: &Clean,
    ) -> Result<Answer, Error> {
        let what = format!("review comment {id}");
        let aim = aim(&format!("update {what} on"), permit);
        // GitHub would take any comment of the repository, but a permit is good for one subject.
        if !self.review_comment(id).await?.is_on(pull) {
            return Err(aim.missed(Cause::Elsewhere(what)));
        }
        let path = format!("/repos/{}/pulls/comments/{id}", permit.repo());
        let request = self.patch(&path).idempotent().json(&json!({ "body": body.as_str() }));
        let answer = request.send().await.map_err(|error| aim.missed(error))?;
        let wire: WireReviewComment = answer.json().map_err(|error| aim.missed(error))?;
        Ok(wire.answer())
    }
}
