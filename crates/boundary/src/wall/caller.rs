//! A process behind the wall whose call waits: its memory, its open files, and the files that it names.

use std::{
    ffi::{CString, OsStr},
    fs::File,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, fs::FileExt as _},
    },
    path::{Path, PathBuf},
};

use libc::c_long;
use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    io::Errno,
    process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open},
};

use crate::wall::kernel::PendingCall;

/// The longest text that the kernel takes for a path, with its end.
const LONGEST_PATH: usize = 4096;

/// A caller, by the call that it waits for.
pub(super) struct Caller<'a>(&'a PendingCall);

/// What is meant if a path ends in a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FinalLink {
    /// What the link leads to.
    Followed,
    /// The link.
    Itself,
}

impl<'a> Caller<'a> {
    pub(super) fn new(call: &'a PendingCall) -> Self {
        Self(call)
    }

    /// Which call it is.
    pub(super) fn call(&self) -> c_long {
        self.0.number
    }

    /// Returns an argument that is a number. The kernel reads no more than this half of it.
    pub(super) fn number(&self, argument: usize) -> u32 {
        (self.0.arguments[argument] & u64::from(u32::MAX)).try_into().unwrap_or_default()
    }

    /// Tells whether an argument points nowhere.
    pub(super) fn is_null(&self, argument: usize) -> bool {
        self.0.arguments[argument] == 0
    }

    /// Reads what an argument points to, if its length is a fitting one.
    pub(super) fn bytes(&self, argument: usize, length: Option<usize>) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; length.ok_or(Errno::INVAL)?];
        let memory = self.memory()?;
        memory.read_exact_at(&mut bytes, self.0.arguments[argument]).map_err(|_| Errno::FAULT)?;
        Ok(bytes)
    }

    /// Reads the text that an argument points to.
    pub(super) fn text(&self, argument: usize) -> Result<CString, Errno> {
        let mut bytes = vec![0; LONGEST_PATH];
        let length = self.memory()?.read_at(&mut bytes, self.0.arguments[argument]);
        bytes.truncate(length.map_err(|_| Errno::FAULT)?);
        let end = bytes.iter().position(|byte| *byte == 0).ok_or(Errno::NAMETOOLONG)?;
        bytes.truncate(end);
        CString::new(bytes).map_err(|_| Errno::FAULT)
    }

    /// Takes an open file of the caller, so that it is also ours.
    pub(super) fn file(&self, argument: usize) -> Result<OwnedFd, Errno> {
        let process = pidfd_open(self.process()?, PidfdFlags::empty())?;
        pidfd_getfd(&process, self.number(argument).cast_signed(), PidfdGetfdFlags::empty())
    }

    /// Opens what the caller names by a path alone.
    pub(super) fn named(&self, path: usize, last: FinalLink) -> Result<OwnedFd, Errno> {
        self.open(&self.working_folder()?, path, last)
    }

    /// Opens what the caller names by a path in an open folder of its own.
    pub(super) fn named_in(&self, folder: usize, path: usize, last: FinalLink) -> Result<OwnedFd, Errno> {
        if self.number(folder).cast_signed() == libc::AT_FDCWD {
            return self.named(path, last);
        }
        self.open(&self.file(folder)?, path, last)
    }

    /// Gives no right to read or write, and waits for nobody.
    fn open(&self, folder: &OwnedFd, path: usize, last: FinalLink) -> Result<OwnedFd, Errno> {
        let follow = match last {
            FinalLink::Followed => OFlags::empty(),
            FinalLink::Itself => OFlags::NOFOLLOW,
        };
        let path = self.text(path)?;
        let path = self.as_seen_from_here(Path::new(OsStr::from_bytes(path.as_bytes())))?;
        openat(folder, path, OFlags::PATH | OFlags::CLOEXEC | follow, Mode::empty())
    }

    /// Whoever says `/proc/self` does not mean this process.
    fn as_seen_from_here(&self, path: &Path) -> Result<PathBuf, Errno> {
        Ok(match path.strip_prefix("/proc/self") {
            Ok(rest) => PathBuf::from(format!("/proc/{}", self.process()?)).join(rest),
            Err(_) => path.to_owned(),
        })
    }

    fn working_folder(&self) -> Result<OwnedFd, Errno> {
        let link = format!("/proc/{}/cwd", self.0.thread);
        openat(CWD, link, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
    }

    fn memory(&self) -> Result<File, Errno> {
        File::open(format!("/proc/{}/mem", self.0.thread)).map_err(|_| Errno::ACCESS)
    }

    fn process(&self) -> Result<Pid, Errno> {
        let status = fs_err::read_to_string(format!("/proc/{}/status", self.0.thread));
        let status = status.map_err(|_| Errno::SRCH)?;
        let number = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
        let number = number.and_then(|number| number.trim().parse().ok());
        number.and_then(Pid::from_raw).ok_or(Errno::SRCH)
    }
}

/// Returns the kernel's own name of an open file.
pub(super) fn place(file: &OwnedFd) -> Result<PathBuf, Errno> {
    fs_err::read_link(by_number(file)).map_err(|_| Errno::ACCESS)
}

/// Returns a path that leads to an open file of this process, whatever its name is by now.
pub(super) fn by_number(file: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
