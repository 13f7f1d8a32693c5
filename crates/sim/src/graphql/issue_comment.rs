//! A comment under an issue or pull request.

use std::sync::Arc;

use async_graphql::{Enum, ID, Object};

use crate::{
    graphql::{
        Asked,
        actor::Actor,
        reaction::{self, ReactionGroup},
        scalar::{BigInt, DateTime, Html, Uri},
    },
    page::markdown,
    state::{Association, Comment, Node, node_id},
};

#[derive(Clone)]
pub(super) struct IssueComment {
    pub(super) asked: Arc<Asked>,
    pub(super) repo: u64,
    pub(super) page: String,
    pub(super) comment: Comment,
}

/// What an author is to the repository.
#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum CommentAuthorAssociation {
    Owner,
    Member,
    Collaborator,
    Contributor,
    FirstTimeContributor,
    FirstTimer,
    None,
}

#[Object]
impl IssueComment {
    pub(super) async fn id(&self) -> ID {
        node_id(Node::IssueComment { repo: self.repo, id: self.comment.id }).into()
    }

    async fn database_id(&self) -> u64 {
        self.comment.id
    }

    async fn full_database_id(&self) -> BigInt {
        BigInt(self.comment.id)
    }

    async fn author(&self) -> Option<Actor> {
        Actor::find(&self.asked.state, &self.asked.address, &self.comment.author)
    }

    async fn author_association(&self) -> CommentAuthorAssociation {
        self.comment.association.into()
    }

    async fn body(&self) -> &str {
        &self.comment.body
    }

    #[graphql(name = "bodyHTML")]
    async fn body_html(&self) -> Html {
        Html(markdown::to_html(&self.comment.body))
    }

    async fn body_text(&self) -> String {
        markdown::to_text(&self.comment.body)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.comment.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.comment.updated_at)
    }

    async fn last_edited_at(&self) -> Option<DateTime> {
        let Comment { created_at, updated_at, .. } = self.comment;
        (updated_at > created_at).then_some(DateTime(updated_at))
    }

    async fn url(&self) -> Uri {
        Uri(format!("{}#issuecomment-{}", self.page, self.comment.id))
    }

    async fn is_minimized(&self) -> bool {
        self.comment.minimized.is_some()
    }

    async fn minimized_reason(&self) -> Option<&str> {
        self.comment.minimized.as_deref()
    }

    async fn includes_created_edit(&self) -> bool {
        self.comment.updated_at > self.comment.created_at
    }

    async fn reaction_groups(&self) -> Option<Vec<ReactionGroup>> {
        Some(reaction::groups(&self.asked, &self.comment.reactions))
    }

    async fn viewer_did_author(&self) -> bool {
        self.asked.caller.login().is_ok_and(|login| login.eq_ignore_ascii_case(&self.comment.author))
    }
}

impl IssueComment {
    /// Why it is folded away, if it is.
    pub(super) fn folding(&self) -> Option<&str> {
        self.comment.minimized.as_deref()
    }
}

impl From<Association> for CommentAuthorAssociation {
    fn from(association: Association) -> Self {
        match association {
            Association::Owner => Self::Owner,
            Association::Member => Self::Member,
            Association::Collaborator => Self::Collaborator,
            Association::Contributor => Self::Contributor,
            Association::FirstTimeContributor => Self::FirstTimeContributor,
            Association::FirstTimer => Self::FirstTimer,
            Association::None => Self::None,
        }
    }
}
