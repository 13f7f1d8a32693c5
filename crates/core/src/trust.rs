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
    /// This program itself.
    Harness,
}

impl Trust {
    /// Returns the trust that goes with a permission in the repository.
    pub fn of(permission: Permission) -> Self {
        if permission >= Permission::Write { Self::Maintainer } else { Self::Stranger }
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
        assert_eq!(Trust::of(Permission::Write), Trust::Maintainer);
        assert_eq!(Trust::of(Permission::Triage), Trust::Stranger);
    }
}
