//! What the agent may push, decided on what git says of the push: refs, committers, paths and modes.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

/// What the agent may push, and where it goes on to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Where what passes is pushed to.
    pub url: String,
    /// How new branches of this run begin, such as `opencode/issue1-`.
    pub prefix: String,
    /// The pull request's own branch, if it may be pushed to.
    pub head: Option<String>,
    /// Branches that are never pushed to: the default one and those that are protected.
    pub closed: Vec<String>,
    /// Patterns of paths that may not be touched.
    pub protected_paths: Vec<String>,
    /// The address that every commit has to be committed with.
    pub committer: String,
}

/// Paths that are protected if nobody says otherwise: what runs with secrets, and secrets.
pub const PROTECTED_PATHS: [&str; 9] = [
    ".github/workflows/**",
    ".github/actions/**",
    "**/.env",
    "**/.env.local",
    "**/*.pem",
    "**/*.p12",
    "**/*.pfx",
    "**/id_rsa",
    "**/id_ed25519",
];

/// Why a push is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    /// The ref is not one of the run's.
    #[error("`{0}` is not yours to push; push to a branch that begins with `{1}`")]
    NotYours(String, String),
    /// The branch is the default one or protected.
    #[error("the branch `{0}` is protected")]
    Closed(String),
    /// A ref would be deleted.
    #[error("`{0}` would be deleted")]
    Delete(String),
    /// Commits that are there would be gone.
    #[error("`{0}` would be rewritten; add commits to it instead")]
    Rewrite(String),
    /// A tag would be made or moved.
    #[error("tags are not pushed")]
    Tag,
    /// A protected file is touched, if only for a while.
    #[error("commit {commit} touches `{path}`, which is protected, even if a later commit takes it back")]
    Path {
        /// By which commit.
        commit: String,
        /// Which.
        path: String,
    },
    /// A link or a submodule is made.
    #[error("commit {commit} makes `{path}` {what}")]
    Mode {
        /// By which commit.
        commit: String,
        /// Which file.
        path: String,
        /// A link or a submodule.
        what: &'static str,
    },
    /// Somebody else's name is on it.
    #[error("commit {commit} is committed by `{by}`, not by `{own}`; leave git's identity as it is")]
    Committer {
        /// Which commit.
        commit: String,
        /// Whose address it has.
        by: String,
        /// Whose it should have.
        own: String,
    },
    /// What git said could not be read, or the rules themselves.
    #[error("the push cannot be understood")]
    Unclear,
}

/// One line of what a push would do: `old new ref`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Update {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) name: String,
}

impl Update {
    /// Tells whether the ref was not there before.
    pub(super) fn is_new(&self) -> bool {
        self.old.bytes().all(|byte| byte == b'0')
    }

    /// Reads a line that git gives to `pre-receive`.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ').map(str::to_owned);
        let update = Self { old: words.next()?, new: words.next()?, name: words.next()? };
        let is_hash = |text: &str| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        (words.next().is_none() && is_hash(&update.old) && is_hash(&update.new)).then_some(update)
    }
}

impl Rules {
    /// Decides on a ref.
    pub(super) fn check_ref(&self, update: &Update) -> Result<(), Refused> {
        let name = &update.name;
        if update.new.bytes().all(|byte| byte == b'0') {
            return Err(Refused::Delete(name.clone()));
        }
        if name.starts_with("refs/tags/") {
            return Err(Refused::Tag);
        }
        let not_yours = || Refused::NotYours(name.clone(), self.prefix.clone());
        let branch = name.strip_prefix("refs/heads/").ok_or_else(not_yours)?;
        if self.closed.iter().any(|closed| closed.eq_ignore_ascii_case(branch)) {
            return Err(Refused::Closed(branch.to_owned()));
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        let is_new = branch.starts_with(&self.prefix) && branch.bytes().all(plain);
        if is_new || self.head.as_deref() == Some(branch) { Ok(()) } else { Err(not_yours()) }
    }

    /// Decides on what commits do to files, as `git diff-tree --raw -z` tells it of each new commit and parent.
    pub(super) fn check_files(&self, told: &[u8]) -> Result<(), Refused> {
        let protected = self.protected()?;
        let mut words = told.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let mut commit = String::new();
        while let Some(word) = words.next() {
            let Some(about) = word.strip_prefix(':') else {
                commit = word.chars().take(7).collect();
                continue;
            };
            let path = words.next().ok_or(Refused::Unclear)?.into_owned();
            let mode = about.split(' ').nth(1).ok_or(Refused::Unclear)?;
            if protected.is_match(&path) || path.eq_ignore_ascii_case(".gitmodules") {
                return Err(Refused::Path { commit, path });
            }
            match mode {
                "120000" => return Err(Refused::Mode { commit, path, what: "a symbolic link" }),
                "160000" => return Err(Refused::Mode { commit, path, what: "a submodule" }),
                "000000" | "100644" | "100755" => {}
                _ => return Err(Refused::Unclear),
            }
        }
        Ok(())
    }

    /// Decides on who committed, told as lines of `commit address`.
    pub(super) fn check_committers(&self, told: &str) -> Result<(), Refused> {
        for line in told.lines() {
            let (commit, by) = line.split_once(' ').ok_or(Refused::Unclear)?;
            if by != self.committer {
                let (commit, own) = (commit.chars().take(7).collect(), self.committer.clone());
                return Err(Refused::Committer { commit, by: by.to_owned(), own });
            }
        }
        Ok(())
    }

    /// Reads the patterns; case does not save a path, since it does not on every machine.
    fn protected(&self) -> Result<GlobSet, Refused> {
        let mut set = GlobSetBuilder::new();
        for pattern in &self.protected_paths {
            let glob = GlobBuilder::new(pattern).case_insensitive(true).build();
            set.add(glob.map_err(|_| Refused::Unclear)?);
        }
        set.build().map_err(|_| Refused::Unclear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules {
            url: String::new(),
            prefix: "opencode/issue1-".to_owned(),
            head: Some("new-seal".to_owned()),
            closed: vec!["main".to_owned(), "release".to_owned()],
            protected_paths: PROTECTED_PATHS.map(str::to_owned).into(),
            committer: "1+fro-bot@users.noreply.github.com".to_owned(),
        }
    }

    #[track_caller]
    fn check(decision: Result<(), Refused>, expected: &str) {
        assert_eq!(decision.map_or_else(|refused| refused.to_string(), |()| "yes".to_owned()), expected);
    }

    #[track_caller]
    fn check_ref(name: &str, expected: &str) {
        let line = format!("{} {} {name}", "0".repeat(40), "a".repeat(40));
        check(rules().check_ref(&Update::parse(&line).unwrap()), expected);
    }

    #[test]
    fn only_branches_of_the_run_are_pushed() {
        check_ref("refs/heads/opencode/issue1-20260504", "yes");
        check_ref("refs/heads/new-seal", "yes");
        check_ref("refs/heads/main", "the branch `main` is protected");
        check_ref("refs/heads/MAIN", "the branch `MAIN` is protected");
        check_ref("refs/tags/v1", "tags are not pushed");
        let not_yours = |name: &str| {
            format!("`{name}` is not yours to push; push to a branch that begins with `opencode/issue1-`")
        };
        for name in [
            "refs/heads/opencode/issue10",
            "refs/heads/x",
            "refs/pull/1/head",
            "refs/heads/opencode/issue1-\u{e9}",
        ] {
            check_ref(name, &not_yours(name));
        }
    }

    #[test]
    fn nothing_is_deleted() {
        let line = format!("{} {} refs/heads/opencode/issue1-x", "a".repeat(40), "0".repeat(40));
        let update = Update::parse(&line).unwrap();
        check(rules().check_ref(&update), "`refs/heads/opencode/issue1-x` would be deleted");
    }

    #[test]
    fn a_line_that_is_no_update_is_none() {
        let hash = "a".repeat(40);
        for line in ["", "a b c", &format!("{hash} {hash}"), &format!("{hash} {hash} r x")] {
            assert_eq!(Update::parse(line), None, "{line}");
        }
    }

    #[track_caller]
    fn check_file(mode: &str, path: &str, expected: &str) {
        let told = format!("0123456789\0:100644 {mode} a b M\0{path}\0");
        check(rules().check_files(told.as_bytes()), expected);
    }

    #[test]
    fn protected_files_links_and_submodules_are_refused() {
        check_file("100644", "tap.rs", "yes");
        check_file("000000", "tap.rs", "yes");
        check_file("100755", "docs/.github/workflows.md", "yes");
        let protected = |path: &str| {
            format!(
                "commit 0123456 touches `{path}`, which is protected, even if a later commit takes it back"
            )
        };
        for path in [
            ".github/workflows/ci.yml",
            ".GitHub/Workflows/a/b.yml",
            ".env",
            "app/.env",
            "a/key.pem",
            ".gitmodules",
        ] {
            check_file("100644", path, &protected(path));
            check_file("000000", path, &protected(path));
        }
        check_file("120000", "x", "commit 0123456 makes `x` a symbolic link");
        check_file("160000", "x", "commit 0123456 makes `x` a submodule");
        check_file("777777", "x", "the push cannot be understood");
    }

    #[test]
    fn a_path_that_looks_like_git_s_own_words_is_a_path() {
        let told = b"0123456\0:100644 100644 a b M\0:100644 100644 c d M\0:100644 120000 a b M\0x\0";
        check(rules().check_files(told), "commit 0123456 makes `x` a symbolic link");
    }

    #[test]
    fn nobody_else_s_name_is_on_it() {
        check(rules().check_committers("0123456789 1+fro-bot@users.noreply.github.com"), "yes");
        check(
            rules().check_committers("0123456789 maya@garden.example"),
            "commit 0123456 is committed by `maya@garden.example`, not by \
             `1+fro-bot@users.noreply.github.com`; leave git's identity as it is",
        );
    }
}
