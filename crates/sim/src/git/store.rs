//! The bare repositories behind the state, in a folder that is gone with the world.

use std::{
    fs::Permissions,
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use tempfile::TempDir;
use tokio::{
    fs,
    io::AsyncWriteExt as _,
    process::Command,
    sync::{Mutex, OnceCell},
};

use crate::garden;

/// Refuses what GitHub refuses. Which branches are protected or lent comes with each push.
const UPDATE_HOOK: &str = r#"#!/bin/sh
for branch in $PROTECTED_BRANCHES; do
  if [ "$1" = "refs/heads/$branch" ]; then
    echo "error: GH006: Protected branch update failed for $1." >&2
    echo "error: Changes must be made through a pull request." >&2
    exit 1
  fi
done
if [ -n "$LENT_BRANCHES" ]; then
  case " $LENT_BRANCHES " in
    *" ${1#refs/heads/} "*) ;;
    *) echo "error: only the branch of the pull request is open to maintainers" >&2; exit 1 ;;
  esac
fi
zero=0000000000000000000000000000000000000000
if [ "$3" != "$zero" ]; then
  large=$(git rev-list --objects "$3" --not --all |
    git cat-file --batch-check='%(objecttype) %(objectsize) %(rest)' |
    awk '$1 == "blob" && $2 > 104857600 { size = $2; $1 = $2 = ""; sub(/^ +/, ""); printf "%s %.2f\n", $0, size / 1048576; exit }')
  if [ -n "$large" ]; then
    echo "error: Trace: 0" >&2
    echo "error: See https://gh.io/lfs for more information." >&2
    echo "error: File ${large% *} is ${large##* } MB; this exceeds GitHub's file size limit of 100.00 MB" >&2
    echo "error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com." >&2
    exit 1
  fi
fi
if [ "$WORKFLOWS" = refused ]; then
  changed=$(git log --format= --name-only "$3" --not --all -- .github/workflows | head -n 1)
  if [ -n "$changed" ]; then
    echo "refusing to allow a GitHub App to create or update workflow \`$changed\` without \`workflows\` permission" >&2
    exit 1
  fi
fi
"#;

/// All repositories. Nothing is on the disk before somebody asks for one: most worlds need none.
#[derive(Default)]
pub(crate) struct Store {
    root: OnceCell<TempDir>,
    planting: Mutex<()>,
}

/// One bare repository.
pub(crate) struct Bare {
    folder: PathBuf,
    hooks: PathBuf,
    index: Option<PathBuf>,
}

impl Store {
    /// Opens a repository, with the commits that the garden has or with none.
    pub(crate) async fn open(&self, full_name: &str) -> io::Result<Bare> {
        let root = self.root.get_or_try_init(prepared).await?.path();
        let bare =
            Bare { folder: root.join(format!("{full_name}.git")), hooks: root.join("hooks"), index: None };
        let _guard = self.planting.lock().await;
        if !fs::try_exists(&bare.folder).await? {
            bare.plant(root, full_name).await?;
        }
        Ok(bare)
    }
}

impl Bare {
    /// Makes a repository, which is there as a whole or not at all: whoever asked may be gone in the middle of it.
    async fn plant(&self, root: &Path, full_name: &str) -> io::Result<()> {
        let nursery = TempDir::new_in(root)?;
        let seedling = Self { folder: nursery.path().to_owned(), hooks: self.hooks.clone(), index: None };
        seedling.run(&["init", "--quiet", "--bare", "--initial-branch=main"]).await?;
        if full_name == garden::REPO {
            seedling.feed(&["fast-import", "--quiet"], garden::HISTORY.as_bytes()).await?;
        }
        fs::create_dir_all(self.folder.parent().unwrap_or(root)).await?;
        fs::rename(nursery.keep(), &self.folder).await
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The same repository with an index of its own, to put a tree together in.
    pub(crate) fn staged(&self, index: PathBuf) -> Self {
        Self { folder: self.folder.clone(), hooks: self.hooks.clone(), index: Some(index) }
    }

    /// A git command in this repository that heeds no settings but ours.
    pub(crate) fn git(&self) -> Command {
        let mut command = Command::new("git");
        command
            .current_dir(&self.folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_DIR", &self.folder)
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .kill_on_drop(true);
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        let hooks = format!("core.hooksPath={}", self.hooks.display());
        let settings = [
            hooks.as_str(),
            "core.quotePath=false",
            "http.receivepack=true",
            "receive.hideRefs=refs/pull",
            "uploadpack.allowAnySHA1InWant=true",
            "uploadpack.allowFilter=true",
        ];
        for setting in settings {
            command.args(["-c", setting]);
        }
        command
    }

    /// Runs a command and returns what it said; an error holds what it complained of.
    pub(crate) async fn run(&self, arguments: &[&str]) -> io::Result<Vec<u8>> {
        self.feed(arguments, b"").await
    }

    /// Runs a command that reads something.
    pub(crate) async fn feed(&self, arguments: &[&str], input: &[u8]) -> io::Result<Vec<u8>> {
        let mut command = self.git();
        command.args(arguments);
        answer(&mut command, input).await
    }

    /// The commit at the tip of a branch.
    pub(crate) async fn tip(&self, branch: &str) -> io::Result<String> {
        self.text(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}^{{commit}}")]).await
    }

    /// Runs a command and returns its text without the last line's end.
    pub(crate) async fn text(&self, arguments: &[&str]) -> io::Result<String> {
        let said = String::from_utf8_lossy(&self.run(arguments).await?).into_owned();
        Ok(said.trim_end_matches('\n').to_owned())
    }
}

/// Gives a command its input and waits for all of its output.
pub(crate) async fn answer(command: &mut Command, input: &[u8]) -> io::Result<Vec<u8>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn()?;
    let mut stdin = running.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let writing = async {
        // A command that has read enough may close its input.
        drop(stdin.write_all(input).await);
        drop(stdin);
    };
    let ((), output) = tokio::join!(writing, running.wait_with_output());
    let output = output?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

async fn prepared() -> io::Result<TempDir> {
    let root = tempfile::Builder::new().prefix("fro-sim-git-").tempdir()?;
    let hook = root.path().join("hooks/update");
    fs::create_dir(root.path().join("hooks")).await?;
    fs::write(&hook, UPDATE_HOOK).await?;
    fs::set_permissions(&hook, Permissions::from_mode(0o755)).await?;
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends when something is there.
    async fn there(path: &Path) {
        while !path.exists() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_repository_whose_planting_was_broken_off_is_planted_by_whoever_asks_next() {
        let store = Store::default();
        let folder = store.root.get_or_try_init(prepared).await.unwrap().path().join("octo/garden.git");
        tokio::select! {
            biased;
            () = there(&folder) => {}
            opened = store.open(garden::REPO) => drop(opened),
        }
        let bare = store.open(garden::REPO).await.unwrap();
        assert!(bare.tip("main").await.is_ok(), "it is no repository");
    }
}
