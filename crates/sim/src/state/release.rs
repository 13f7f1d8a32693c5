//! What can be downloaded: the files of releases, and those that people put into their texts.

use axum::body::Bytes;
use jiff::Timestamp;

use crate::state::random_letters;

/// A release.
#[derive(Debug, Clone)]
pub struct Release {
    /// The database id.
    pub id: u64,
    /// The tag that it stands at.
    pub tag: String,
    /// Its name.
    pub name: String,
    /// Markdown.
    pub body: String,
    /// Who made it.
    pub author: String,
    /// Whether only those who may push see it.
    pub draft: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its files.
    pub assets: Vec<Asset>,
}

/// A file of a release.
#[derive(Debug, Clone)]
pub struct Asset {
    /// The database id.
    pub id: u64,
    /// What it is called.
    pub name: String,
    /// Its contents.
    pub file: File,
}

/// A picture or another file in somebody's text.
#[derive(Debug, Clone)]
pub struct Attachment {
    /// The last part of its address.
    pub id: String,
    /// `owner/name` of where the text stands.
    pub repo: String,
    /// What it is called.
    pub name: String,
    /// Its contents.
    pub file: File,
}

/// Contents that are stored elsewhere, at a signed address.
#[derive(Debug, Clone)]
pub struct File {
    /// The media type.
    pub kind: String,
    /// The bytes.
    pub bytes: Bytes,
    /// What its address is signed with.
    pub signature: String,
}

impl File {
    /// Contents of a media type.
    pub fn new(kind: &str, bytes: impl Into<Bytes>) -> Self {
        Self { kind: kind.to_owned(), bytes: bytes.into(), signature: random_letters(32) }
    }
}
