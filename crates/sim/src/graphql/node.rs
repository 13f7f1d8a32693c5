//! Anything by its node id.

use std::sync::Arc;

use async_graphql::{ID, Interface};

use crate::{
    graphql::{
        Asked,
        discussion::Discussion,
        discussion_comment::DiscussionComment,
        issue::{self, Issue},
        issue_comment::IssueComment,
        pull_request::{self, PullRequest},
        repository::Repository,
        review_thread::PullRequestReviewThread,
        thread::Thread,
    },
    state,
};

/// Anything that has an id of its own.
#[derive(Interface)]
#[graphql(field(name = "id", ty = "ID"))]
pub(super) enum Node {
    Discussion(Discussion),
    DiscussionComment(DiscussionComment),
    Issue(Issue),
    IssueComment(IssueComment),
    PullRequest(PullRequest),
    PullRequestReviewThread(PullRequestReviewThread),
    Repository(Repository),
}

/// Finds what an id stands for, as far as the caller can see it.
pub(super) fn find(asked: &Arc<Asked>, id: &ID) -> Option<Node> {
    let node = state::Node::parse(id)?;
    let repo = Arc::new(asked.state.repo_of(node).filter(|repo| asked.caller.sees(repo))?.clone());
    let thread = |issue: &state::Issue| Thread {
        asked: Arc::clone(asked),
        repo: Arc::clone(&repo),
        issue: Arc::new(issue.clone()),
    };
    match node {
        state::Node::Repo(_) => Some(Node::Repository(Repository { asked: Arc::clone(asked), repo })),
        state::Node::Issue { .. } => Some(Node::Issue(issue::of(thread(repo.issue_at(node)?)))),
        state::Node::PullRequest { .. } => {
            Some(Node::PullRequest(pull_request::of(thread(repo.issue_at(node)?))?))
        }
        state::Node::IssueComment { id, .. } => {
            let (issue, comment) = repo.comment(id)?;
            Some(Node::IssueComment(thread(issue).comment(comment)))
        }
        state::Node::ReviewThread { id, .. } => {
            let mut pulls = repo.issues.iter().filter_map(|issue| issue.pull.as_ref());
            let login = asked.caller.login().ok();
            let thread = pulls.find_map(|pull| pull.threads_seen_by(login).find(|thread| thread.id == id))?;
            let (asked, repo) = (Arc::clone(asked), repo.id);
            Some(Node::PullRequestReviewThread(PullRequestReviewThread { asked, repo, thread }))
        }
        state::Node::Discussion { id, .. } => {
            let told = Arc::new(repo.discussions.iter().find(|discussion| discussion.id == id)?.clone());
            Some(Node::Discussion(Discussion { asked: Arc::clone(asked), repo, told }))
        }
        state::Node::DiscussionComment { .. } => {
            DiscussionComment::find(asked, id).map(Node::DiscussionComment)
        }
        _ => None,
    }
}
