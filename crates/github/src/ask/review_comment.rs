//! What was said beside the code of a pull request?

use fro_core::Target;
use jiff::Timestamp;
use serde::Deserialize;

use crate::{
    ask::{answer::Answer, rest::RestUser},
    client::GitHub,
    error::{Attempted, Error},
};

const NEEDS: &str = "pull-requests: read";

#[derive(Deserialize)]
pub(crate) struct WireReviewComment {
    id: u64,
    in_reply_to_id: Option<u64>,
    user: Option<RestUser>,
    #[serde(default)]
    body: String,
    html_url: String,
    created_at: Timestamp,
    pull_request_url: String,
}

impl WireReviewComment {
    /// Tells whether it is on this pull request. The number is told only at the end of an address.
    pub(crate) fn is_on(&self, pull: u64) -> bool {
        self.pull_request_url.rsplit('/').next().and_then(|number| number.parse().ok()) == Some(pull)
    }

    pub(crate) fn answer(self) -> Answer {
        Answer {
            target: Target::ReviewComment(self.id),
            author: self.user.map(|author| author.login),
            at: self.created_at,
            body: self.body,
            url: self.html_url,
        }
    }
}

impl GitHub {
    /// Reads one comment beside the code.
    pub(crate) async fn review_comment(&self, id: u64) -> Result<WireReviewComment, Error> {
        let aim = Attempted::new(format!("read review comment {id} in {}", self.repo()), NEEDS);
        let path = format!("/repos/{}/pulls/comments/{id}", self.repo());
        let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
        answer.json().map_err(|error| aim.missed(error))
    }

    /// Reads the newest replies in the thread that a comment began, newest first.
    pub(crate) async fn replies(&self, pull: u64, root: u64) -> Result<Vec<Answer>, Error> {
        let place = format!("{}#{pull}", self.repo());
        let aim = Attempted::new(format!("read the review comments on {place}"), NEEDS);
        let path =
            format!("/repos/{}/pulls/{pull}/comments?sort=created&direction=desc&per_page=100", self.repo());
        let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
        let wires: Vec<WireReviewComment> = answer.json().map_err(|error| aim.missed(error))?;
        let replies = wires.into_iter().filter(|wire| wire.in_reply_to_id == Some(root));
        Ok(replies.map(WireReviewComment::answer).collect())
    }
}
