//! Where the changes to somebody's pull request go.

use crate::names::RepoName;

/// Where a pull request's branch is, as far as pushing to it is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullBranch {
    /// In the repository itself; whether the branch is protected is another question.
    Here,
    /// In a fork whose owner lets maintainers push, and the credential reaches it.
    Fork(RepoName),
    /// Where nobody of us may push: changes are shown as a patch.
    Closed {
        /// What the branch is in, in words.
        fork: String,
    },
}

/// Says whether a credential opens other repositories than the one it was given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialReach {
    /// An App's or a workflow's token.
    OneRepository,
    /// A person's token.
    Person,
}

impl PullBranch {
    /// Decides by where the branch is, whether maintainers may push there, and what the credential opens.
    pub fn decide(
        own: &RepoName,
        head: Option<&RepoName>,
        is_open_to_maintainers: bool,
        credential: CredentialReach,
    ) -> Self {
        match head {
            Some(head) if head == own => Self::Here,
            Some(head) if is_open_to_maintainers && credential == CredentialReach::Person => {
                Self::Fork(head.clone())
            }
            Some(head) => Self::Closed { fork: format!("the fork {head}") },
            None => Self::Closed { fork: "a fork that is gone".to_owned() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_is_pushed_to_only_if_its_owner_and_the_credential_allow_it() {
        let name = |name| RepoName::parse(name).unwrap();
        let (own, fork) = (name("octo/garden"), name("rita/garden"));
        let closed = |fork: &str| PullBranch::Closed { fork: fork.to_owned() };
        let (plain, person) = (CredentialReach::OneRepository, CredentialReach::Person);
        let table = [
            (Some(&own), false, plain, PullBranch::Here),
            (Some(&own), true, person, PullBranch::Here),
            (Some(&fork), true, person, PullBranch::Fork(fork.clone())),
            (Some(&fork), true, plain, closed("the fork rita/garden")),
            (Some(&fork), false, person, closed("the fork rita/garden")),
            (None, true, person, closed("a fork that is gone")),
        ];
        for (head, is_open, credential, expect) in table {
            let decided = PullBranch::decide(&own, head, is_open, credential);
            assert_eq!(decided, expect, "{head:?} {is_open} {credential:?}");
        }
    }
}
