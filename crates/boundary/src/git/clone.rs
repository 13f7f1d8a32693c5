//! The agent's own clone: made by the harness before the agent starts, and never looked at with git afterwards.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::git::{
    GitError, LeftOut, Store, Untracked, bring,
    command::{feed, git_dir},
    settings,
    store::{borrow, copy_if_there},
};

/// A clone that the agent may do anything with.
#[derive(Debug, Clone)]
pub struct AgentClone {
    /// Where it is, by no link.
    pub folder: PathBuf,
    /// What the checkout holds besides the repository and could not be brought along.
    pub left_out: LeftOut,
}

impl AgentClone {
    /// Sees that the folder is still one: the agent may have put a link in its place, to another folder of ours.
    pub(super) fn see_that_it_stands(&self) -> Result<(), GitError> {
        let real = fs_err::canonicalize(&self.folder).map_err(GitError::prepare(&self.folder))?;
        if real == self.folder && real.is_dir() {
            return Ok(());
        }
        Err(GitError::prepare(&self.folder)(io::Error::other("the agent put something else in its place")))
    }
}

impl Store {
    /// Makes a clone in a new folder: the tip on a branch of this name, with what earlier steps left in the checkout.
    ///
    /// Its settings are ours: no credential, no filter, no hook of the checkout comes with it.
    pub async fn clone_into(
        &self,
        folder: &Path,
        branch: &str,
        origin: &str,
        untracked: Untracked,
    ) -> Result<AgentClone, GitError> {
        fs_err::create_dir_all(folder).map_err(GitError::prepare(folder))?;
        let repository = git_dir(folder);
        let first = format!("--initial-branch={branch}");
        self.in_tree(&repository, folder, &["init", "--quiet", "--template=", &first]).await?;
        borrow(&repository, &[self.repository.join("objects")])?;
        copy_if_there(&self.repository.join("shallow"), &repository.join("shallow"))?;
        self.copy_branches(&repository).await?;
        let ours = [
            ("remote \"origin\"", "url", origin),
            ("remote \"origin\"", "fetch", "+refs/heads/*:refs/remotes/origin/*"),
            ("push", "default", "current"),
            ("push", "autoSetupRemote", "true"),
            ("submodule", "recurse", "false"),
        ];
        settings::add(&repository, &ours)?;
        self.in_tree(&repository, folder, &["reset", "--quiet", "--hard", self.tip()]).await?;
        let left_out = match (self.checkout(), untracked) {
            (Some(checkout), Untracked::Come(search)) => bring::along(self, checkout, folder, search).await?,
            (Some(_), Untracked::Stay) | (None, _) => LeftOut::default(),
        };
        let folder = fs_err::canonicalize(folder).map_err(GitError::prepare(folder))?;
        Ok(AgentClone { folder, left_out })
    }

    /// Hides what matches these patterns of git from the clone and from whoever asks what the agent left in it.
    pub fn hide(&self, clone: &AgentClone, patterns: &[&str]) -> Result<(), GitError> {
        for repository in [self.repository.clone(), git_dir(&clone.folder)] {
            let folder = repository.join("info");
            let written = fs_err::create_dir_all(&folder)
                .and_then(|()| fs_err::write(folder.join("exclude"), patterns.join("\n") + "\n"));
            written.map_err(GitError::prepare(&folder))?;
        }
        Ok(())
    }

    async fn in_tree(&self, repository: &Path, tree: &Path, arguments: &[&str]) -> Result<(), GitError> {
        let mut command = self.git.at(repository);
        command.arg("--work-tree").arg(tree).args(arguments);
        feed(&mut command, arguments.first().copied().unwrap_or_default(), b"").await.map(drop)
    }

    async fn copy_branches(&self, repository: &Path) -> Result<(), GitError> {
        let format = "--format=update refs/remotes/origin/%(refname:lstrip=2) %(objectname)";
        let updates = self.git.run(&self.repository, &["for-each-ref", format, "refs/heads"]).await?;
        let updates = updates.lines().flat_map(|line| [line, "\n"]).collect::<String>();
        self.git.feed(repository, &["update-ref", "--stdin"], updates.as_bytes()).await.map(drop)
    }
}
