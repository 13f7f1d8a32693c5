//! A label of a repository.

/// A label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The database id.
    pub id: u64,
    /// What it says.
    pub name: String,
    /// Six hexadecimal digits.
    pub color: String,
    /// What it means.
    pub description: Option<String>,
}
