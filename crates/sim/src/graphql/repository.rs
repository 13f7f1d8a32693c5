//! A repository.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, InputObject, Object, Result, Union};

use crate::{
    graphql::{
        Asked,
        actor::RepositoryOwner,
        connection::{Connection, Window},
        discussion::Discussion,
        issue::{self, Issue, IssueState},
        label::{Label, LabelOrder, LabelOrderField},
        pull_request::{self, PullRequest, PullRequestState},
        reference::Ref,
        refusal::{forbidden, missing, withheld},
        repository_facts::RepositoryFacts,
        scalar::{GitSshRemote, Uri},
        thread::Thread,
    },
    hub::Hub,
    permission::talk_about,
    state::{self, Node, node_id},
};

pub(super) struct Repository {
    pub(super) asked: Arc<Asked>,
    pub(super) repo: Arc<state::Repo>,
}

/// Which issues are asked for.
#[derive(Default, InputObject)]
struct IssueFilters {
    assignee: Option<String>,
    created_by: Option<String>,
    labels: Option<Vec<String>>,
    mentioned: Option<String>,
    states: Option<Vec<IssueState>>,
}

#[derive(Clone, Copy, InputObject)]
struct IssueOrder {
    field: IssueOrderField,
    direction: OrderDirection,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum IssueOrderField {
    CreatedAt,
    UpdatedAt,
    Comments,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum OrderDirection {
    Asc,
    Desc,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "state::Role")]
enum RepositoryPermission {
    Read,
    Triage,
    Write,
    Maintain,
    Admin,
}

/// Either of the two that share their numbers.
#[derive(Union)]
enum IssueOrPullRequest {
    Issue(Issue),
    PullRequest(PullRequest),
}

#[Object]
impl Repository {
    pub(super) async fn id(&self) -> ID {
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

    async fn ssh_url(&self) -> GitSshRemote {
        GitSshRemote(format!("{}/{}.git", self.asked.address, self.repo.full_name()))
    }

    async fn owner(&self) -> Result<RepositoryOwner> {
        RepositoryOwner::find(&self.asked, &self.repo.owner)
            .ok_or_else(|| "the owner's account is gone".into())
    }

    async fn parent(&self) -> Option<Repository> {
        None
    }

    #[graphql(flatten)]
    async fn facts(&self) -> RepositoryFacts {
        RepositoryFacts { asked: Arc::clone(&self.asked), repo: Arc::clone(&self.repo) }
    }

    async fn has_issues_enabled(&self) -> bool {
        !self.repo.without_issues
    }

    async fn has_wiki_enabled(&self) -> bool {
        false
    }

    async fn is_in_organization(&self) -> bool {
        false
    }

    async fn is_archived(&self) -> bool {
        self.repo.archived
    }

    async fn merge_commit_allowed(&self) -> bool {
        true
    }

    async fn rebase_merge_allowed(&self) -> bool {
        true
    }

    async fn squash_merge_allowed(&self) -> bool {
        true
    }

    async fn viewer_permission(&self) -> Option<RepositoryPermission> {
        let role = self.asked.caller.login().ok().and_then(|login| self.repo.role(login));
        Some(role.map_or(RepositoryPermission::Read, RepositoryPermission::from))
    }

    async fn issues(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        states: Option<Vec<IssueState>>,
        labels: Option<Vec<String>>,
        filter_by: Option<IssueFilters>,
        order_by: Option<IssueOrder>,
    ) -> Result<Connection<Issue>> {
        self.readable(&["issues"])?;
        let filter = filter_by.unwrap_or_default();
        let states = states.or(filter.states);
        let labels = labels.or(filter.labels).unwrap_or_default();
        let threads = self.threads(order_by, |issue| {
            issue.pull.is_none()
                && states.as_ref().is_none_or(|states| states.contains(&issue.state.into()))
                && labels.iter().all(|label| issue.labels.contains(label))
                && filter.created_by.as_ref().is_none_or(|login| *login == issue.author)
                && filter.assignee.as_ref().is_none_or(|login| issue.assignees.contains(login))
                && filter.mentioned.as_ref().is_none_or(|login| issue.mentions(login))
        });
        Window { first, last, before, after }
            .on("issues", threads.into_iter().map(issue::from_thread).collect())
    }

    async fn pull_requests(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        states: Option<Vec<PullRequestState>>,
        labels: Option<Vec<String>>,
        head_ref_name: Option<String>,
        base_ref_name: Option<String>,
        order_by: Option<IssueOrder>,
    ) -> Result<Connection<PullRequest>> {
        self.readable(&["pull_requests"])?;
        let labels = labels.unwrap_or_default();
        let threads = self.threads(order_by, |issue| {
            issue.pull.as_ref().is_some_and(|pull| {
                head_ref_name.as_ref().is_none_or(|name| *name == pull.head_ref)
                    && base_ref_name.as_ref().is_none_or(|name| *name == pull.base_ref)
            }) && states.as_ref().is_none_or(|states| states.contains(&issue.state.into()))
                && labels.iter().all(|label| issue.labels.contains(label))
        });
        let pulls = threads.into_iter().filter_map(pull_request::from_thread).collect();
        Window { first, last, before, after }.on("pullRequests", pulls)
    }

    async fn label(&self, name: String) -> Option<Label> {
        self.repo.label(&name).map(|label| Label::new(&self.asked.address, &self.repo, label))
    }

    /// The labels that issues can have; those with these words in their names or descriptions.
    async fn labels(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        query: Option<String>,
        order_by: Option<LabelOrder>,
    ) -> Result<Option<Connection<Label>>> {
        let words = query.unwrap_or_default().to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&words);
        let fits = |label: &&state::Label| has(&label.name) || label.description.as_deref().is_some_and(has);
        let mut labels: Vec<_> = self.repo.labels.iter().filter(fits).collect();
        if order_by.is_some_and(|order| order.field == LabelOrderField::Name) {
            labels.sort_by_key(|label| label.name.to_lowercase());
        }
        if order_by.is_some_and(|order| order.direction == OrderDirection::Desc) {
            labels.reverse();
        }
        let labels = labels.into_iter().map(|label| Label::new(&self.asked.address, &self.repo, label));
        Window { first, last, before, after }.on("labels", labels.collect()).map(Some)
    }

    /// A branch or tag by its name.
    #[graphql(name = "ref")]
    async fn named_ref(&self, context: &Context<'_>, qualified_name: String) -> Result<Option<Ref>> {
        let bare = context.data::<Arc<Hub>>()?.git.open(&self.repo.full_name()).await?;
        let names = ["", "refs/heads/", "refs/tags/"].map(|folder| format!("{folder}{qualified_name}"));
        let known = bare.references("refs").await?;
        let found = known.into_iter().find(|(name, ..)| names.contains(name));
        Ok(found.and_then(|(name, ..)| Ref::named(&self.asked, &self.repo, &name)))
    }

    async fn default_branch_ref(&self) -> Option<Ref> {
        Some(Ref::branch(&self.asked, &self.repo, &self.repo.default_branch))
    }

    async fn issue(&self, context: &Context<'_>, number: i32) -> Option<Issue> {
        if self.readable(&["issues"]).is_err() {
            return withheld(context);
        }
        let thread = self.thread(number).filter(|thread| thread.issue.pull.is_none());
        thread.map(issue::from_thread).or_else(|| {
            missing(context, &format!("Could not resolve to an Issue with the number of {number}."))
        })
    }

    async fn pull_request(&self, context: &Context<'_>, number: i32) -> Option<PullRequest> {
        if self.readable(&["pull_requests"]).is_err() {
            return withheld(context);
        }
        self.thread(number).and_then(pull_request::from_thread).or_else(|| {
            missing(context, &format!("Could not resolve to a PullRequest with the number of {number}."))
        })
    }

    async fn discussion(&self, context: &Context<'_>, number: i32) -> Option<Discussion> {
        if self.readable(&["discussions"]).is_err() {
            return withheld(context);
        }
        let found = u64::try_from(number).ok().and_then(|number| self.repo.discussion(number));
        let Some(discussion) = found else {
            let message = format!("Could not resolve to a Discussion with the number of {number}.");
            return missing(context, &message);
        };
        Some(Discussion {
            asked: Arc::clone(&self.asked),
            repo: Arc::clone(&self.repo),
            told: Arc::new(discussion.clone()),
        })
    }

    async fn issue_or_pull_request(&self, context: &Context<'_>, number: i32) -> Option<IssueOrPullRequest> {
        let Some(thread) = self.thread(number) else {
            let message =
                format!("Could not resolve to an issue or pull request with the number of {number}.");
            return missing(context, &message);
        };
        if self.readable(talk_about(&self.repo, thread.issue.number)).is_err() {
            return withheld(context);
        }
        Some(match pull_request::from_thread(thread.clone()) {
            Some(pull) => IssueOrPullRequest::PullRequest(pull),
            None => IssueOrPullRequest::Issue(issue::from_thread(thread)),
        })
    }
}

impl Repository {
    /// Refuses a token that may not read this of a private repository.
    fn readable(&self, any_of: &[&str]) -> Result<()> {
        if self.asked.caller.may_read(&self.repo, any_of) { Ok(()) } else { Err(forbidden()) }
    }

    /// The threads that pass, in order: oldest first unless told otherwise.
    fn threads(&self, order: Option<IssueOrder>, passes: impl Fn(&state::Issue) -> bool) -> Vec<Thread> {
        let mut passing: Vec<_> = self.repo.issues.iter().filter(|issue| passes(issue)).collect();
        if let Some(IssueOrder { field, direction }) = order {
            passing.sort_by_key(|issue| match field {
                IssueOrderField::CreatedAt => (issue.created_at, 0),
                IssueOrderField::UpdatedAt => (issue.updated_at, 0),
                IssueOrderField::Comments => (jiff::Timestamp::UNIX_EPOCH, issue.comments.len()),
            });
            if direction == OrderDirection::Desc {
                passing.reverse();
            }
        }
        let whole = |issue: &state::Issue| Thread {
            asked: Arc::clone(&self.asked),
            repo: Arc::clone(&self.repo),
            issue: Arc::new(issue.clone()),
        };
        passing.into_iter().map(whole).collect()
    }

    fn thread(&self, number: i32) -> Option<Thread> {
        let issue = self.repo.issue(u64::try_from(number).ok()?)?;
        Some(Thread {
            asked: Arc::clone(&self.asked),
            repo: Arc::clone(&self.repo),
            issue: Arc::new(issue.clone()),
        })
    }
}
