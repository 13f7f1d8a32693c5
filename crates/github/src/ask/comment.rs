//! What does a comment say now?

use fro_core::Login;
use jiff::Timestamp;
use serde::Deserialize;

use crate::{
    ask::rest::RestUser,
    client::GitHub,
    error::{Attempted, Error},
};

/// A comment in the conversation of an issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Its database id.
    pub id: u64,
    /// The number of the issue or pull request it is on.
    pub number: u64,
    /// Who wrote it, if the account still exists.
    pub author: Option<Login>,
    /// What it says.
    pub body: String,
    /// Where people read it.
    pub url: String,
    /// When it was written.
    pub created_at: Timestamp,
}

#[derive(Deserialize)]
pub(crate) struct WireComment {
    id: u64,
    issue_url: String,
    user: Option<RestUser>,
    #[serde(default)]
    body: String,
    html_url: String,
    created_at: Timestamp,
}

impl From<WireComment> for Comment {
    fn from(wire: WireComment) -> Self {
        // The subject's number is told only at the end of an address. A comment without one is on nothing.
        let number = wire.issue_url.rsplit('/').next().and_then(|number| number.parse().ok());
        Self {
            id: wire.id,
            number: number.unwrap_or_default(),
            author: wire.user.map(|author| author.login),
            body: wire.body,
            url: wire.html_url,
            created_at: wire.created_at,
        }
    }
}

impl GitHub {
    /// Reads one comment.
    pub async fn comment(&self, id: u64) -> Result<Comment, Error> {
        let aim = Attempted::new(format!("read comment {id} in {}", self.repo()), "issues: read");
        let path = format!("/repos/{}/issues/comments/{id}", self.repo());
        let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
        let wire: WireComment = answer.json().map_err(|error| aim.missed(error))?;
        Ok(wire.into())
    }
}
