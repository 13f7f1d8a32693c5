//! What is this discussion about, and what does a comment in it say?

use fro_core::{NodeId, Target, context::RawContext};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;

use crate::{
    ask::{
        actor::Actor,
        answer::Answer,
        list::{Counted, InRepository, Listed, Named},
    },
    client::GitHub,
    error::{Attempted, Cause, Error},
};

const NEEDS: &str = "discussions: read";

/// A discussion as GitHub told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discussion {
    /// What the agent may be told.
    pub told: RawContext,
    /// The same comments with their pages, by which an answer of ours is found.
    pub answers: Vec<Answer>,
}

impl GitHub {
    /// Reads a discussion with its newest comments and their newest replies.
    pub async fn discussion(&self, number: u64) -> Result<Discussion, Error> {
        let repo = self.repo();
        let aim = Attempted::new(format!("read discussion {repo}#{number}"), NEEDS);
        let variables = json!({ "owner": repo.owner(), "name": repo.name(), "number": number });
        let data: InRepository<DiscussionOf> = self
            .ask(include_str!("discussion.graphql"), variables)
            .await
            .map_err(|cause| aim.missed(cause))?;
        let gone = || aim.missed(Cause::Missing("nothing there".to_owned()));
        let repository = data.repository.ok_or_else(gone)?;
        let branch = repository.default_branch_ref.map(|branch| branch.name).unwrap_or_default();
        Ok(repository.discussion.ok_or_else(gone)?.into_discussion(branch))
    }

    /// Reads one comment of a discussion.
    pub(crate) async fn discussion_comment(&self, id: &NodeId) -> Result<Found, Error> {
        let aim = Attempted::new(format!("read a comment in a discussion of {}", self.repo()), NEEDS);
        let variables = json!({ "id": id.as_str() });
        let node: FoundNode = self
            .ask(
                concat!(include_str!("discussion_comment.graphql"), include_str!("discussion_words.graphql")),
                variables,
            )
            .await
            .map_err(|cause| aim.missed(cause))?;
        node.node.ok_or_else(|| aim.missed(Cause::Missing("nothing there".to_owned())))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DiscussionOf {
    /// Nothing in an empty repository.
    default_branch_ref: Option<Named>,
    discussion: Option<DiscussionNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DiscussionNode {
    title: String,
    body: String,
    created_at: Timestamp,
    last_edited_at: Option<Timestamp>,
    closed: bool,
    is_answered: Option<bool>,
    author: Option<Actor>,
    labels: Option<Listed<Named>>,
    comments: Counted<Top>,
}

#[derive(Deserialize)]
struct Top {
    #[serde(flatten)]
    said: WireDiscussionComment,
    replies: Counted<WireDiscussionComment>,
}

/// A comment or a reply.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireDiscussionComment {
    id: NodeId,
    body: String,
    created_at: Timestamp,
    /// Nothing where it is not asked for, too.
    last_edited_at: Option<Timestamp>,
    url: String,
    author: Option<Actor>,
}

#[derive(Deserialize)]
struct FoundNode {
    node: Option<Found>,
}

/// A comment, and the one that it stands below.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Found {
    #[serde(flatten)]
    pub(crate) said: WireDiscussionComment,
    pub(crate) reply_to: Option<ParentComment>,
}

#[derive(Deserialize)]
pub(crate) struct ParentComment {
    pub(crate) id: NodeId,
}

impl DiscussionNode {
    fn into_discussion(self, default_branch: String) -> Discussion {
        let shown: usize = self.comments.nodes.len();
        let unseen: usize = self
            .comments
            .nodes
            .iter()
            .map(|top| top.replies.total_count.saturating_sub(top.replies.nodes.len()))
            .sum();
        let missing = self.comments.total_count.saturating_sub(shown) + unseen;
        let tops = self.comments.nodes.into_iter();
        let all = tops.flat_map(|top| std::iter::once(top.said).chain(top.replies.nodes));
        let (comments, answers): (Vec<_>, Vec<_>) = all
            .map(|said| (said.last_edited_at, said.answer()))
            .map(|(edited, answer)| (answer.to_comment(edited), answer))
            .unzip();
        let state = match (self.is_answered, self.closed) {
            (Some(true), _) => "ANSWERED",
            (Some(false) | None, true) => "CLOSED",
            (Some(false) | None, false) => "OPEN",
        };
        let worn = self.labels.map(|labels| labels.nodes).unwrap_or_default();
        let labels = worn.into_iter().map(|label| label.name).collect();
        let told = RawContext {
            default_branch,
            title: self.title,
            author: self.author.map(Actor::login),
            body: self.body,
            created: Some(self.created_at),
            edited: self.last_edited_at,
            assignees: Vec::new(),
            state: state.to_owned(),
            labels,
            n_comments: comments.len() + missing,
            comments,
            change: None,
        };
        Discussion { told, answers }
    }
}

impl WireDiscussionComment {
    pub(crate) fn answer(self) -> Answer {
        Answer {
            target: Target::Node(self.id),
            author: self.author.map(Actor::login),
            at: self.created_at,
            body: self.body,
            url: self.url,
        }
    }
}
