//! What is told of a repository besides its issues and pull requests.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};

use crate::{
    graphql::{
        Asked,
        absent::Milestone,
        actor::User,
        connection::{Connection, Window},
        discussion::Discussion,
        git_object::GitObject,
        reference::Ref,
        refusal::forbidden,
        release::{Release, ReleaseOrder},
        scalar::{DateTime, GitObjectId, Uri},
    },
    hub::Hub,
    state::{self, PersonKind, Role},
};

/// The category that all discussions here are in.
const CATEGORY: (&str, &str) = ("DIC_general", "General");

pub(super) struct RepositoryFacts {
    pub(super) asked: Arc<Asked>,
    pub(super) repo: Arc<state::Repo>,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum RepositoryVisibility {
    Private,
    Public,
    Internal,
}

/// Which milestones are asked for, of which there are none.
#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum MilestoneState {
    Open,
    Closed,
}

/// What a discussion is about.
#[derive(SimpleObject)]
pub(super) struct DiscussionCategory {
    id: ID,
    name: String,
    slug: String,
    emoji: String,
    description: Option<String>,
    is_answerable: bool,
}

impl DiscussionCategory {
    /// The one that there is.
    pub(super) fn general() -> Self {
        let (id, name) = CATEGORY;
        Self {
            id: id.into(),
            name: name.to_owned(),
            slug: name.to_lowercase(),
            emoji: ":speech_balloon:".to_owned(),
            description: None,
            is_answerable: false,
        }
    }
}

#[Object]
impl RepositoryFacts {
    async fn visibility(&self) -> RepositoryVisibility {
        if self.repo.private { RepositoryVisibility::Private } else { RepositoryVisibility::Public }
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.repo.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.repo.changed_at())
    }

    async fn pushed_at(&self) -> Option<DateTime> {
        Some(DateTime(self.repo.changed_at()))
    }

    async fn is_fork(&self) -> bool {
        false
    }

    async fn is_empty(&self) -> bool {
        false
    }

    async fn is_template(&self) -> bool {
        false
    }

    async fn is_mirror(&self) -> bool {
        false
    }

    async fn fork_count(&self) -> i32 {
        0
    }

    async fn stargazer_count(&self) -> i32 {
        0
    }

    async fn homepage_url(&self) -> Option<Uri> {
        None
    }

    async fn has_discussions_enabled(&self) -> bool {
        !self.repo.discussions.is_empty()
    }

    async fn has_projects_enabled(&self) -> bool {
        false
    }

    async fn delete_branch_on_merge(&self) -> bool {
        false
    }

    async fn auto_merge_allowed(&self) -> bool {
        false
    }

    async fn viewer_can_administer(&self) -> bool {
        self.asked.caller.has(Role::Admin, &self.repo)
    }

    /// Something that git holds, by a name such as `HEAD:README.md`.
    async fn object(
        &self,
        context: &Context<'_>,
        expression: Option<String>,
        oid: Option<GitObjectId>,
    ) -> Result<Option<GitObject>> {
        self.readable(&["contents"])?;
        let Some(name) = expression.or(oid.map(|oid| oid.0)) else { return Ok(None) };
        let bare = context.data::<Arc<Hub>>()?.git.open(&self.repo.full_name()).await?;
        Ok(GitObject::find(&self.asked, &self.repo, &bare, &name).await.ok())
    }

    /// Branches or tags, by what their names begin with.
    async fn refs(
        &self,
        context: &Context<'_>,
        ref_prefix: String,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Option<Connection<Ref>>> {
        self.readable(&["contents"])?;
        let bare = context.data::<Arc<Hub>>()?.git.open(&self.repo.full_name()).await?;
        let found = bare.references(&ref_prefix).await?;
        let refs = found.iter().filter_map(|(name, ..)| Ref::named(&self.asked, &self.repo, name)).collect();
        Window { first, last, before, after }.on("refs", refs).map(Some)
    }

    async fn discussions(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        category_id: Option<ID>,
    ) -> Result<Connection<Discussion>> {
        self.readable(&["discussions"])?;
        let meant = category_id.is_none_or(|id| id.as_str() == CATEGORY.0);
        // Newest first.
        let all = self.repo.discussions.iter().rev().filter(|_| meant).map(|told| Discussion {
            asked: Arc::clone(&self.asked),
            repo: Arc::clone(&self.repo),
            told: Arc::new(told.clone()),
        });
        Window { first, last, before, after }.on("discussions", all.collect())
    }

    async fn discussion_categories(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<DiscussionCategory>> {
        let all = vec![DiscussionCategory::general()];
        Window { first, last, before, after }.on("discussionCategories", all)
    }

    async fn releases(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        order_by: Option<ReleaseOrder>,
    ) -> Result<Connection<Release>> {
        self.readable(&["contents"])?;
        let pushes = self.asked.caller.has(Role::Write, &self.repo);
        let all = Release::all(&self.asked, &self.repo, order_by, pushes);
        Window { first, last, before, after }.on("releases", all)
    }

    async fn release(&self, tag_name: String) -> Result<Option<Release>> {
        self.readable(&["contents"])?;
        let pushes = self.asked.caller.has(Role::Write, &self.repo);
        let mut all = Release::all(&self.asked, &self.repo, None, pushes).into_iter().rev();
        Ok(all.find(|release| release.tag_name == tag_name))
    }

    async fn latest_release(&self) -> Result<Option<Release>> {
        self.readable(&["contents"])?;
        Ok(Release::all(&self.asked, &self.repo, None, false).pop())
    }

    async fn milestones(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        states: Option<Vec<MilestoneState>>,
    ) -> Result<Option<Connection<Milestone>>> {
        drop(states);
        Window { first, last, before, after }.on("milestones", Vec::new()).map(Some)
    }

    /// People who can see to an issue here.
    async fn assignable_users(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
        query: Option<String>,
    ) -> Result<Connection<User>> {
        let words = query.unwrap_or_default().to_lowercase();
        let people = self.asked.state.people.iter().filter(|person| {
            person.kind == PersonKind::User
                && self.repo.role(&person.login).is_some()
                && person.login.to_lowercase().contains(&words)
        });
        let people = people.map(|person| User::new(person, &self.asked.address)).collect();
        Window { first, last, before, after }.on("assignableUsers", people)
    }
}

impl RepositoryFacts {
    /// Refuses a token that may not read this of a private repository.
    fn readable(&self, any_of: &[&str]) -> Result<()> {
        if self.asked.caller.may_read(&self.repo, any_of) { Ok(()) } else { Err(forbidden()) }
    }
}
