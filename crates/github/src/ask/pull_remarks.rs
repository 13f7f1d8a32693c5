//! Which comments and reviews does a pull request have, and which of them are folded away?

use fro_core::{Login, NodeId};
use serde::Deserialize;
use serde_json::json;

use crate::{
    ask::{
        actor::Actor,
        list::{InRepository, Listed},
    },
    client::GitHub,
    error::{Attempted, Cause, Error},
};

/// The comments and reviews of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRemarks {
    /// The newest commit.
    pub head: String,
    /// The newest comments and reviews.
    pub notes: Vec<PullRemark>,
}

/// A comment or a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRemark {
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
    pub async fn pull_remarks(&self, pull: u64) -> Result<PullRemarks, Error> {
        let repo = self.repo();
        let aim = Attempted::new(format!("read the comments of {repo}#{pull}"), "pull-requests: read");
        let variables = json!({ "owner": repo.owner(), "name": repo.name(), "number": pull });
        let data: InRepository<RemarksOf> = self
            .ask(include_str!("pull_remarks.graphql"), variables)
            .await
            .map_err(|cause| aim.missed(cause))?;
        let pull = data.repository.and_then(|repository| repository.pull_request);
        let pull = pull.ok_or_else(|| aim.missed(Cause::Missing("nothing there".to_owned())))?;
        let reviews = pull.reviews.map(|reviews| reviews.nodes).unwrap_or_default();
        let notes = pull.comments.nodes.into_iter().chain(reviews).map(PullRemark::from).collect();
        Ok(PullRemarks { head: pull.head_ref_oid, notes })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemarksOf {
    pull_request: Option<RemarksPull>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemarksPull {
    head_ref_oid: String,
    comments: Listed<RemarkNode>,
    reviews: Option<Listed<RemarkNode>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemarkNode {
    id: NodeId,
    body: String,
    is_minimized: bool,
    author: Option<Actor>,
}

impl From<RemarkNode> for PullRemark {
    fn from(said: RemarkNode) -> Self {
        let author = said.author.map(Actor::login);
        Self { id: said.id, author, body: said.body, folded: said.is_minimized }
    }
}
