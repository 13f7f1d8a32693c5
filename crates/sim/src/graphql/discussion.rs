//! A discussion.

use std::sync::Arc;

use async_graphql::{ID, Object, Result};

use crate::{
    graphql::{
        Asked,
        actor::Actor,
        connection::{Connection, Window},
        discussion_comment::DiscussionComment,
        issue_comment::CommentAuthorAssociation,
        label::Label,
        reaction::{self, ReactionGroup},
        repository::Repository,
        repository_facts::DiscussionCategory,
        scalar::{DateTime, Html, Uri},
    },
    page::markdown,
    state::{self, Node, node_id},
};

pub(super) struct Discussion {
    pub(super) asked: Arc<Asked>,
    pub(super) repo: Arc<state::Repo>,
    pub(super) told: Arc<state::Discussion>,
}

#[Object]
impl Discussion {
    pub(super) async fn id(&self) -> ID {
        node_id(Node::Discussion { repo: self.repo.id, id: self.told.id }).into()
    }

    async fn repository(&self) -> Repository {
        Repository { asked: Arc::clone(&self.asked), repo: Arc::clone(&self.repo) }
    }

    async fn number(&self) -> u64 {
        self.told.number
    }

    async fn title(&self) -> &str {
        &self.told.title
    }

    async fn body(&self) -> &str {
        &self.told.body
    }

    #[graphql(name = "bodyHTML")]
    async fn body_html(&self) -> Html {
        Html(markdown::to_html(&self.told.body))
    }

    async fn body_text(&self) -> String {
        markdown::to_text(&self.told.body)
    }

    async fn url(&self) -> Uri {
        let (repo, number) = (self.repo.full_name(), self.told.number);
        Uri(format!("{}/{repo}/discussions/{number}", self.asked.address))
    }

    async fn locked(&self) -> bool {
        self.told.locked
    }

    async fn category(&self) -> DiscussionCategory {
        DiscussionCategory::general()
    }

    async fn reaction_groups(&self) -> Option<Vec<ReactionGroup>> {
        Some(reaction::groups(&self.asked, &self.told.reactions))
    }

    async fn closed(&self) -> bool {
        false
    }

    async fn is_answered(&self) -> Option<bool> {
        Some(false)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.told.created_at)
    }

    async fn last_edited_at(&self) -> Option<DateTime> {
        self.told.edited_at.map(DateTime)
    }

    async fn author(&self) -> Option<Actor> {
        Actor::find(&self.asked.state, &self.asked.address, &self.told.author)
    }

    async fn author_association(&self) -> CommentAuthorAssociation {
        self.told.association.into()
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
            &self.told.labels,
            &Window { first, last, before, after },
        )
    }

    async fn comments(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<DiscussionComment>> {
        let comments = self.told.comments.iter();
        let comments =
            comments.map(|top| DiscussionComment::new(&self.asked, &self.repo, &self.told, &top.comment));
        Window { first, last, before, after }.on("comments", comments.collect())
    }
}
