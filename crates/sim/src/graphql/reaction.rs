//! Reactions, in groups.

use async_graphql::{Enum, ID, SimpleObject};

use crate::{
    graphql::{Asked, scalar::DateTime},
    state::{self, Node, node_id},
};

/// One of the eight with everybody who left it. All eight are always told.
#[derive(SimpleObject)]
pub(super) struct ReactionGroup {
    content: ReactionContent,
    users: ReactingUserConnection,
    viewer_has_reacted: bool,
}

#[derive(SimpleObject)]
struct ReactingUserConnection {
    total_count: usize,
}

#[derive(SimpleObject)]
pub(super) struct Reaction {
    pub(super) id: ID,
    database_id: u64,
    content: ReactionContent,
    created_at: DateTime,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "state::ReactionContent")]
pub(super) enum ReactionContent {
    ThumbsUp,
    ThumbsDown,
    Laugh,
    Hooray,
    Confused,
    Heart,
    Rocket,
    Eyes,
}

/// Puts reactions into their groups.
pub(super) fn groups(asked: &Asked, reactions: &[state::Reaction]) -> Vec<ReactionGroup> {
    let viewer = asked.caller.login().unwrap_or_default();
    let group = |content: state::ReactionContent| {
        let same: Vec<_> = reactions.iter().filter(|reaction| reaction.content == content).collect();
        ReactionGroup {
            content: content.into(),
            users: ReactingUserConnection { total_count: same.len() },
            viewer_has_reacted: same.iter().any(|reaction| reaction.author.eq_ignore_ascii_case(viewer)),
        }
    };
    state::ReactionContent::ALL.into_iter().map(group).collect()
}

impl Reaction {
    pub(super) fn new(repo: u64, reaction: &state::Reaction) -> Self {
        Self {
            id: node_id(Node::Reaction { repo, id: reaction.id }).into(),
            database_id: reaction.id,
            content: reaction.content.into(),
            created_at: DateTime(reaction.created_at),
        }
    }
}
