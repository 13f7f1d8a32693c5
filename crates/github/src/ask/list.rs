//! Lists as GraphQL writes them.

use serde::Deserialize;

/// A part of a list, and how long the whole one is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counted<T> {
    pub(crate) total_count: usize,
    pub(crate) nodes: Vec<T>,
}

/// A list.
#[derive(Deserialize)]
pub(crate) struct Listed<T> {
    pub(crate) nodes: Vec<T>,
}

/// What is asked of a repository; nothing if there is none.
#[derive(Deserialize)]
pub(crate) struct InRepository<T> {
    pub(crate) repository: Option<T>,
}

/// Something of which only the name is asked.
#[derive(Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
}
