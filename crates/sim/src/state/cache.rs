//! The Actions cache: entries that are written once, and the runs that may do so.

use std::collections::BTreeMap;

use axum::body::Bytes;
use jiff::Timestamp;

use crate::state::token::random_letters;

/// A run of a workflow, as far as its runtime token tells.
#[derive(Debug, Clone)]
pub struct Run {
    /// `ACTIONS_RUNTIME_TOKEN`.
    pub token: String,
    /// `owner/name`.
    pub repo: String,
    /// The refs whose entries it sees, nearest first; it writes to the first one.
    pub scopes: Vec<String>,
    /// Whether it writes at all.
    pub cache: CacheAccess,
}

/// What a run may do with the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheAccess {
    /// Read and write.
    Write,
    /// Read, like a run that a stranger can set off on the default branch.
    ReadOnly,
    /// Write, but see nothing.
    WriteOnly,
    /// Neither.
    None,
}

/// An entry; it can be found once its upload is finished.
#[derive(Debug, Clone)]
pub struct CacheEntry {
    /// The database id.
    pub id: u64,
    /// `owner/name`.
    pub repo: String,
    /// The ref it belongs to.
    pub scope: String,
    /// What it is looked for by, or by the beginning of which.
    pub key: String,
    /// A hash of what it holds and how it is packed.
    pub version: String,
    /// When its key was reserved.
    pub created_at: Timestamp,
    /// How far it has come.
    pub upload: Upload,
    /// The name of its blob.
    pub blob: String,
    /// What its upload address is signed with.
    pub write_signature: String,
    /// What its download address is signed with.
    pub read_signature: String,
}

/// How far an upload has come.
#[derive(Debug, Clone)]
pub enum Upload {
    /// The key is taken; blocks may have come, and perhaps a whole that is not yet final.
    Reserved {
        /// Blocks by their ids, not yet put together.
        blocks: BTreeMap<String, Bytes>,
        /// What would be final.
        whole: Option<Bytes>,
    },
    /// This is it, for ever.
    Finished(Bytes),
}

impl CacheAccess {
    /// The word that a workflow says it with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::ReadOnly => "read",
            Self::WriteOnly => "write-only",
            Self::None => "none",
        }
    }

    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteOnly)
    }

    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Write | Self::ReadOnly)
    }
}

impl Run {
    pub(crate) fn new(repo: &str, scopes: &[&str], cache: CacheAccess) -> Self {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        Self { token: random_letters(64), repo: repo.to_owned(), scopes, cache }
    }
}

impl CacheEntry {
    /// What it holds, once it is finished.
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.upload {
            Upload::Reserved { .. } => None,
            Upload::Finished(bytes) => Some(bytes),
        }
    }
}
