//! Removes a folder that the agent filled: however deep it is, whatever its modes are, and following no link.
//!
//! Who goes down a tree needs an open file and a piece of the stack for every level, and the agent decides how many there
//! are. So every folder is moved up first, right below the one that is removed: nothing is ever deeper than that.

use std::{
    ffi::CString,
    io,
    os::fd::{AsFd, AsRawFd as _, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, CWD, Dir, Mode, OFlags, RenameFlags, chmod, openat, renameat_with, unlinkat},
    io::Errno,
    path::Arg,
};

/// Removes a folder with all that is in it; one that is not there is no error.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    let top = match open(CWD, folder) {
        Ok(top) => top,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut moved = Moved { top: &top, waiting: Vec::new(), count: 0 };
    moved.empty(&top)?;
    while let Some(name) = moved.waiting.pop() {
        moved.empty(&open(&top, name.as_c_str())?)?;
        unlinkat(&top, name.as_c_str(), AtFlags::REMOVEDIR)?;
    }
    drop(top);
    Ok(unlinkat(CWD, folder, AtFlags::REMOVEDIR)?)
}

/// Folders that were moved up and are still to be emptied.
struct Moved<'a> {
    top: &'a OwnedFd,
    waiting: Vec<CString>,
    count: u64,
}

impl Moved<'_> {
    /// Removes the files of a folder and moves its folders up.
    fn empty(&mut self, folder: &OwnedFd) -> Result<(), Errno> {
        for name in names(folder)? {
            match unlinkat(folder, name.as_c_str(), AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::ISDIR) => self.move_up(folder, &name)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn move_up(&mut self, from: &OwnedFd, name: &CString) -> Result<(), Errno> {
        // A folder that nobody may write cannot be moved either.
        drop(open(from, name.as_c_str())?);
        loop {
            self.count += 1;
            let new = CString::new(format!("removed-{}", self.count)).unwrap_or_default();
            match renameat_with(from, name.as_c_str(), self.top, new.as_c_str(), RenameFlags::NOREPLACE) {
                Ok(()) => {
                    self.waiting.push(new);
                    return Ok(());
                }
                // The agent may have thought of the same name.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Opens a folder, and makes it ours to change whatever mode the agent gave it.
fn open(at: impl AsFd, path: impl Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = openat(at, path, flags | OFlags::PATH, Mode::empty())?;
    // Who is not its owner needs no mode, or finds out below.
    let _refused = chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), Mode::RWXU);
    openat(&held, c".", flags | OFlags::RDONLY, Mode::empty())
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if ![c".", c".."].contains(&name.as_c_str()) {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, process::Command};

    use super::*;

    /// Runs a script in a folder, which is then removed; returns what stood beside it.
    fn removed_after(script: &str) -> Vec<String> {
        // In memory, if there is such a place: a disk takes a minute for so many folders.
        let house = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let (folder, beside) = (house.path().join("folder"), house.path().join("beside"));
        for made in [&folder, &beside] {
            std::fs::create_dir(made).unwrap();
            std::fs::write(made.join("file"), "x").unwrap();
        }
        symlink(&beside, folder.join("link")).unwrap();
        let ran = Command::new("python3").args(["-c", script]).current_dir(&folder).status().unwrap();
        assert!(ran.success());

        remove_folder(&folder).unwrap();

        assert!(!folder.exists());
        let left = std::fs::read_dir(beside).unwrap();
        left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_folder_of_any_depth_is_removed_and_no_link_is_followed() {
        let deep = "import os\nfor _ in range(25000):\n  os.mkdir('d'); os.chdir('d')\nos.symlink('/', 'l')";
        assert_eq!(removed_after(deep), ["file"]);
    }

    #[test]
    fn a_folder_that_was_closed_is_removed() {
        let closed = "import os\nos.makedirs('a/b/c')\nopen('a/b/c/x', 'w')\nos.mkfifo('a/pipe')\n\
                      os.makedirs('removed-1/removed-2')\nopen('removed-3', 'w')\n\
                      [os.chmod(path, 0) for path in ['a/b/c', 'a/b', 'a', 'removed-1']]";
        assert_eq!(removed_after(closed), ["file"]);
    }

    #[test]
    fn what_is_not_there_is_no_error_and_a_link_is_one() {
        let house = tempfile::tempdir().unwrap();
        remove_folder(&house.path().join("none")).unwrap();
        let (real, link) = (house.path().join("real"), house.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        assert!(remove_folder(&link).is_err() && real.exists());
    }
}
