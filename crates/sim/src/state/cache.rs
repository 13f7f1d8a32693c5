//! The Actions cache: entries that are written once, and the runs that may do so.

use std::collections::BTreeMap;

use axum::body::Bytes;
use data_encoding::BASE64URL_NOPAD;
use jiff::Timestamp;
use serde_json::{Value, json};

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
        let token = runtime_token(scopes, cache);
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        Self { token, repo: repo.to_owned(), scopes, cache }
    }
}

/// Writes a token as the runner gets it: a JWT that says what may be done. Nobody here can check who signed it.
fn runtime_token(scopes: &[&str], cache: CacheAccess) -> String {
    let part = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let (reads, writes) = (u8::from(cache.reads()), 2 * u8::from(cache.writes()));
    let may = |(place, scope): (usize, &&str)| {
        // It writes to the nearest scope only.
        json!({ "Scope": scope, "Permission": reads + if place == 0 { writes } else { 0 } })
    };
    let scopes: Vec<_> = scopes.iter().enumerate().map(may).collect();
    let now = Timestamp::now().as_second();
    let (plan, job) = (random_letters(32).to_lowercase(), random_letters(32).to_lowercase());
    let claims = json!({
        "ac": Value::from(scopes).to_string(),
        "acsl": "10",
        "aud": "vso:simulated",
        "iss": "https://token.actions.githubusercontent.com",
        "orch_id": format!("{plan}.agent.__default"),
        "plan_id": plan,
        "scp": format!("Actions.Results:{plan}:{job} Actions.UploadArtifacts:{plan}:{job}"),
        "nbf": now - 300,
        "iat": now,
        "exp": now + 6 * 3600,
    });
    let header = json!({ "typ": "JWT", "alg": "RS256", "kid": "simulated" });
    format!("{}.{}.{}", part(header), part(claims), random_letters(64))
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
