//! What a pull request changes, and what its files say, read from the store: objects that GitHub sent, never the agent's.

use std::{collections::BTreeSet, process::Stdio};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
};

use crate::git::{GitError, Store, command::complaint};

/// The largest output that is read; a hundred thousand changed lines are a tenth of it.
const LARGEST: u64 = 64 << 20;

/// The largest file that is read.
const LARGEST_FILE: u64 = 1 << 20;

/// How much more history is fetched, one after the other, until both commits have a common one.
const DEEPER: [&str; 2] = ["--deepen=500", "--unshallow"];

/// What lies between a branch and the commit that wants to go onto it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullDiff {
    /// The last commit that both have.
    pub base: String,
    /// The difference from there, as `git diff` writes it, with three lines around each change and moved files found.
    pub diff: String,
}

impl Store {
    /// Returns what a commit changes since it left the base. What the store lacks is fetched from `url`.
    pub async fn pull_diff(&self, url: &str, base: &str, head: &str) -> Result<PullDiff, GitError> {
        for commit in [base, head] {
            self.bring(url, commit).await?;
        }
        let base = self.common(url, base, head).await?;
        let form = ["--no-color", "--no-ext-diff", "--no-textconv", "--full-index", "--find-renames", "-U3"];
        let mut command = self.git.at(&self.repository);
        // Names are written as they are, but for those that no line can hold.
        command.args(["-c", "core.quotePath=false", "diff"]).args(form).args([base.as_str(), head, "--"]);
        let diff = String::from_utf8_lossy(&capped(&mut command, "diff", b"").await?).into_owned();
        Ok(PullDiff { base, diff })
    }

    /// Returns what files of commits say, in order; nothing for one that is not there, too large or no text.
    pub async fn texts(&self, wanted: &[(String, String)]) -> Result<Vec<Option<String>>, GitError> {
        let names: Vec<Option<String>> = wanted.iter().map(|(commit, path)| named(commit, path)).collect();
        let asked: String = names.iter().flatten().flat_map(|name| [name.as_str(), "\n"]).collect();
        let sizes = self.cat("--batch-check=%(objecttype) %(objectsize)", &asked).await?;
        let sizes = String::from_utf8_lossy(&sizes).into_owned();
        let mut sizes = sizes.lines();
        let small: Vec<bool> =
            names.iter().map(|name| name.is_some() && sizes.next().is_some_and(is_small)).collect();
        let kept =
            names.iter().zip(&small).filter(|(_, small)| **small).filter_map(|(name, _)| name.as_deref());
        let asked: String = kept.flat_map(|name| [name, "\n"]).collect();
        let told = self.cat("--batch=%(objectsize)", &asked).await?;
        let mut rest = told.as_slice();
        Ok(small.into_iter().map(|small| small.then(|| next(&mut rest)).flatten()).collect())
    }

    /// Fetches commits by their names as far as they can still be had: one that was rewritten may be gone.
    pub async fn bring_if_there(&self, url: &str, commits: impl IntoIterator<Item = &String>) {
        let commits: BTreeSet<&String> = commits.into_iter().collect();
        for commit in commits {
            if let Err(error) = self.bring(url, commit).await {
                tracing::debug!("an earlier commit is gone: {error}");
            }
        }
    }

    async fn cat(&self, form: &str, asked: &str) -> Result<Vec<u8>, GitError> {
        let mut command = self.git.at(&self.repository);
        command.args(["cat-file", form]);
        capped(&mut command, "cat-file", asked.as_bytes()).await
    }

    /// Fetches a commit by its name, unless it is there.
    async fn bring(&self, url: &str, commit: &str) -> Result<(), GitError> {
        if !is_name(commit) {
            let said = "this is no name of a commit".to_owned();
            return Err(GitError::Failed { command: "fetch".to_owned(), said });
        }
        let name = format!("{commit}^{{commit}}");
        match self.git.run(&self.repository, &["cat-file", "-e", &name]).await {
            Ok(_) => Ok(()),
            Err(_) => self.fetch_commits(url, "--depth=50", &[commit]).await,
        }
    }

    /// Finds the last commit that both have, with more history if need be.
    async fn common(&self, url: &str, base: &str, head: &str) -> Result<String, GitError> {
        let ask = async || self.git.run(&self.repository, &["merge-base", base, head]).await;
        for deeper in DEEPER {
            match ask().await {
                Ok(common) => return Ok(common),
                Err(error) if !self.repository.join("shallow").exists() => return Err(error),
                Err(_) => self.fetch_commits(url, deeper, &[base, head]).await?,
            }
        }
        ask().await
    }

    async fn fetch_commits(&self, url: &str, depth: &str, commits: &[&str]) -> Result<(), GitError> {
        let mut arguments = vec!["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", depth, url];
        arguments.extend(commits);
        self.fetching.run(&self.repository, &arguments).await.map(drop)
    }
}

/// Names a file of a commit, if a line can hold the name.
fn named(commit: &str, path: &str) -> Option<String> {
    (is_name(commit) && !path.contains('\n')).then(|| format!("{commit}:{path}"))
}

fn is_name(commit: &str) -> bool {
    matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_small(line: &str) -> bool {
    let size = line.strip_prefix("blob ").and_then(|size| size.parse::<u64>().ok());
    size.is_some_and(|size| size <= LARGEST_FILE)
}

/// Takes the next file: its size on a line, then so many bytes, then the end of a line.
fn next(rest: &mut &[u8]) -> Option<String> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let size: usize = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
    let text = rest.get(end + 1..end + 1 + size)?;
    *rest = rest.get(end + size + 2..).unwrap_or_default();
    (!text.contains(&0)).then(|| String::from_utf8_lossy(text).into_owned())
}

/// Gives a command its input and reads its output up to the limit.
async fn capped(command: &mut Command, name: &str, input: &[u8]) -> Result<Vec<u8>, GitError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().map_err(GitError::Start)?;
    let (stdin, stdout) = (running.stdin.take(), running.stdout.take());
    let writing = async {
        if let Some(mut stdin) = stdin {
            // A command that has read enough may close its input.
            drop(stdin.write_all(input).await);
        }
    };
    let reading = async {
        let mut said = Vec::new();
        if let Some(stdout) = stdout {
            stdout.take(LARGEST + 1).read_to_end(&mut said).await.map_err(GitError::Start)?;
        }
        Ok::<_, GitError>(said)
    };
    let ((), said) = tokio::join!(writing, reading);
    let said = said?;
    if said.len() as u64 > LARGEST {
        let why = format!("it says more than {} MB", LARGEST >> 20);
        return Err(GitError::Overrun { command: name.to_owned(), why });
    }
    let ended = running.wait_with_output().await.map_err(GitError::Start)?;
    if ended.status.success() {
        return Ok(said);
    }
    Err(GitError::Failed { command: name.to_owned(), said: complaint(&ended.stderr) })
}
