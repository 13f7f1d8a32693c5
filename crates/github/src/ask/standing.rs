//! What stands on a pull request for everybody to see, and what is folded away?

use fro_core::{Login, NodeId};
use serde::Deserialize;
use serde_json::json;

use crate::{
    ask::{
        actor::Actor,
        list::{InRepository, Listed},
    },
    client::GitHub,
    error::{Aim, Cause, Error},
};

/// What stands on a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The newest commit.
    pub head: String,
    /// The newest comments and reviews.
    pub notes: Vec<Note>,
}

/// A comment or a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The very thing.
    pub id: NodeId,
    /// Who wrote it, if the account still exists.
    pub author: Option<Login>,
    /// What it says.
    pub body: String,
    /// Whether it is folded away.
    pub folded: bool,
}

impl GitHub {
    /// Reads the comments and reviews of a pull request, and its newest commit.
    pub async fn standing(&self, pull: u64) -> Result<Standing, Error> {
        let repo = self.repo();
        let aim = Aim::new(format!("read what stands on {repo}#{pull}"), "pull-requests: read");
        let variables = json!({ "owner": repo.owner(), "name": repo.name(), "number": pull });
        let data: InRepository<StandingOf> =
            self.ask(include_str!("standing.graphql"), variables).await.map_err(|cause| aim.missed(cause))?;
        let pull = data.repository.and_then(|repository| repository.pull_request);
        let pull = pull.ok_or_else(|| aim.missed(Cause::Missing("nothing there".to_owned())))?;
        let reviews = pull.reviews.map(|reviews| reviews.nodes).unwrap_or_default();
        let notes = pull.comments.nodes.into_iter().chain(reviews).map(Note::from).collect();
        Ok(Standing { head: pull.head_ref_oid, notes })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StandingOf {
    pull_request: Option<StandingPull>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StandingPull {
    head_ref_oid: String,
    comments: Listed<StandingComment>,
    reviews: Option<Listed<StandingComment>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StandingComment {
    id: NodeId,
    body: String,
    is_minimized: bool,
    author: Option<Actor>,
}

impl From<StandingComment> for Note {
    fn from(said: StandingComment) -> Self {
        let author = said.author.map(Actor::login);
        Self { id: said.id, author, body: said.body, folded: said.is_minimized }
    }
}
