//! Apps: programs with an identity of their own, installed where somebody wants them.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::state::Repo;

/// An app.
#[derive(Debug, Clone)]
pub struct App {
    /// The id that its own tokens name.
    pub id: u64,
    /// Its bot is called `slug[bot]`.
    pub slug: String,
    /// The name shown to people.
    pub name: String,
    /// The login of who made it.
    pub owner: String,
    /// What its own tokens are verified with: an RSA key in PKCS#1.
    pub public_key: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Where it is installed.
    pub installations: Vec<Installation>,
}

/// An app in somebody's repositories.
#[derive(Debug, Clone)]
pub struct Installation {
    /// The database id.
    pub id: u64,
    /// Whose repositories.
    pub account: String,
    /// Which ones, as `owner/name`.
    pub repos: Vec<String>,
    /// What was granted at most.
    pub permissions: BTreeMap<String, Level>,
}

/// What a token of an installation is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// `owner/name` of each repository.
    pub repos: Vec<String>,
    /// What may be done there.
    pub permissions: BTreeMap<String, Level>,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// How far a permission goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only looking.
    Read,
    /// Changing too.
    Write,
}

impl App {
    /// The login of its bot.
    pub fn bot(&self) -> String {
        format!("{}[bot]", self.slug)
    }

    /// The other id that its own tokens may name.
    pub fn client_id(&self) -> String {
        format!("Iv23li{}", self.id)
    }
}

impl Grant {
    /// Whether any of these permissions is there for a repository.
    pub fn allows(&self, repo: &Repo, any_of: &[&str], level: Level) -> bool {
        self.holds(repo) && any_of.iter().any(|name| self.permissions.get(*name) >= Some(&level))
    }

    /// Whether it is about this repository.
    pub fn holds(&self, repo: &Repo) -> bool {
        self.repos.iter().any(|name| name.eq_ignore_ascii_case(&repo.full_name()))
    }
}

impl Level {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// Reads the word on the wire.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Read, Self::Write].into_iter().find(|level| level.word() == word)
    }
}
