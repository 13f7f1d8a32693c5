//! A label.

use async_graphql::{ID, Result, SimpleObject};

use crate::{
    graphql::connection::{Connection, Window},
    state::{self, Node, node_id},
};

#[derive(Clone, SimpleObject)]
pub(super) struct Label {
    pub(super) id: ID,
    name: String,
    color: String,
    description: Option<String>,
}

impl Label {
    /// Shows those that something wears, by their names.
    pub(super) fn worn(
        repo: &state::Repo,
        names: &[String],
        window: &Window,
    ) -> Result<Option<Connection<Self>>> {
        let labels = names.iter().filter_map(|name| repo.label(name)).map(|label| Self::new(repo.id, label));
        window.on("labels", labels.collect()).map(Some)
    }

    pub(super) fn new(repo: u64, label: &state::Label) -> Self {
        Self {
            id: node_id(Node::Label { repo, id: label.id }).into(),
            name: label.name.clone(),
            color: label.color.clone(),
            description: label.description.clone(),
        }
    }
}
