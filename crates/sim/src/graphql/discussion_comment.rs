//! A comment in a discussion.

use std::sync::Arc;

use async_graphql::{ID, Object, Result};

use crate::{
    graphql::{
        Asked,
        actor::Actor,
        connection::{Connection, Window},
        issue_comment::CommentAuthorAssociation,
        reaction::{self, ReactionGroup},
        scalar::{DateTime, Html, Uri},
    },
    page::markdown,
    state::{Comment, Discussion, Node, Repo, node_id},
};

#[derive(Clone)]
pub(super) struct DiscussionComment {
    asked: Arc<Asked>,
    repo: Arc<Repo>,
    discussion: Arc<Discussion>,
    comment: Comment,
}

impl DiscussionComment {
    pub(super) fn new(
        asked: &Arc<Asked>,
        repo: &Arc<Repo>,
        discussion: &Arc<Discussion>,
        comment: &Comment,
    ) -> Self {
        Self {
            asked: Arc::clone(asked),
            repo: Arc::clone(repo),
            discussion: Arc::clone(discussion),
            comment: comment.clone(),
        }
    }

    /// Finds a comment that the caller can see.
    pub(super) fn find(asked: &Arc<Asked>, id: &ID) -> Option<Self> {
        let seen = asked.state.repos.iter().filter(|repo| asked.caller.sees(repo));
        let all = seen.flat_map(|repo| {
            let discussions = repo.discussions.iter();
            discussions
                .flat_map(move |discussion| discussion.said().map(move |said| (repo, discussion, said)))
        });
        let mut same = all.filter(|(repo, _, said)| named(repo, said.id) == *id);
        let (repo, discussion, comment) = same.next()?;
        Some(Self::new(asked, &Arc::new(repo.clone()), &Arc::new(discussion.clone()), comment))
    }
}

impl DiscussionComment {
    /// Why it is folded away, if it is.
    pub(super) fn folding(&self) -> Option<&str> {
        self.comment.minimized.as_deref()
    }
}

/// The node id of a comment.
pub(super) fn named(repo: &Repo, id: u64) -> ID {
    node_id(Node::DiscussionComment { repo: repo.id, id }).into()
}

#[Object]
impl DiscussionComment {
    pub(super) async fn id(&self) -> ID {
        named(&self.repo, self.comment.id)
    }

    async fn database_id(&self) -> u64 {
        self.comment.id
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

    async fn last_edited_at(&self) -> Option<DateTime> {
        let Comment { created_at, updated_at, .. } = self.comment;
        (updated_at > created_at).then_some(DateTime(updated_at))
    }

    async fn url(&self) -> Uri {
        let (repo, number) = (self.repo.full_name(), self.discussion.number);
        let id = self.comment.id;
        Uri(format!("{}/{repo}/discussions/{number}#discussioncomment-{id}", self.asked.address))
    }

    async fn is_answer(&self) -> bool {
        false
    }

    async fn reaction_groups(&self) -> Option<Vec<ReactionGroup>> {
        Some(reaction::groups(&self.asked, &self.comment.reactions))
    }

    async fn is_minimized(&self) -> bool {
        self.comment.minimized.is_some()
    }

    async fn minimized_reason(&self) -> Option<&str> {
        self.comment.minimized.as_deref()
    }

    async fn reply_to(&self) -> Option<Self> {
        let above = self.discussion.above(self.comment.id)?;
        Some(Self::new(&self.asked, &self.repo, &self.discussion, above))
    }

    async fn replies(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<Self>> {
        let top = self.discussion.comments.iter().find(|top| top.comment.id == self.comment.id);
        let replies = top.map_or(&[][..], |top| &top.replies).iter();
        let replies = replies.map(|reply| Self::new(&self.asked, &self.repo, &self.discussion, reply));
        Window { first, last, before, after }.on("replies", replies.collect())
    }
}
