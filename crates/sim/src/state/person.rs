//! Accounts, and what they are to a repository.

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The database id.
    pub id: u64,
    /// The login; an app's ends with `[bot]`.
    pub login: String,
    /// The name shown beside it.
    pub name: String,
    /// What kind of account it is.
    pub kind: PersonKind,
}

/// Kinds of accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonKind {
    /// A person, or a machine that uses a person's account.
    User,
    /// The identity of an app, whose tokens are installation tokens.
    Bot,
}

/// What an account may do in a repository, by the names of GitHub's roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Sees a private repository.
    Read,
    /// Sorts issues.
    Triage,
    /// Pushes.
    Write,
    /// Keeps house.
    Maintain,
    /// Owns it.
    Admin,
}

/// How GitHub describes an author beside their words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Association {
    /// The owner of a person's repository.
    Owner,
    /// A member of the owning organisation.
    Member,
    /// Invited to the repository.
    Collaborator,
    /// Has a merged commit.
    Contributor,
    /// Contributes here for the first time.
    FirstTimeContributor,
    /// Contributes anywhere for the first time.
    FirstTimer,
    /// Nothing of these.
    None,
}

impl Role {
    /// GitHub's `role_name`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
        }
    }

    /// The older, coarser `permission`.
    pub fn permission(self) -> &'static str {
        match self {
            Self::Read | Self::Triage => "read",
            Self::Write | Self::Maintain => "write",
            Self::Admin => "admin",
        }
    }
}

impl Association {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Owner => "OWNER",
            Self::Member => "MEMBER",
            Self::Collaborator => "COLLABORATOR",
            Self::Contributor => "CONTRIBUTOR",
            Self::FirstTimeContributor => "FIRST_TIME_CONTRIBUTOR",
            Self::FirstTimer => "FIRST_TIMER",
            Self::None => "NONE",
        }
    }
}
