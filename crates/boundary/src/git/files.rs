//! What the agent left in its clone, read by the store's own git: nothing that the clone's settings name is run.

use std::path::Path;

use crate::git::{GitError, Store, command::feed};

impl Store {
    /// Takes the clone's files down, but those that it ignores, and returns their tree.
    pub async fn tree_of(&self, clone: &Path) -> Result<String, GitError> {
        let index = self.folder.path().join("files.index");
        let ask = async |arguments: &[&str]| {
            let mut command = self.git.at(&self.repository);
            command.args(["-c", "core.untrackedCache=false", "-c", "advice.addEmbeddedRepo=false"]);
            command.arg("--work-tree").arg(clone).args(arguments);
            command.env("GIT_INDEX_FILE", &index).current_dir(clone);
            feed(&mut command, arguments.first().copied().unwrap_or_default(), b"").await
        };
        ask(&["read-tree", self.tip()]).await?;
        ask(&["add", "--all", "--ignore-errors", "."]).await?;
        let tree = ask(&["write-tree"]).await?;
        Ok(String::from_utf8_lossy(&tree).trim().to_owned())
    }

    /// Returns what differs between two trees or commits, as a patch.
    pub async fn patch(&self, from: &str, to: &str) -> Result<String, GitError> {
        let plain =
            ["diff-tree", "-p", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "-r", from, to];
        self.git.run(&self.repository, &plain).await
    }

    /// Returns the paths that differ between two trees or commits, each with its new content's hash.
    pub async fn changed(&self, from: &str, to: &str) -> Result<Vec<(String, String)>, GitError> {
        let raw = ["diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", from, to];
        let told = self.git.run(&self.repository, &raw).await?;
        let line = |line: &str| {
            let (about, path) = line.split_once('\t')?;
            Some((path.to_owned(), about.split(' ').nth(3)?.to_owned()))
        };
        Ok(told.lines().filter_map(line).collect())
    }

    /// Returns the first line and the rest of a commit's message.
    pub async fn message(&self, commit: &str) -> Result<(String, String), GitError> {
        let subject = self.git.run(&self.repository, &["log", "-1", "--format=%s", commit]).await?;
        let rest = ["log", "-1", "--format=%b", commit];
        let body = self.git.run(&self.repository, &rest).await?;
        let is_text = |line: &&str| !line.starts_with("Co-authored-by:");
        Ok((subject, body.lines().filter(is_text).collect::<Vec<_>>().join("\n").trim().to_owned()))
    }
}
