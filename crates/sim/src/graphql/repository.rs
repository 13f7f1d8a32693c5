//! A repository.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, SimpleObject, Union};

use crate::{
    graphql::{
        Asked,
        discussion::Discussion,
        issue::{self, Issue},
        pull_request::{self, PullRequest},
        refusal::missing,
        scalar::Uri,
        thread::Thread,
    },
    state::{self, Node, node_id},
};

pub(super) struct Repository {
    pub(super) asked: Arc<Asked>,
    pub(super) repo: Arc<state::Repo>,
}

/// A branch or tag.
#[derive(SimpleObject)]
struct Ref {
    name: String,
}

/// Either of the two that share their numbers.
#[derive(Union)]
enum IssueOrPullRequest {
    Issue(Issue),
    PullRequest(PullRequest),
}

#[Object]
impl Repository {
    async fn id(&self) -> ID {
        node_id(Node::Repo(self.repo.id)).into()
    }

    async fn database_id(&self) -> u64 {
        self.repo.id
    }

    async fn name(&self) -> &str {
        &self.repo.name
    }

    async fn name_with_owner(&self) -> String {
        self.repo.full_name()
    }

    async fn description(&self) -> Option<&str> {
        Some(&self.repo.description)
    }

    async fn is_private(&self) -> bool {
        self.repo.private
    }

    async fn url(&self) -> Uri {
        Uri(format!("{}/{}", self.asked.address, self.repo.full_name()))
    }

    async fn default_branch_ref(&self) -> Option<Ref> {
        Some(Ref { name: self.repo.default_branch.clone() })
    }

    async fn issue(&self, context: &Context<'_>, number: i32) -> Option<Issue> {
        let thread = self.thread(number).filter(|thread| thread.issue.pull.is_none());
        thread.map(issue::of).or_else(|| {
            missing(context, &format!("Could not resolve to an Issue with the number of {number}."))
        })
    }

    async fn pull_request(&self, context: &Context<'_>, number: i32) -> Option<PullRequest> {
        self.thread(number).and_then(pull_request::of).or_else(|| {
            missing(context, &format!("Could not resolve to a PullRequest with the number of {number}."))
        })
    }

    async fn discussion(&self, context: &Context<'_>, number: i32) -> Option<Discussion> {
        let found = u64::try_from(number).ok().and_then(|number| self.repo.discussion(number));
        let Some(discussion) = found else {
            let message = format!("Could not resolve to a Discussion with the number of {number}.");
            return missing(context, &message);
        };
        Some(Discussion {
            asked: Arc::clone(&self.asked),
            repo: Arc::clone(&self.repo),
            discussion: Arc::new(discussion.clone()),
        })
    }

    async fn issue_or_pull_request(&self, context: &Context<'_>, number: i32) -> Option<IssueOrPullRequest> {
        let Some(thread) = self.thread(number) else {
            let message =
                format!("Could not resolve to an issue or pull request with the number of {number}.");
            return missing(context, &message);
        };
        Some(match pull_request::of(thread.clone()) {
            Some(pull) => IssueOrPullRequest::PullRequest(pull),
            None => IssueOrPullRequest::Issue(issue::of(thread)),
        })
    }
}

impl Repository {
    fn thread(&self, number: i32) -> Option<Thread> {
        let issue = self.repo.issue(u64::try_from(number).ok()?)?;
        Some(Thread {
            asked: Arc::clone(&self.asked),
            repo: Arc::clone(&self.repo),
            issue: Arc::new(issue.clone()),
        })
    }
}
