//! What issues and pull requests have in common.

use std::sync::Arc;

use async_graphql::{Enum, ID, Object, Result};

use crate::{
    graphql::{
        Asked,
        absent::{Milestone, ProjectCard, ProjectV2Item},
        actor::{Actor, Assignee, User},
        connection::{Connection, Window},
        issue_comment::{CommentAuthorAssociation, IssueComment},
        label::Label,
        reaction::{self, ReactionGroup},
        repository::Repository,
        scalar::{BigInt, DateTime, Html, Uri},
    },
    page::markdown,
    state::{self, IssueState, Node, node_id},
};

#[derive(Clone)]
pub(super) struct Thread {
    pub(super) asked: Arc<Asked>,
    pub(super) repo: Arc<state::Repo>,
    pub(super) issue: Arc<state::Issue>,
}

/// Why only collaborators may comment.
#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum LockReason {
    OffTopic,
    Resolved,
    Spam,
    TooHeated,
}

impl LockReason {
    /// The word in REST.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::OffTopic => "off-topic",
            Self::Resolved => "resolved",
            Self::Spam => "spam",
            Self::TooHeated => "too heated",
        }
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        [Self::OffTopic, Self::Resolved, Self::Spam, Self::TooHeated]
            .into_iter()
            .find(|reason| reason.word() == word)
    }
}

#[Object]
impl Thread {
    async fn id(&self) -> ID {
        self.node_id()
    }

    async fn repository(&self) -> Repository {
        Repository { asked: Arc::clone(&self.asked), repo: Arc::clone(&self.repo) }
    }

    async fn milestone(&self) -> Option<Milestone> {
        None
    }

    async fn reaction_groups(&self) -> Option<Vec<ReactionGroup>> {
        Some(reaction::groups(&self.asked, &self.issue.reactions))
    }

    async fn assignees(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<User>> {
        let Asked { state, address, .. } = &*self.asked;
        let people = self.issue.assignees.iter().filter_map(|login| state.person(login));
        let people = people.map(|person| User::new(person, address)).collect();
        Window { first, last, before, after }.on("assignees", people)
    }

    /// Those who see to it, whatever kind of account they have.
    async fn assigned_actors(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<Assignee>> {
        let logins = self.issue.assignees.iter();
        let actors = logins.filter_map(|login| Assignee::find(&self.asked, login)).collect();
        Window { first, last, before, after }.on("assignedActors", actors)
    }

    async fn project_cards(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<ProjectCard>> {
        Window { first, last, before, after }.on("projectCards", Vec::new())
    }

    async fn project_items(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<ProjectV2Item>> {
        Window { first, last, before, after }.on("projectItems", Vec::new())
    }

    async fn database_id(&self) -> u64 {
        self.issue.id
    }

    async fn full_database_id(&self) -> BigInt {
        BigInt(self.issue.id)
    }

    async fn number(&self) -> u64 {
        self.issue.number
    }

    async fn title(&self) -> &str {
        &self.issue.title
    }

    async fn body(&self) -> &str {
        &self.issue.body
    }

    #[graphql(name = "bodyHTML")]
    async fn body_html(&self) -> Html {
        Html(markdown::to_html(&self.issue.body))
    }

    async fn body_text(&self) -> String {
        markdown::to_text(&self.issue.body)
    }

    async fn viewer_did_author(&self) -> bool {
        self.issue.author.eq_ignore_ascii_case(self.asked.login())
    }

    async fn resource_path(&self) -> Uri {
        Uri(format!("/{}/{}", self.repo.full_name(), self.issue.page()))
    }

    async fn last_edited_at(&self) -> Option<DateTime> {
        self.issue.edited_at.map(DateTime)
    }

    async fn url(&self) -> Uri {
        Uri(self.page())
    }

    async fn locked(&self) -> bool {
        self.issue.locked
    }

    async fn active_lock_reason(&self) -> Option<LockReason> {
        LockReason::from_word(self.issue.lock_reason.as_deref()?)
    }

    async fn closed(&self) -> bool {
        self.issue.state != IssueState::Open
    }

    async fn closed_at(&self) -> Option<DateTime> {
        self.issue.closed_at().map(DateTime)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.issue.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.issue.updated_at)
    }

    async fn author(&self) -> Option<Actor> {
        Actor::find(&self.asked.state, &self.asked.address, &self.issue.author)
    }

    async fn author_association(&self) -> CommentAuthorAssociation {
        self.issue.association.into()
    }

    async fn labels(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Option<Connection<Label>>> {
        Label::worn(
            &self.asked.address,
            &self.repo,
            &self.issue.labels,
            &Window { first, last, before, after },
        )
    }

    async fn comments(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<IssueComment>> {
        let comments = self.issue.comments.iter().map(|comment| self.comment(comment));
        Window { first, last, before, after }.on("comments", comments.collect())
    }
}

impl Thread {
    /// A comment under it.
    pub(super) fn comment(&self, comment: &state::Comment) -> IssueComment {
        IssueComment {
            asked: Arc::clone(&self.asked),
            repo: self.repo.id,
            page: self.page(),
            comment: comment.clone(),
        }
    }

    /// Its global id.
    pub(super) fn node_id(&self) -> ID {
        let (repo, id) = (self.repo.id, self.issue.id);
        let node = match self.issue.pull {
            Some(_) => Node::PullRequest { repo, id },
            None => Node::Issue { repo, id },
        };
        node_id(node).into()
    }

    pub(super) fn page(&self) -> String {
        format!("{}/{}/{}", self.asked.address, self.repo.full_name(), self.issue.page())
    }
}
