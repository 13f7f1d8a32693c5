//! Anything by its node id.

use std::sync::Arc;

use async_graphql::{Context, ID, Interface, Result};

use crate::{
    graphql::{
        Asked,
        actor::{Actor, Bot, User},
        check::{CheckRun, CheckSuite},
        commit::Commit,
        discussion::Discussion,
        discussion_comment::DiscussionComment,
        issue::{self, Issue},
        issue_comment::IssueComment,
        label::Label,
        pull_request::{self, PullRequest},
        reaction::Reaction,
        repository::Repository,
        review::PullRequestReview,
        review_thread::{PullRequestReviewComment, PullRequestReviewThread},
        status::StatusContext,
        thread::Thread,
    },
    state,
};

/// Anything that has an id of its own.
#[derive(Interface)]
#[graphql(field(name = "id", method = "node_id", ty = "ID"))]
#[expect(clippy::large_enum_variant, reason = "each lives for the answer to one field")]
pub(super) enum Node {
    Bot(Bot),
    CheckRun(CheckRun),
    CheckSuite(CheckSuite),
    Commit(Commit),
    Discussion(Discussion),
    DiscussionComment(DiscussionComment),
    Issue(Issue),
    IssueComment(IssueComment),
    Label(Label),
    PullRequest(PullRequest),
    PullRequestReview(PullRequestReview),
    PullRequestReviewComment(PullRequestReviewComment),
    PullRequestReviewThread(PullRequestReviewThread),
    Reaction(Reaction),
    Repository(Repository),
    StatusContext(StatusContext),
    User(User),
}

/// Something that can be folded away.
#[derive(Interface)]
#[graphql(field(name = "isMinimized", method = "is_folded", ty = "bool"))]
#[graphql(field(name = "minimizedReason", method = "folded_for", ty = "Option<String>"))]
#[expect(clippy::large_enum_variant, reason = "each lives for the answer to one field")]
pub(super) enum Minimizable {
    DiscussionComment(DiscussionComment),
    IssueComment(IssueComment),
    PullRequestReview(PullRequestReview),
    PullRequestReviewComment(PullRequestReviewComment),
}

/// What the interfaces ask for, by the fields that all of these have.
macro_rules! nodes {
    ($($kind:ty),+) => {
        $(impl $kind {
            pub(super) async fn node_id(&self, context: &Context<'_>) -> Result<ID> {
                Ok(self.id(context).await?.to_owned())
            }
        })+
    };
}

nodes!(
    Bot,
    CheckRun,
    CheckSuite,
    StatusContext,
    Commit,
    Discussion,
    DiscussionComment,
    Issue,
    IssueComment,
    Label,
    PullRequest
);
nodes!(PullRequestReview, PullRequestReviewComment, PullRequestReviewThread, Reaction, Repository, User);

macro_rules! minimizable {
    ($($kind:ty),+) => {
        $(impl $kind {
            pub(super) async fn is_folded(&self, context: &Context<'_>) -> Result<bool> {
                Ok(self.folded_for(context).await?.is_some())
            }

            pub(super) async fn folded_for(&self, _: &Context<'_>) -> Result<Option<String>> {
                Ok(self.folding().map(str::to_owned))
            }
        })+
    };
}

minimizable!(DiscussionComment, IssueComment, PullRequestReview, PullRequestReviewComment);

/// Finds what an id stands for, as far as the caller can see it.
pub(super) fn find(asked: &Arc<Asked>, id: &ID) -> Option<Node> {
    let node = state::Node::parse(id)?;
    if let state::Node::User(id) | state::Node::Bot(id) = node {
        let person = asked.state.people.iter().find(|person| person.id == id)?;
        return Some(match Actor::find(&asked.state, &asked.address, &person.login)? {
            Actor::User(user) => Node::User(user),
            Actor::Bot(bot) => Node::Bot(bot),
        });
    }
    let repo = Arc::new(asked.state.repo_of(node).filter(|repo| asked.caller.sees(repo))?.clone());
    let thread = |issue: &state::Issue| Thread {
        asked: Arc::clone(asked),
        repo: Arc::clone(&repo),
        issue: Arc::new(issue.clone()),
    };
    match node {
        state::Node::Repo(_) => Some(Node::Repository(Repository { asked: Arc::clone(asked), repo })),
        state::Node::Issue { .. } => Some(Node::Issue(issue::from_thread(thread(repo.issue_at(node)?)))),
        state::Node::PullRequest { .. } => {
            Some(Node::PullRequest(pull_request::from_thread(thread(repo.issue_at(node)?))?))
        }
        state::Node::IssueComment { id, .. } => {
            let (issue, comment) = repo.comment(id)?;
            Some(Node::IssueComment(thread(issue).comment(comment)))
        }
        state::Node::Label { id, .. } => Some(Node::Label(Label::new(
            &asked.address,
            &repo,
            repo.labels.iter().find(|label| label.id == id)?,
        ))),
        state::Node::CheckRun { id, .. } => {
            let run = repo.all_checks(&asked.address).into_iter().find(|run| run.id == id)?;
            Some(Node::CheckRun(CheckRun::new(asked, &repo, &run)))
        }
        state::Node::CheckSuite { id, .. } => {
            let run = repo.all_checks(&asked.address).into_iter().find(|run| run.suite == id)?;
            Some(Node::CheckSuite(CheckRun::new(asked, &repo, &run).into_suite()))
        }
        state::Node::Status { id, .. } => {
            let status = repo.statuses.iter().find(|status| status.id == id)?;
            Some(Node::StatusContext(StatusContext::new(asked, &repo, status)))
        }
        state::Node::Commit { .. } => Commit::find(asked, &repo, &node.oid()?).map(Node::Commit),
        state::Node::Discussion { id, .. } => {
            let told = Arc::new(repo.discussions.iter().find(|discussion| discussion.id == id)?.clone());
            Some(Node::Discussion(Discussion { asked: Arc::clone(asked), repo, told }))
        }
        state::Node::DiscussionComment { .. } => {
            DiscussionComment::find(asked, id).map(Node::DiscussionComment)
        }
        state::Node::Review { .. } | state::Node::ReviewThread { .. } | state::Node::ReviewComment { .. } => {
            beside_code(asked, &repo, node)
        }
        state::Node::Reaction { id, .. } => {
            let found = repo.reactions().find(|reaction| reaction.id == id)?;
            Some(Node::Reaction(Reaction::new(repo.id, found)))
        }
        state::Node::User(_) | state::Node::Bot(_) | state::Node::Happening { .. } => None,
    }
}

/// Finds a review, a thread or a remark that whoever asks can see.
fn beside_code(asked: &Arc<Asked>, repo: &Arc<state::Repo>, node: state::Node) -> Option<Node> {
    let login = asked.caller.login().ok();
    let pulls = || repo.issues.iter().filter_map(|issue| issue.pull.as_ref());
    let threads = || pulls().flat_map(|pull| pull.threads_seen_by(login));
    let whole = |thread| PullRequestReviewThread { asked: Arc::clone(asked), repo: Arc::clone(repo), thread };
    match node {
        state::Node::Review { id, .. } => {
            let review = pulls().flat_map(|pull| &pull.reviews).find(|review| review.id == id)?;
            let seen = review.is_seen_by(login);
            seen.then(|| Node::PullRequestReview(PullRequestReview::new(asked, repo, review)))
        }
        state::Node::ReviewThread { id, .. } => {
            Some(Node::PullRequestReviewThread(whole(threads().find(|thread| thread.id == id)?)))
        }
        state::Node::ReviewComment { id, .. } => {
            let has = |thread: &state::ReviewThread| thread.comments.iter().any(|comment| comment.id == id);
            let thread = whole(threads().find(has)?);
            let comment = thread.thread.comments.iter().find(|comment| comment.id == id)?.clone();
            Some(Node::PullRequestReviewComment(thread.remark(&comment)))
        }
        _ => None,
    }
}

impl Minimizable {
    /// Takes a node for something that can be folded away, if it is.
    pub(super) fn from_node(node: Node) -> Option<Self> {
        match node {
            Node::DiscussionComment(comment) => Some(Self::DiscussionComment(comment)),
            Node::IssueComment(comment) => Some(Self::IssueComment(comment)),
            Node::PullRequestReview(review) => Some(Self::PullRequestReview(review)),
            Node::PullRequestReviewComment(comment) => Some(Self::PullRequestReviewComment(comment)),
            _ => None,
        }
    }
}
