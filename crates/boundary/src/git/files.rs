//! What the agent left in its clone, read by a confined git with the store's settings: nothing that the clone names is
//! run, nothing outside is read, and what it writes lies where the agent cannot look.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use tokio::task::spawn_blocking;

use crate::{
    Halt,
    git::{
        AgentClone, GitError, Store,
        reader::{GitQuestion, Reader},
    },
    halt::AgentStart,
    wall::Enclosure,
};

/// The largest file that is looked at; no larger one could be pushed either.
const LARGEST: u64 = 32 << 20;
/// New files that are looked at, if there are no more, and their bytes.
const MOST_NEW: usize = 20_000;
const MOST_BYTES: u64 = 256 << 20;
/// Files that can be left aside one by one.
const MOST_ASIDE: usize = 200;

/// The files of the clone at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloneFiles {
    /// Their tree.
    pub tree: String,
    /// What was not looked at, with the reason.
    pub aside: Vec<String>,
}

impl Store {
    /// Takes the clone's files down, but those that it ignores. Nobody may be changing them meanwhile.
    pub async fn tree_of(&self, clone: &AgentClone, halt: &Halt) -> Result<CloneFiles, GitError> {
        clone.see_that_it_stands()?;
        let ask = async |arguments: &[&str], paths: Vec<OsString>| {
            let arguments = arguments.iter().map(OsString::from).chain(paths).collect();
            self.look(Some(&clone.folder), halt.began(), arguments).await
        };
        ask(&["read-tree", self.tip()], Vec::new()).await?;
        let known = ask(&["ls-files", "-z", "--cached"], Vec::new()).await?;
        let new = ask(&["ls-files", "-z", "--others", "--exclude-standard"], Vec::new()).await?;
        let folder = clone.folder.clone();
        let sifted = spawn_blocking(move || sift(&folder, &names(&known), &names(&new))).await;
        let aside = sifted.map_err(|error| GitError::prepare(&clone.folder)(io::Error::other(error)))??;
        let mut told: Vec<String> =
            aside.iter().map(|(path, why)| format!("`{}` ({why})", path.display())).collect();
        let excepted = aside.iter().map(|(path, _)| except(path)).collect();
        match ask(&["add", "--all", "--ignore-errors", "--", "."], excepted).await {
            Ok(_) => {}
            // It went on with the other files.
            Err(GitError::Failed { said, .. }) => told.push(said),
            Err(other) => return Err(other),
        }
        let tree = ask(&["write-tree"], Vec::new()).await?;
        halt.held().map_err(GitError::Moved)?;
        Ok(CloneFiles { tree: String::from_utf8_lossy(&tree).trim().to_owned(), aside: told })
    }

    /// Returns what differs between two trees or commits, as a patch.
    pub async fn patch(&self, from: &str, to: &str) -> Result<String, GitError> {
        let plain =
            ["diff-tree", "-p", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "-r", from, to];
        self.look_at_objects(&plain).await
    }

    /// Returns the paths that differ between two trees or commits, each with its new content's hash.
    pub async fn changed(&self, from: &str, to: &str) -> Result<Vec<(String, String)>, GitError> {
        let raw = ["diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", from, to];
        let told = self.look_at_objects(&raw).await?;
        let line = |line: &str| {
            let (about, path) = line.split_once('\t')?;
            Some((path.to_owned(), about.split(' ').nth(3)?.to_owned()))
        };
        Ok(told.lines().filter_map(line).collect())
    }

    /// Returns the first line and the rest of a commit's message.
    pub async fn message(&self, commit: &str) -> Result<(String, String), GitError> {
        let subject = self.look_at_objects(&["log", "-1", "--format=%s", commit]).await?;
        let body = self.look_at_objects(&["log", "-1", "--format=%b", commit]).await?;
        let is_text = |line: &&str| !line.starts_with("Co-authored-by:");
        Ok((subject, body.lines().filter(is_text).collect::<Vec<_>>().join("\n").trim().to_owned()))
    }

    async fn look_at_objects(&self, arguments: &[&str]) -> Result<String, GitError> {
        let said = self.look(None, AgentStart::Was, arguments.iter().map(OsString::from).collect()).await?;
        Ok(String::from_utf8_lossy(&said).trim_end_matches('\n').to_owned())
    }

    /// Asks a confined git about the store's objects, those that it has written itself, and the clone.
    async fn look(
        &self,
        clone: Option<&Path>,
        began: AgentStart,
        arguments: Vec<OsString>,
    ) -> Result<Vec<u8>, GitError> {
        // Beside the store, where the agent cannot look.
        let scratch = self.folder.path().join("quarantine");
        let objects = scratch.join("objects");
        fs_err::create_dir_all(&objects).map_err(GitError::prepare(&objects))?;
        let enclosure = match (began, self.git.confinement.enclosure) {
            (AgentStart::Was, Enclosure::Root) => Enclosure::Root,
            // The files are still root's, or of the same user anyway.
            (AgentStart::NotYet, _) | (AgentStart::Was, Enclosure::Open | Enclosure::Sudo(_)) => {
                Enclosure::Open
            }
        };
        let reader = self.reader(scratch);
        reader.ask(GitQuestion { arguments, input: b"", objects: &objects, clone, enclosure }).await
    }

    pub(super) fn reader(&self, scratch: PathBuf) -> Reader {
        let (git, repository) = (self.git.clone(), self.repository.clone());
        Reader { git, repository, objects: self.objects(), scratch }
    }
}

fn names(told: &[u8]) -> Vec<PathBuf> {
    let names = told.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect()
}

/// Tells git to leave a path alone, whatever characters it has.
fn except(path: &Path) -> OsString {
    OsString::from_vec([b":(exclude,top,literal)", path.as_os_str().as_bytes()].concat())
}

/// Finds what is not looked at, and refuses a flood. No link is followed.
fn sift(folder: &Path, known: &[PathBuf], new: &[PathBuf]) -> Result<Vec<(PathBuf, &'static str)>, GitError> {
    let flood = |why: String| GitError::Overrun { command: "add".to_owned(), why };
    if new.len() > MOST_NEW {
        return Err(flood(format!("there are {} new files, more than {MOST_NEW}", new.len())));
    }
    let (mut aside, mut bytes) = (Vec::new(), 0_u64);
    for (path, is_new) in known.iter().map(|path| (path, false)).chain(new.iter().map(|path| (path, true))) {
        let Ok(about) = std::fs::symlink_metadata(folder.join(path)) else { continue };
        let kind = about.file_type();
        if kind.is_file() && about.len() <= LARGEST {
            bytes += if is_new { about.len() } else { 0 };
        } else if kind.is_file() {
            aside.push((path.clone(), "larger than 32 MiB"));
        } else if !kind.is_dir() && !kind.is_symlink() {
            aside.push((path.clone(), "no file"));
        }
    }
    if bytes > MOST_BYTES {
        return Err(flood(format!("the new files have {} MiB, more than {}", bytes >> 20, MOST_BYTES >> 20)));
    }
    if aside.len() > MOST_ASIDE {
        return Err(flood(format!("{} files are too large or no files", aside.len())));
    }
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_files_is_refused_with_the_reason() {
        let new: Vec<PathBuf> = (0..=MOST_NEW).map(|n| PathBuf::from(n.to_string())).collect();

        let refused = sift(Path::new("/nowhere"), &[], &new).unwrap_err();

        assert_eq!(
            refused.to_string(),
            "`git add` came to no end: there are 20001 new files, more than 20000"
        );
        assert_eq!(sift(Path::new("/nowhere"), &[], &new[1..]).unwrap(), []);
    }
}
