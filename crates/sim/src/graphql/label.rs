//! A label.

use async_graphql::{Enum, ID, InputObject, Result, SimpleObject};
use percent_encoding::utf8_percent_encode;

use crate::{
    graphql::{
        connection::{Connection, Window},
        repository::OrderDirection,
        scalar::{DateTime, Uri},
    },
    rest::IN_A_PATH,
    state::{self, Node, node_id},
};

#[derive(Clone, SimpleObject)]
pub(super) struct Label {
    pub(super) id: ID,
    name: String,
    color: String,
    description: Option<String>,
    is_default: bool,
    created_at: Option<DateTime>,
    updated_at: Option<DateTime>,
    url: Uri,
}

/// In which order labels are told.
#[derive(Clone, Copy, InputObject)]
pub(super) struct LabelOrder {
    pub(super) field: LabelOrderField,
    pub(super) direction: OrderDirection,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum LabelOrderField {
    CreatedAt,
    Name,
}

impl Label {
    /// Shows those that something wears, by their names.
    pub(super) fn worn(
        address: &str,
        repo: &state::Repo,
        names: &[String],
        window: &Window,
    ) -> Result<Option<Connection<Self>>> {
        let labels = names.iter().filter_map(|name| repo.label(name));
        window.on("labels", labels.map(|label| Self::new(address, repo, label)).collect()).map(Some)
    }

    pub(super) fn new(address: &str, repo: &state::Repo, label: &state::Label) -> Self {
        let page = utf8_percent_encode(&label.name, IN_A_PATH);
        Self {
            id: node_id(Node::Label { repo: repo.id, id: label.id }).into(),
            name: label.name.clone(),
            color: label.color.clone(),
            description: label.description.clone(),
            is_default: false,
            created_at: Some(DateTime(repo.created_at)),
            updated_at: Some(DateTime(repo.created_at)),
            url: Uri(format!("{address}/{}/labels/{page}", repo.full_name())),
        }
    }
}
