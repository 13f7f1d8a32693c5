//! A label.

use async_graphql::{ID, SimpleObject};

use crate::state::{self, Node, node_id};

#[derive(Clone, SimpleObject)]
pub(super) struct Label {
    id: ID,
    name: String,
    color: String,
    description: Option<String>,
}

impl Label {
    pub(super) fn new(repo: u64, label: &state::Label) -> Self {
        Self {
            id: node_id(Node::Label { repo, id: label.id }).into(),
            name: label.name.clone(),
            color: label.color.clone(),
            description: label.description.clone(),
        }
    }
}
