//! A session that was shared.

use serde_json::Value;

/// A session that was shared.
#[derive(Debug, Clone)]
pub struct Share {
    /// What it is known by.
    pub id: String,
    /// The session's own id.
    pub session: String,
    /// Opens it for its owner.
    pub secret: String,
    /// Its parts, each with what it is known by.
    pub data: Vec<(String, Value)>,
}
