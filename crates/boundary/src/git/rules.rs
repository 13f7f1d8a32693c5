//! What the agent may push, decided on what git says of the push: refs, people, paths and modes.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::git::people::Signature;

/// What the agent may push, and where it goes on to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Where what passes is pushed to.
    pub url: String,
    /// The one branch of this run.
    pub branch: String,
    /// Whether that is there already.
    pub stands: BranchState,
    /// Branches that are never pushed to: the default one and those that are protected.
    pub closed: Vec<String>,
    /// Patterns of paths that may not be touched.
    pub protected_paths: Vec<String>,
    /// Whose name every commit has to have, as author and as committer.
    pub signature: Signature,
    /// Who asked for the work, and may be named beside.
    pub co_author: Option<Box<Signature>>,
}

/// Whether a branch is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchState {
    /// It is, with the commit that the agent starts from.
    Already,
    /// The first push makes it.
    NotYet,
}

/// Paths that are protected whatever anybody says: what runs with secrets, what decides who has a say, and secrets.
pub const PROTECTED_PATHS: [&str; 24] = [
    ".github/workflows/**",
    ".github/actions/**",
    ".github/fro-bot.toml",
    ".github/dependabot.yml",
    ".github/dependabot.yaml",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".github/CODEOWNERS",
    "**/action.yml",
    "**/action.yaml",
    "**/.gitattributes",
    "**/.env",
    "**/.env.local",
    "**/.netrc",
    "**/.npmrc",
    "**/.pypirc",
    "**/.git-credentials",
    "**/*.pem",
    "**/*.p12",
    "**/*.pfx",
    "**/*.jks",
    "**/id_rsa",
    "**/id_ed25519",
    "**/terraform.tfstate",
];

/// Why a push is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    /// The ref is not one of the run's.
    #[error("`{0}` is not yours to push; this run has one branch, `{1}`")]
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
    #[error(
        "commit {commit} has the {role} `{by}`, not `{own}`; leave git's identity as it is (`git commit --amend \
         --reset-author` puts it right)"
    )]
    Identity {
        /// Which commit.
        commit: String,
        /// Author or committer.
        role: &'static str,
        /// Whose name it has.
        by: String,
        /// Whose it should have.
        own: String,
    },
    /// Somebody else is named as an author in its message.
    #[error(
        "commit {commit} names `{by}` in a line of its message, who has no part in it; take that line out"
    )]
    Named {
        /// Which commit.
        commit: String,
        /// Who.
        by: String,
    },
    /// A commit says more than commits do.
    #[error("commit {commit} has a header that is not expected; make it with plain `git commit`")]
    Header {
        /// Which commit.
        commit: String,
    },
    /// A credential would be published.
    #[error("commit {commit} has a credential in {place}; take it out of every commit of the push")]
    Secret {
        /// Which commit.
        commit: String,
        /// Where, in words that do not repeat it.
        place: String,
    },
    /// A file that LFS keeps would be pushed without what it stands for.
    #[error(
        "commit {commit} changes `{path}`, which Git LFS keeps: only its pointer is here, and its content cannot be \
         uploaded from here, so leave it as it is"
    )]
    Lfs {
        /// By which commit.
        commit: String,
        /// Which.
        path: String,
    },
    /// The push unpacks to too much.
    #[error("the push unpacks to more than {0} MiB; push no large files")]
    TooLarge(u64),
    /// There are more refs than anybody can mean.
    #[error("the push has more than {0} refs; this run has one branch, `{1}`")]
    TooMany(usize, String),
    /// What git said could not be read, or the rules themselves.
    #[error("the push cannot be understood")]
    Unclear,
}

/// What a commit does to one file, or to a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The commit, shortened.
    pub(super) commit: String,
    pub(super) path: String,
    /// What the file held, by its hash, or nothing.
    pub(super) old: String,
    /// What it holds now.
    pub(super) new: String,
}

impl Change {
    /// Returns the hashes of the contents that can be read.
    pub(super) fn contents(&self) -> impl Iterator<Item = &str> {
        [&self.old, &self.new].into_iter().map(String::as_str).filter(|id| !id.is_empty())
    }
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
        let not_yours = || Refused::NotYours(name.clone(), self.branch.clone());
        let branch = name.strip_prefix("refs/heads/").ok_or_else(not_yours)?;
        if self.closed.iter().any(|closed| closed.eq_ignore_ascii_case(branch)) {
            return Err(Refused::Closed(branch.to_owned()));
        }
        if branch == self.branch { Ok(()) } else { Err(not_yours()) }
    }

    /// Decides on what commits do to files, as `git diff-tree --raw -t -z` tells it of each new commit and parent, and
    /// returns the changes.
    pub(super) fn check_files(&self, told: &[u8]) -> Result<Vec<Change>, Refused> {
        let protected = self.protected()?;
        let mut words = told.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let (mut commit, mut changes) = (String::new(), Vec::new());
        while let Some(word) = words.next() {
            let Some(about) = word.strip_prefix(':') else {
                commit = word.chars().take(7).collect();
                continue;
            };
            let path = words.next().ok_or(Refused::Unclear)?.into_owned();
            let about: Vec<&str> = about.split(' ').collect();
            let [was, mode, old, new, ..] = about[..] else { return Err(Refused::Unclear) };
            if protected.is_match(&path) || path.eq_ignore_ascii_case(".gitmodules") {
                return Err(Refused::Path { commit, path });
            }
            match mode {
                "120000" => return Err(Refused::Mode { commit, path, what: "a symbolic link" }),
                "160000" => return Err(Refused::Mode { commit, path, what: "a submodule" }),
                "000000" | "040000" | "100644" | "100755" => {}
                _ => return Err(Refused::Unclear),
            }
            let content =
                |mode: &str, id: &str| if mode.starts_with("100") { id.to_owned() } else { String::new() };
            changes.push(Change {
                commit: commit.clone(),
                path,
                old: content(was, old),
                new: content(mode, new),
            });
        }
        Ok(changes)
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
            branch: "opencode/issue1-2".to_owned(),
            stands: BranchState::NotYet,
            closed: vec!["main".to_owned(), "release".to_owned()],
            protected_paths: PROTECTED_PATHS.map(str::to_owned).into(),
            signature: Signature {
                name: "fro-bot".to_owned(),
                email: "1+fro-bot@users.noreply.github.com".to_owned(),
            },
            co_author: None,
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
    fn only_the_branch_of_the_run_is_pushed() {
        check_ref("refs/heads/opencode/issue1-2", "yes");
        check_ref("refs/heads/main", "the branch `main` is protected");
        check_ref("refs/heads/MAIN", "the branch `MAIN` is protected");
        check_ref("refs/tags/v1", "tags are not pushed");
        let not_yours = |name: &str| {
            format!("`{name}` is not yours to push; this run has one branch, `opencode/issue1-2`")
        };
        for name in [
            "refs/heads/opencode/issue1-20",
            "refs/heads/opencode/issue1-",
            "refs/heads/x",
            "refs/pull/1/head",
            "refs/heads/opencode/issue1-2\u{e9}",
        ] {
            check_ref(name, &not_yours(name));
        }
    }

    #[test]
    fn nothing_is_deleted() {
        let line = format!("{} {} refs/heads/opencode/issue1-2", "a".repeat(40), "0".repeat(40));
        let update = Update::parse(&line).unwrap();
        check(rules().check_ref(&update), "`refs/heads/opencode/issue1-2` would be deleted");
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
        check(rules().check_files(told.as_bytes()).map(drop), expected);
    }

    #[test]
    fn protected_files_links_and_submodules_are_refused() {
        check_file("100644", "tap.rs", "yes");
        check_file("000000", "tap.rs", "yes");
        check_file("100755", "docs/.github/workflows.md", "yes");
        check_file("040000", "docs", "yes");
        check_file("100644", "src/CODEOWNERS.md", "yes");
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
            ".github/fro-bot.toml",
            ".github/dependabot.yml",
            "CODEOWNERS",
            "docs/CODEOWNERS",
            ".github/codeowners",
            "action.yml",
            "tools/pump/Action.yaml",
            ".gitattributes",
            "deep/er/.gitattributes",
            ".github/actions/pump/index.js",
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
        check(rules().check_files(told).map(drop), "commit 0123456 makes `x` a symbolic link");
    }
}
