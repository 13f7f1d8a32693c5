//! What stands where our answer goes?

use fro_core::{Login, Permit, Subject, Surface, Target, context::RawComment};
use jiff::Timestamp;

use crate::{
    act::aim,
    ask::{comment::Comment, comments::Since},
    client::GitHub,
    error::{Cause, Error},
};

/// Something that was written on a surface where answers go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The very thing.
    pub target: Target,
    /// Who wrote it, if the account still exists.
    pub author: Option<Login>,
    /// When.
    pub at: Timestamp,
    /// What it says.
    pub body: String,
    /// Where people read it.
    pub url: String,
}

impl Answer {
    pub(crate) fn to_comment(&self, edited: Option<Timestamp>) -> RawComment {
        let Self { target, author, at, body, .. } = self.clone();
        RawComment { target, author, at, edited, body }
    }
}

impl From<Comment> for Answer {
    fn from(comment: Comment) -> Self {
        Self {
            target: Target::Comment(comment.id),
            author: comment.author,
            at: comment.created_at,
            body: comment.body,
            url: comment.url,
        }
    }
}

impl GitHub {
    /// Reads an answer back.
    pub async fn answer(&self, permit: &Permit, target: &Target) -> Result<Answer, Error> {
        match target {
            Target::Comment(id) => self.comment(*id).await.map(Answer::from),
            Target::ReviewComment(id) => Ok(self.review_comment(*id).await?.answer()),
            Target::Review(id) => {
                let pull = permit.subject().number().unwrap_or_default();
                self.review(pull, *id).await
            }
            Target::Node(id) => Ok(self.discussion_comment(id).await?.said.answer()),
            Target::Subject(_) | Target::Nowhere => {
                Err(aim("read an answer on", permit).missed(Cause::Unfit))
            }
        }
    }

    /// Reads the comments in the place where the permit's answer goes; where GitHub can filter by time, only those since then.
    pub async fn answers(&self, permit: &Permit, since: Since) -> Result<Vec<Answer>, Error> {
        match permit.surface() {
            Surface::Conversation(number) => {
                let comments = self.comments(*number, since).await?;
                let mut answers: Vec<_> = comments.into_iter().map(Answer::from).collect();
                if permit.subject() == Subject::PullRequest(*number) {
                    answers.extend(self.reviews(*number).await?);
                }
                Ok(answers)
            }
            Surface::ReviewThread { pull, root } => self.replies(*pull, *root).await,
            Surface::Discussion { number, .. } => Ok(self.discussion(*number).await?.answers),
            Surface::Thread(_) | Surface::RunPage => Ok(Vec::new()),
        }
    }
}
