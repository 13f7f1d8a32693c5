//! Posts the answer on the permit's surface (conversation, review thread or discussion), and edits it later.

use fro_core::{Clean, Permit, Surface, Target};

use crate::{
    act::aim,
    ask::answer::Answer,
    client::GitHub,
    error::{Cause, Error},
};

impl GitHub {
    /// Posts the answer on the permit's surface. It is sent once, as [`GitHub::post_comment`] says.
    pub async fn post_answer(&self, permit: &Permit, body: &Clean) -> Result<Answer, Error> {
        match permit.surface() {
            Surface::Conversation(_) => self.post_comment(permit, body).await.map(Answer::from),
            Surface::ReviewThread { pull, root } => self.reply(permit, (*pull, *root), body).await,
            Surface::Discussion { id, comment: None, .. } => self.discuss(permit, id, body).await,
            Surface::Discussion { id, comment: Some(comment), .. } => {
                self.discuss_below(permit, (id, comment), body).await
            }
            Surface::Thread(_) | Surface::RunPage => Err(aim("answer on", permit).missed(Cause::Unfit)),
        }
    }

    /// Gives an answer on the permit's surface another text.
    pub async fn update_answer(
        &self,
        permit: &Permit,
        target: &Target,
        body: &Clean,
    ) -> Result<Answer, Error> {
        match (permit.surface(), target) {
            (Surface::Conversation(_), Target::Comment(id)) => {
                let comment = self.comment(*id).await?;
                self.update_comment(permit, &comment, body).await.map(Answer::from)
            }
            (Surface::Conversation(_), Target::Review(id)) => self.update_review(permit, *id, body).await,
            (Surface::ReviewThread { pull, .. }, Target::ReviewComment(id)) => {
                self.update_reply(permit, (*pull, *id), body).await
            }
            (Surface::Discussion { .. }, Target::Node(id)) => self.update_discussed(permit, id, body).await,
            (
                Surface::Conversation(_)
                | Surface::ReviewThread { .. }
                | Surface::Discussion { .. }
                | Surface::Thread(_)
                | Surface::RunPage,
                _,
            ) => Err(aim("update an answer on", permit).missed(Cause::Unfit)),
        }
    }
}
