//! How far a text may be believed.

use crate::names::{Login, Permission};

/// Whose words a text is. Only the first two may instruct the agent by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Anybody's: data, never instruction.
    Stranger,
    /// Somebody who may push to the repository.
    Maintainer,
    /// Whoever wrote the workflow.
    Operator,
    /// The harness wrote the text.
    Harness,
}

impl Trust {
    /// Returns the trust that goes with a permission in the repository.
    pub fn from_permission(permission: Permission) -> Self {
        if permission >= Permission::Write { Self::Maintainer } else { Self::Stranger }
    }

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stranger => "stranger",
            Self::Maintainer => "maintainer",
            Self::Operator => "operator",
            Self::Harness => "harness",
        }
    }

    /// Reads the word for it; an unknown one is a stranger's.
    pub fn from_word(word: &str) -> Self {
        let known = [Self::Maintainer, Self::Operator, Self::Harness];
        known.into_iter().find(|trust| trust.word() == word).unwrap_or(Self::Stranger)
    }
}

/// A text with the one who said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Who said it.
    pub who: Login,
    /// How far it may be believed.
    pub trust: Trust,
    /// What was said.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_who_may_push_are_maintainers() {
        assert_eq!(Trust::from_permission(Permission::Write), Trust::Maintainer);
        assert_eq!(Trust::from_permission(Permission::Triage), Trust::Stranger);
    }
}
