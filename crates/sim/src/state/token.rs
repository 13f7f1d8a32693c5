//! Tokens: whose they are and what they are good for.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher as _, Hasher as _},
    iter,
};

use jiff::Timestamp;

use crate::state::{Grant, PersonKind};

/// A token that was given out.
#[derive(Debug, Clone)]
pub struct Token {
    /// What is sent as bearer.
    pub text: String,
    /// Whose it is.
    pub login: String,
    /// What it is good for.
    pub access: TokenAccess,
    /// What it was granted, if it is an installation's.
    pub grant: Option<Grant>,
    /// Whether it is refused by now.
    pub expired: bool,
    /// How many calls were made with it, for the rate limits.
    pub used: Used,
}

/// How many calls were made with a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// To REST.
    pub core: u64,
    /// To GraphQL.
    pub graphql: u64,
    /// Searches, and the minute that they were made in.
    pub searches: (i64, u64),
}

/// Calls are counted apart by what they are made to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pool {
    /// REST.
    Core,
    /// GraphQL.
    Graphql,
    /// Searching by REST, which is counted by the minute.
    Search,
}

/// What a token is good for, at most: its owner's role counts too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenAccess {
    /// Whatever its owner may do.
    Full,
    /// Only looking, like the token of a run on a fork.
    ReadOnly,
}

impl Token {
    pub(crate) fn new(login: &str, kind: PersonKind, access: TokenAccess) -> Self {
        let prefix = match kind {
            PersonKind::User => "ghp",
            PersonKind::Bot => "ghs",
        };
        let text = format!("{prefix}_{}", random_letters(36));
        Self { text, login: login.to_owned(), access, grant: None, expired: false, used: Used::default() }
    }

    /// How many calls an hour are allowed; of searches, a minute. A job's own token has fewer than any other.
    pub(crate) fn limit(&self, pool: Pool) -> u64 {
        match pool {
            Pool::Search => 30,
            Pool::Core | Pool::Graphql if self.login == "github-actions[bot]" => 1_000,
            Pool::Core | Pool::Graphql => 5_000,
        }
    }

    pub(crate) fn used(&self, pool: Pool, now: Timestamp) -> u64 {
        match pool {
            Pool::Core => self.used.core,
            Pool::Graphql => self.used.graphql,
            Pool::Search if self.used.searches.0 == minute(now) => self.used.searches.1,
            Pool::Search => 0,
        }
    }

    pub(crate) fn spend(&mut self, pool: Pool, points: u64, now: Timestamp) {
        match pool {
            Pool::Core => self.used.core += points,
            Pool::Graphql => self.used.graphql += points,
            Pool::Search => self.used.searches = (minute(now), self.used(pool, now) + points),
        }
    }
}

fn minute(now: Timestamp) -> i64 {
    now.as_second().div_euclid(60)
}

impl Pool {
    /// The pool of an address.
    pub(crate) fn for_path(path: &str) -> Self {
        match path {
            "/graphql" => Self::Graphql,
            _ if path.starts_with("/search/") => Self::Search,
            _ => Self::Core,
        }
    }

    /// When there is all of it again: at the next full hour, or minute.
    pub(crate) fn reset(self, now: Timestamp) -> Timestamp {
        let length = if self == Self::Search { 60 } else { 3600 };
        let now = now.as_second();
        Timestamp::from_second(now - now.rem_euclid(length) + length).unwrap_or_default()
    }

    /// The word in headers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Graphql => "graphql",
            Self::Search => "search",
        }
    }
}

/// Letters and digits nobody can foresee, so that a leaked token is found by its text alone.
pub(crate) fn random_letters(n: usize) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // Every RandomState has other keys.
    let numbers = iter::repeat_with(|| RandomState::new().build_hasher().finish() % 62);
    let letters = numbers.filter_map(|number| LETTERS.get(usize::try_from(number).ok()?));
    letters.take(n).map(|letter| char::from(*letter)).collect()
}
