//! Lets another user reach what the engine needs of root's folders, and nothing beside it.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    os::{
        fd::AsRawFd as _,
        unix::fs::{MetadataExt as _, lchown},
    },
    path::{Path, PathBuf},
};

use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
};
use rustix::fs::{Mode, OFlags, open};

use crate::wall::{User, WallError, WallSpec};

/// Gives folders with all that is in them to a user. Nobody else has written there yet.
pub(super) fn give(paths: &[PathBuf], user: User) -> Result<(), WallError> {
    paths.iter().try_for_each(|path| {
        give_all(path, user).map_err(|source| WallError::Folder { path: path.clone(), source })
    })
}

fn give_all(path: &Path, user: User) -> io::Result<()> {
    if fs_err::symlink_metadata(path)?.is_dir() {
        for entry in fs_err::read_dir(path)? {
            give_all(&entry?.path(), user)?;
        }
    }
    lchown(path, Some(user.id), Some(user.group))
}

/// Opens a way to what the engine needs, where it lies below a folder that only root may enter.
///
/// In a view of the machine that is the engine's own, an empty folder takes the place of the closed one, and what is needed
/// is put back into it.
pub(super) fn open_ways(spec: &WallSpec, user: User) -> Result<(), WallError> {
    let failed = |source| WallError::Kernel("open a way to the engine's folders", source);
    let here = std::env::current_dir().map_err(failed)?;
    unshare(CloneFlags::CLONE_NEWNS).map_err(WallError::kernel("make a view of the machine"))?;
    for (folder, needed) in closed(spec, user) {
        reopen(&folder, &needed).map_err(failed)?;
    }
    // The folder of the same name may be another one by now.
    std::env::set_current_dir(here).map_err(failed)
}

/// Returns the folders that the user cannot pass, with what is needed from below each.
fn closed(spec: &WallSpec, user: User) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let mut needed: Vec<PathBuf> =
        spec.read.iter().chain(&spec.write).filter_map(|path| fs_err::canonicalize(path).ok()).collect();
    needed.sort();
    // What lies in a folder that is needed comes with it.
    needed.dedup_by(|later, kept| later.starts_with(kept));
    let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in needed {
        let above = path.ancestors().skip(1).filter(|folder| !can_pass(folder, user)).last();
        if let Some(folder) = above {
            folders.entry(folder.to_owned()).or_default().push(path);
        }
    }
    folders
}

fn can_pass(folder: &Path, user: User) -> bool {
    let owner_s = 0o100;
    let others = 0o001;
    fs_err::metadata(folder)
        .is_ok_and(|about| about.mode() & if about.uid() == user.id { owner_s } else { others } != 0)
}

fn reopen(folder: &Path, needed: &[PathBuf]) -> io::Result<()> {
    let opened = |path: &PathBuf| -> io::Result<(PathBuf, File)> {
        let file = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        Ok((path.clone(), file.into()))
    };
    let held = needed.iter().map(opened).collect::<io::Result<Vec<_>>>()?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some("mode=0755,size=1m"))?;
    for (path, file) in held {
        if let Some(above) = path.parent() {
            fs_err::create_dir_all(above)?;
        }
        if file.metadata()?.is_dir() {
            fs_err::create_dir(&path)?;
        } else {
            fs_err::write(&path, "")?;
        }
        let source = format!("/proc/self/fd/{}", file.as_raw_fd());
        let none: Option<&str> = None;
        mount(Some(source.as_str()), &path, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)?;
    }
    Ok(())
}
