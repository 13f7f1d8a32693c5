//! Writes in a discussion, and rewrites it.

use fro_core::{Clean, NodeId, Permit};
use serde::Deserialize;
use serde_json::json;

use crate::{
    act::aim,
    ask::{answer::Answer, discussion::WireDiscussionComment},
    client::GitHub,
    error::{Cause, Error},
};

const DISCUSS: &str =
    concat!(include_str!("discuss.graphql"), include_str!("../ask/discussion_words.graphql"));
const UPDATE: &str =
    concat!(include_str!("update_discussed.graphql"), include_str!("../ask/discussion_words.graphql"));

#[derive(Deserialize)]
struct Done {
    done: Option<Written>,
}

#[derive(Deserialize)]
struct Written {
    comment: Option<WireDiscussionComment>,
}

impl GitHub {
    /// Writes a comment of its own. It is sent once.
    pub(crate) async fn discuss(&self, permit: &Permit, id: &NodeId, body: &Clean) -> Result<Answer, Error> {
        let variables = json!({ "discussion": id.as_str(), "body": body.as_str(), "below": null });
        self.write(permit, variables).await
    }

    /// Writes below a comment, or beside it if it is a reply itself. It is sent once.
    pub(crate) async fn discuss_below(
        &self,
        permit: &Permit,
        (id, comment): (&NodeId, &NodeId),
        body: &Clean,
    ) -> Result<Answer, Error> {
        let above = self.discussion_comment(comment).await?.reply_to.map(|above| above.id);
        let below = above.unwrap_or_else(|| comment.clone());
        let variables = json!({ "discussion": id.as_str(), "body": body.as_str(), "below": below.as_str() });
        self.write(permit, variables).await
    }

    /// Gives a comment in a discussion another text.
    pub(crate) async fn update_discussed(
        &self,
        permit: &Permit,
        id: &NodeId,
        body: &Clean,
    ) -> Result<Answer, Error> {
        let aim = aim("update a comment in", permit);
        let variables = json!({ "comment": id.as_str(), "body": body.as_str() });
        let done = self.tell_again(UPDATE, variables).await;
        written(done.map_err(|cause| aim.missed(cause))?)
            .ok_or_else(|| aim.missed(Cause::Failing("an answer without a comment".to_owned())))
    }

    async fn write(&self, permit: &Permit, variables: serde_json::Value) -> Result<Answer, Error> {
        let aim = aim("write in", permit);
        let done = self.tell(DISCUSS, variables).await;
        written(done.map_err(|cause| aim.missed(cause))?)
            .ok_or_else(|| aim.missed(Cause::Failing("an answer without a comment".to_owned())))
    }
}

fn written(done: Done) -> Option<Answer> {
    Some(done.done?.comment?.answer())
}
