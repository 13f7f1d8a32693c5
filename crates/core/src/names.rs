//! The things a run is about, by name: repositories, people, permissions, reactions.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A repository as GitHub writes it, `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoName {
    owner: String,
    name: String,
}

/// A text that is not a repository's name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a repository name like `octo/garden`")]
pub struct BadName(String);

impl RepoName {
    /// Parses `owner/name`, refusing anything that could change a path or a URL.
    pub fn parse(text: &str) -> Result<Self, BadName> {
        let bad = || BadName(text.chars().take(100).collect());
        let (owner, name) = text.split_once('/').ok_or_else(bad)?;
        if is_name(owner) && is_name(name) {
            Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
        } else {
            Err(bad())
        }
    }

    /// Returns who the repository belongs to.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Returns the repository's own name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn is_name(text: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=100).contains(&text.len()) && text.chars().all(known) && text != "." && text != ".."
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl TryFrom<String> for RepoName {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        Self::parse(&text)
    }
}

impl From<RepoName> for String {
    fn from(name: RepoName) -> Self {
        name.to_string()
    }
}

impl FromStr for RepoName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        Self::parse(text)
    }
}

/// A person's or a bot's login. GitHub compares logins without case, and so does this.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Login(String);

impl Login {
    /// Wraps a login as GitHub gave it.
    pub fn new(login: impl Into<String>) -> Self {
        Self(login.into())
    }

    /// Returns the login as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether both are the same account, taking an App's `slug` and `slug[bot]` as one.
    pub fn is_same_identity(&self, other: &Login) -> bool {
        fn bare(login: &str) -> &str {
            login.strip_suffix("[bot]").unwrap_or(login)
        }
        bare(&self.0).eq_ignore_ascii_case(bare(&other.0))
    }
}

impl PartialEq for Login {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for Login {}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What somebody may do in a repository, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Nothing, or not known there.
    None,
    /// May read.
    Read,
    /// May sort issues.
    Triage,
    /// May push.
    Write,
    /// May manage the repository short of its dangerous settings.
    Maintain,
    /// May do everything.
    Admin,
}

impl Permission {
    /// Reads GitHub's word for a role; an unknown (custom) role gives `None`.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "none" => Self::None,
            "read" | "pull" => Self::Read,
            "triage" => Self::Triage,
            "write" | "push" => Self::Write,
            "maintain" => Self::Maintain,
            "admin" => Self::Admin,
            _ => return None,
        })
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
        })
    }
}

/// The reactions that this bot leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// 👀: seen, at work.
    Eyes,
    /// 🎉: answered.
    Hooray,
    /// 😕: could not answer.
    Confused,
}

impl Reaction {
    /// Returns GitHub's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Eyes => "eyes",
            Self::Hooray => "hooray",
            Self::Confused => "confused",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_name_is_two_plain_words() {
        assert_eq!(RepoName::parse("octo/garden").unwrap().to_string(), "octo/garden");
        for bad in
            ["octo", "octo/", "/garden", "octo/garden/more", "octo/..", "o c/to", "octo/gar?den", "octo/é"]
        {
            assert!(RepoName::parse(bad).is_err(), "{bad} must be refused");
        }
    }

    #[test]
    fn an_app_and_its_bot_are_one_identity() {
        let bot = Login::new("Fro-Bot[bot]");
        assert!(bot.is_same_identity(&Login::new("fro-bot")));
        assert!(!bot.is_same_identity(&Login::new("fro-bot-staging")));
    }

    #[test]
    fn permissions_are_ordered() {
        assert!(Permission::Triage < Permission::Write && Permission::Write < Permission::Admin);
        assert_eq!(Permission::from_word("made-up-role"), None);
    }
}
