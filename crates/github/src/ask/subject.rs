//! What is this issue or pull request about? Everything in one query.

use fro_core::{
    Login, Subject, Target,
    context::{RawChange, RawComment, RawContext},
};
use serde::Deserialize;
use serde_json::json;

use crate::{
    ask::{
        actor::{Actor, big},
        change::Change,
        list::{Counted, InRepository, Listed, Named},
    },
    client::GitHub,
    error::{Attempted, Cause, Error},
};

/// How many of the newest comments are read.
const COMMENTS: usize = 50;

/// An issue or a pull request as GitHub told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hydrated {
    /// What it is.
    pub subject: Subject,
    /// Whether the repository is hidden from the public.
    pub private: bool,
    /// Whether the conversation is locked.
    pub locked: bool,
    /// What its author is to the repository, in GitHub's word. Wrong for private members: never decide by it.
    pub association: String,
    /// Where people read it.
    pub url: String,
    /// What the agent may be told.
    pub told: RawContext,
}

impl GitHub {
    /// Reads an issue or a pull request with its newest comments.
    pub async fn subject(&self, number: u64) -> Result<Hydrated, Error> {
        let repo = self.repo();
        let aim = Attempted::new(format!("read {repo}#{number}"), "issues: read` and `pull-requests: read");
        let variables =
            json!({ "owner": repo.owner(), "name": repo.name(), "number": number, "comments": COMMENTS });
        let data: InRepository<SubjectOf> =
            self.ask(include_str!("subject.graphql"), variables).await.map_err(|cause| aim.missed(cause))?;
        let gone = || aim.missed(Cause::Missing("nothing there".to_owned()));
        let repository = data.repository.ok_or_else(gone)?;
        let place = Place { private: repository.is_private, default_branch: repository.default_branch_ref };
        Ok(match repository.issue_or_pull_request.ok_or_else(gone)? {
            SubjectNode::Issue(issue) => {
                issue.thread.hydrated(Subject::Issue(number), place, issue.issue_state, None)
            }
            SubjectNode::PullRequest(pull) => pull.thread.hydrated(
                Subject::PullRequest(number),
                place,
                pull.pull_state,
                Some(pull.change.into()),
            ),
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubjectOf {
    is_private: bool,
    /// Nothing in an empty repository.
    default_branch_ref: Option<Named>,
    issue_or_pull_request: Option<SubjectNode>,
}

struct Place {
    private: bool,
    default_branch: Option<Named>,
}

#[derive(Deserialize)]
#[serde(tag = "__typename")]
enum SubjectNode {
    Issue(Box<IssueNode>),
    PullRequest(Box<PullNode>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IssueNode {
    issue_state: String,
    #[serde(flatten)]
    thread: TalkNode,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullNode {
    pull_state: String,
    #[serde(flatten)]
    thread: TalkNode,
    #[serde(flatten)]
    change: Change,
}

/// What issues and pull requests have in common.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TalkNode {
    title: String,
    body: String,
    created_at: jiff::Timestamp,
    last_edited_at: Option<jiff::Timestamp>,
    url: String,
    locked: bool,
    author_association: String,
    author: Option<Actor>,
    labels: Option<Listed<Named>>,
    assignees: Listed<Assignee>,
    comments: Counted<CommentNode>,
}

#[derive(Deserialize)]
struct Assignee {
    login: Login,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentNode {
    /// The plain `databaseId` has 32 bits, which new comments no longer fit in.
    #[serde(deserialize_with = "big")]
    full_database_id: u64,
    body: String,
    last_edited_at: Option<jiff::Timestamp>,
    created_at: jiff::Timestamp,
    author: Option<Actor>,
}

impl TalkNode {
    fn hydrated(self, subject: Subject, place: Place, state: String, change: Option<RawChange>) -> Hydrated {
        let labels = self.labels.map(|labels| labels.nodes).unwrap_or_default();
        let told = RawContext {
            default_branch: place.default_branch.map(|branch| branch.name).unwrap_or_default(),
            title: self.title,
            author: self.author.map(Actor::login),
            body: self.body,
            created: Some(self.created_at),
            edited: self.last_edited_at,
            assignees: self.assignees.nodes.into_iter().map(|account| account.login).collect(),
            state,
            labels: labels.into_iter().map(|label| label.name).collect(),
            n_comments: self.comments.total_count,
            comments: self.comments.nodes.into_iter().map(RawComment::from).collect(),
            change,
        };
        Hydrated {
            subject,
            private: place.private,
            locked: self.locked,
            association: self.author_association,
            url: self.url,
            told,
        }
    }
}

impl From<CommentNode> for RawComment {
    fn from(node: CommentNode) -> Self {
        Self {
            target: Target::Comment(node.full_database_id),
            author: node.author.map(Actor::login),
            at: node.created_at,
            edited: node.last_edited_at,
            body: node.body,
        }
    }
}
