//! The clone that somebody sits before: what of it is looked at, found out without changing anything that they see.

use std::path::{Path, PathBuf};

use fro_core::{Bounded, Fault, Login, RepoName, say::log::harmless};
use fro_run::{Change, Commits};
use tokio::process::Command;

use super::repo_of;

/// Bytes of what the commits say.
const WORDS: usize = 20_000;

/// The branches that a change is compared with if nobody says, the first that is there.
const USUAL: [&str; 5] = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/// A clone.
pub(super) struct Clone {
    folder: PathBuf,
    repo: RepoName,
}

impl Clone {
    /// Finds the clone that a folder is in.
    pub(super) async fn find(folder: &Path) -> Result<Self, Fault> {
        let found = git(folder, &["rev-parse", "--show-toplevel"]).await;
        let top = found.map_err(|_| {
            let what = format!("`{}` is in no clone of a repository", folder.display());
            Fault::yours(what, "run it inside of one, or name that folder in `GITHUB_WORKSPACE`")
        })?;
        let folder = PathBuf::from(top);
        let remote = git(&folder, &["remote", "get-url", "origin"]).await.unwrap_or_default();
        let repo = repo_of(&remote, &folder)?;
        Ok(Self { folder, repo })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn repo(&self) -> &RepoName {
        &self.repo
    }

    /// Returns what is staged, if anything is. It becomes a commit on no branch, which git tidies away some day.
    pub(super) async fn staged(&self) -> Result<Option<Change>, Fault> {
        let base = self.commit("HEAD").await?;
        let tree = self.ask(&["write-tree"]).await?;
        let same = self.ask(&["rev-parse", "HEAD^{tree}"]).await?;
        if tree == same {
            return Ok(None);
        }
        let title = "What is staged for the next commit";
        let name = self.ask(&["config", "user.name"]).await.unwrap_or_else(|_| "you".to_owned());
        let identity = ["-c", "user.name=fro-bot", "-c", "user.email=fro-bot@localhost"];
        let commit = ["commit-tree", "--no-gpg-sign", &tree, "-p", &base, "-m", title];
        let head = self.ask(&[identity.as_slice(), commit.as_slice()].concat()).await?;
        let author = Login::new(harmless(&name));
        let (title, description) = (title.to_owned(), String::new());
        Ok(Some(Change::Commits(Commits { base, head, title, description, author })))
    }

    /// Returns what the end of a range has and its beginning has not, if there is anything.
    pub(super) async fn range(&self, range: Option<&str>) -> Result<Option<Change>, Fault> {
        let (from, to) = match range {
            Some(range) => ends(range),
            None => (self.usual_base().await?, "HEAD"),
        };
        let (base, head) = (self.commit(from).await?, self.commit(to).await?);
        let between = format!("{base}...{head}");
        // Git says by its exit code whether there is a difference.
        if self.ask(&["diff", "--quiet", "--no-ext-diff", "--no-textconv", &between, "--"]).await.is_ok() {
            return Ok(None);
        }
        let title = self.ask(&["log", "-1", "--format=%s", &head, "--"]).await?;
        let author = self.ask(&["log", "-1", "--format=%an", &head, "--"]).await?;
        let words = self.ask(&["log", "--reverse", "--format=%B", &format!("{base}..{head}"), "--"]).await?;
        let description = Bounded::text(&words, WORDS).noted();
        let author = Login::new(harmless(&author));
        Ok(Some(Change::Commits(Commits { base, head, title, description, author })))
    }

    async fn usual_base(&self) -> Result<&'static str, Fault> {
        for name in USUAL {
            if self.commit(name).await.is_ok() {
                return Ok(name);
            }
        }
        Err(Fault::yours(
            "this clone has no default branch to compare with",
            "say what to compare with: `fro-bot review main`, or look at what is staged: `fro-bot review --staged`",
        ))
    }

    async fn commit(&self, name: &str) -> Result<String, Fault> {
        let commit = format!("{name}^{{commit}}");
        let asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        self.ask(&asked).await.map_err(|_| {
            Fault::yours(
                format!("there is no commit `{}` in this clone", harmless(name)),
                "`git log --all --oneline` shows those that are there",
            )
        })
    }

    async fn ask(&self, arguments: &[&str]) -> Result<String, Fault> {
        git(&self.folder, arguments).await
    }
}

/// Returns both ends of a range; what is left out is the newest commit.
fn ends(range: &str) -> (&str, &str) {
    let parts = range.split_once("...").or_else(|| range.split_once(".."));
    let (from, to) = parts.unwrap_or((range, ""));
    (or_head(from), or_head(to))
}

fn or_head(name: &str) -> &str {
    if name.is_empty() { "HEAD" } else { name }
}

async fn git(folder: &Path, arguments: &[&str]) -> Result<String, Fault> {
    let mut git = Command::new("git");
    // None of these starts a program of the clone's own choice.
    let quiet = ["-c", "core.fsmonitor=false", "-c", "log.showSignature=false"];
    git.arg("-C").arg(folder).args(quiet).args(arguments);
    let told = git.output().await.map_err(|error| {
        Fault::yours(format!("cannot start git: {error}"), "install git, or see that it is on the `PATH`")
    })?;
    if told.status.success() {
        return Ok(String::from_utf8_lossy(&told.stdout).trim_end().to_owned());
    }
    let said = harmless(&String::from_utf8_lossy(&told.stderr));
    Err(Fault::yours(format!("git failed: {said}"), "see that git itself can do it in this folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_two_ends() {
        for (range, both) in [
            ("main..topic", ("main", "topic")),
            ("main...topic", ("main", "topic")),
            ("main..", ("main", "HEAD")),
            ("..topic", ("HEAD", "topic")),
            ("v1.0", ("v1.0", "HEAD")),
        ] {
            assert_eq!(ends(range), both, "{range}");
        }
    }
}
