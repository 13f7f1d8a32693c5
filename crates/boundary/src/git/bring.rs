//! What earlier steps left in the checkout (packages, builds) comes along into the agent's clone; credentials do not.

use std::{
    ffi::OsStr,
    fs::FileType,
    io::{self, Read as _},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use fro_core::credential::{self, CredentialSearch};
use tokio::task::spawn_blocking;

use crate::git::{GitError, Store, command::feed, store::Checkout};

/// Bytes that are copied at most.
const MOST_BYTES: u64 = 2 << 30;
/// Files that are copied at most.
const MOST_FILES: usize = 200_000;
/// How much of each file is searched for credentials.
const SEARCHED: u64 = 4 << 20;

/// Whether what git does not know comes along.
#[derive(Debug, Clone)]
pub enum Untracked {
    /// It does, but for what is found to hold a credential.
    Come(CredentialSearch),
    /// It does not: whoever set the run off may be anybody, or the folder is somebody's own.
    Stay,
}

/// What could not be brought along.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Files beyond the limit.
    pub too_many: usize,
    /// Files whose names or contents say that they hold credentials.
    pub private: Vec<PathBuf>,
}

/// Copies every file of the checkout that git does not know, ignored or not.
pub(super) async fn along(
    store: &Store,
    checkout: &Checkout,
    clone: &Path,
    search: CredentialSearch,
) -> Result<LeftOut, GitError> {
    let index = store.folder.path().join("index");
    let listed = async |arguments: &[&str]| {
        let mut command = store.git.at(&store.repository);
        command.env("GIT_INDEX_FILE", &index).arg("--work-tree").arg(&checkout.folder).args(arguments);
        command.current_dir(&checkout.folder);
        feed(&mut command, arguments[0], b"").await
    };
    listed(&["read-tree", &checkout.commit]).await?;
    let names = listed(&["ls-files", "--others", "-z"]).await?;
    let (from, to) = (checkout.folder.clone(), clone.to_owned());
    let copied = spawn_blocking(move || copy_all(&names, (&from, &to), &search)).await;
    copied.map_err(|error| GitError::prepare(clone)(io::Error::other(error)))?
}

fn copy_all(
    names: &[u8],
    (from, to): (&Path, &Path),
    search: &CredentialSearch,
) -> Result<LeftOut, GitError> {
    let mut left_out = LeftOut::default();
    let (mut bytes, mut files) = (0, 0);
    // A name that ends with a slash is a repository of its own, whose settings may hold credentials.
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !name.ends_with(b"/"));
    for name in names.map(|name| Path::new(OsStr::from_bytes(name))) {
        if is_private(from, name, search).map_err(GitError::prepare(from.join(name)))? {
            left_out.private.push(name.to_owned());
            continue;
        }
        if bytes >= MOST_BYTES || files >= MOST_FILES {
            left_out.too_many += 1;
            continue;
        }
        bytes += copy(from, to, name).map_err(GitError::prepare(to.join(name)))?;
        files += 1;
    }
    Ok(left_out)
}

/// Copies one file or link, unless the clone has something else in its place.
///
/// What the clone has comes from a stranger's pull request, perhaps: a link there is never followed.
fn copy(from: &Path, to: &Path, name: &Path) -> io::Result<u64> {
    let (source, target) = (from.join(name), to.join(name));
    if !has_real_parents(to, name)? || target.symlink_metadata().is_ok() {
        return Ok(0);
    }
    let Ok(about) = source.symlink_metadata() else { return Ok(0) };
    match kind(about.file_type()) {
        UntrackedKind::File => std::fs::copy(&source, &target),
        UntrackedKind::Link => std::os::unix::fs::symlink(std::fs::read_link(&source)?, &target).map(|()| 0),
        UntrackedKind::Other => Ok(0),
    }
}

/// Makes the folders above a file; `false` if one of them is no folder.
fn has_real_parents(root: &Path, name: &Path) -> io::Result<bool> {
    let mut folder = root.to_owned();
    for part in name.parent().into_iter().flat_map(Path::iter) {
        folder.push(part);
        match folder.symlink_metadata() {
            Ok(about) if about.is_dir() => {}
            Ok(_) => return Ok(false),
            Err(_) => std::fs::create_dir(&folder)?,
        }
    }
    Ok(true)
}

enum UntrackedKind {
    File,
    Link,
    Other,
}

fn kind(file: FileType) -> UntrackedKind {
    match (file.is_file(), file.is_symlink()) {
        (true, _) => UntrackedKind::File,
        (_, true) => UntrackedKind::Link,
        (false, false) => UntrackedKind::Other,
    }
}

/// Tells whether a file that git does not know holds a credential: steps before us leave such things.
fn is_private(from: &Path, name: &Path, search: &CredentialSearch) -> io::Result<bool> {
    if credential::is_kept_in(&name.to_string_lossy()) {
        return Ok(true);
    }
    let path = from.join(name);
    if !path.symlink_metadata().is_ok_and(|about| about.is_file()) {
        return Ok(false);
    }
    let mut beginning = Vec::new();
    std::fs::File::open(path)?.take(SEARCHED).read_to_end(&mut beginning)?;
    Ok(search.finds(&beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_the_clone_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to, outside] = ["from", "to", "outside"].map(|name| folder.path().join(name));
        for path in [&from.join("deps"), &to, &outside] {
            std::fs::create_dir_all(path).unwrap();
        }
        std::fs::write(from.join("deps/x"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, to.join("deps")).unwrap();

        copy_all(b"deps/x\0", (&from, &to), &CredentialSearch::knowing([])).unwrap();

        assert_eq!(std::fs::read_dir(outside).unwrap().count(), 0);
    }
}
