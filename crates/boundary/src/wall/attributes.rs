//! Changes of what is known about a file: mode, owner, times, extended attributes.
//!
//! Landlock says nothing about them, and a user may change all of them in files that were opened for reading, or only by
//! their names.

use std::{ffi::CString, os::fd::OwnedFd};

use libc::c_long;
use rustix::{
    fs::{
        AtFlags, CWD, Gid, Mode, Timespec, Timestamps, UTIME_NOW, Uid, XattrFlags, chmod, chownat,
        removexattr, setxattr, utimensat,
    },
    io::Errno,
};

use crate::wall::caller::{Caller, FinalLink, by_number};

/// The largest value that the kernel takes for an extended attribute.
const LARGEST: usize = 65_536;

/// The calls that make such changes.
pub(super) const CALLS: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// A change to make.
#[derive(Debug)]
pub(super) enum AttributeChange {
    Mode(Mode),
    Owner(Option<Uid>, Option<Gid>),
    Times(Timestamps),
    Attribute { name: CString, value: Vec<u8>, flags: XattrFlags },
    NoAttribute { name: CString },
}

/// Reads which file is to be changed and how.
pub(super) fn read(caller: &Caller<'_>) -> Result<(OwnedFd, AttributeChange), Errno> {
    match caller.call() {
        libc::SYS_fchmod => Ok((caller.file(0)?, mode(caller, 1))),
        libc::SYS_fchmodat => Ok((caller.named_in(0, 1, FinalLink::Followed)?, mode(caller, 2))),
        libc::SYS_fchmodat2 => Ok((named(caller, 3)?, mode(caller, 2))),
        libc::SYS_fchown => Ok((caller.file(0)?, owner(caller, 1))),
        libc::SYS_fchownat => Ok((named(caller, 4)?, owner(caller, 2))),
        libc::SYS_utimensat if caller.is_null(1) => Ok((caller.file(0)?, times(caller, 2, 1)?)),
        libc::SYS_utimensat => Ok((named(caller, 3)?, times(caller, 2, 1)?)),
        libc::SYS_setxattr => Ok((caller.named(0, FinalLink::Followed)?, attribute(caller)?)),
        libc::SYS_lsetxattr => Ok((caller.named(0, FinalLink::Itself)?, attribute(caller)?)),
        libc::SYS_fsetxattr => Ok((caller.file(0)?, attribute(caller)?)),
        libc::SYS_removexattr => Ok((caller.named(0, FinalLink::Followed)?, no_attribute(caller)?)),
        libc::SYS_lremovexattr => Ok((caller.named(0, FinalLink::Itself)?, no_attribute(caller)?)),
        libc::SYS_fremovexattr => Ok((caller.file(0)?, no_attribute(caller)?)),
        _ => read_old(caller),
    }
}

/// Reads the calls that only old architectures have.
#[cfg(target_arch = "x86_64")]
fn read_old(caller: &Caller<'_>) -> Result<(OwnedFd, AttributeChange), Errno> {
    match caller.call() {
        libc::SYS_chmod => Ok((caller.named(0, FinalLink::Followed)?, mode(caller, 1))),
        libc::SYS_chown => Ok((caller.named(0, FinalLink::Followed)?, owner(caller, 1))),
        libc::SYS_lchown => Ok((caller.named(0, FinalLink::Itself)?, owner(caller, 1))),
        libc::SYS_utime => Ok((caller.named(0, FinalLink::Followed)?, whole_seconds(caller)?)),
        libc::SYS_utimes => Ok((caller.named(0, FinalLink::Followed)?, times(caller, 1, MICRO)?)),
        libc::SYS_futimesat if caller.is_null(1) => Ok((caller.file(0)?, times(caller, 2, MICRO)?)),
        libc::SYS_futimesat => Ok((caller.named_in(0, 1, FinalLink::Followed)?, times(caller, 2, MICRO)?)),
        _ => Err(Errno::NOSYS),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn read_old(_: &Caller<'_>) -> Result<(OwnedFd, AttributeChange), Errno> {
    Err(Errno::NOSYS)
}

/// Opens what the first two arguments name, as the flags in a third one want it.
fn named(caller: &Caller<'_>, flags: usize) -> Result<OwnedFd, Errno> {
    let flags = AtFlags::from_bits_retain(caller.number(flags));
    let known = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
    if !known.contains(flags) {
        return Err(Errno::INVAL);
    }
    if flags.contains(AtFlags::EMPTY_PATH) && caller.text(1)?.is_empty() {
        return caller.file(0);
    }
    let last =
        if flags.contains(AtFlags::SYMLINK_NOFOLLOW) { FinalLink::Itself } else { FinalLink::Followed };
    caller.named_in(0, 1, last)
}

fn mode(caller: &Caller<'_>, argument: usize) -> AttributeChange {
    AttributeChange::Mode(Mode::from_bits_truncate(caller.number(argument)))
}

fn owner(caller: &Caller<'_>, first: usize) -> AttributeChange {
    let wanted = |argument| Some(caller.number(argument)).filter(|id| *id != u32::MAX);
    AttributeChange::Owner(wanted(first).map(Uid::from_raw), wanted(first + 1).map(Gid::from_raw))
}

/// How many nanoseconds the second part of a time counts by.
#[cfg(target_arch = "x86_64")]
const MICRO: i64 = 1000;

/// Reads two times of seconds and parts of a second each.
fn times(caller: &Caller<'_>, argument: usize, unit: i64) -> Result<AttributeChange, Errno> {
    let [accessed, its_part, modified, part] = numbers(caller, argument)?.unwrap_or([0, NOW, 0, NOW]);
    let time = |seconds, part: i64| {
        let nanoseconds = if part == NOW { Some(part) } else { part.checked_mul(unit) };
        Ok(Timespec { tv_sec: seconds, tv_nsec: nanoseconds.ok_or(Errno::INVAL)? })
    };
    Ok(AttributeChange::Times(Timestamps {
        last_access: time(accessed, its_part)?,
        last_modification: time(modified, part)?,
    }))
}

#[cfg(target_arch = "x86_64")]
fn whole_seconds(caller: &Caller<'_>) -> Result<AttributeChange, Errno> {
    let [accessed, modified] = match numbers(caller, 1)? {
        Some(times) => times.map(|tv_sec| Timespec { tv_sec, tv_nsec: 0 }),
        None => [Timespec { tv_sec: 0, tv_nsec: NOW }; 2],
    };
    Ok(AttributeChange::Times(Timestamps { last_access: accessed, last_modification: modified }))
}

/// Stands for the time of the call.
const NOW: i64 = UTIME_NOW;

/// Reads the numbers that an argument points to, if it points anywhere.
fn numbers<const N: usize>(caller: &Caller<'_>, argument: usize) -> Result<Option<[i64; N]>, Errno> {
    if caller.is_null(argument) {
        return Ok(None);
    }
    let bytes = caller.bytes(argument, Some(N * size_of::<i64>()))?;
    let mut numbers =
        bytes.chunks_exact(size_of::<i64>()).map(|bytes| bytes.try_into().map(i64::from_ne_bytes));
    let read = std::array::from_fn(|_| numbers.next().and_then(Result::ok).unwrap_or_default());
    Ok(Some(read))
}

fn attribute(caller: &Caller<'_>) -> Result<AttributeChange, Errno> {
    let length = usize::try_from(caller.number(3)).ok().filter(|length| *length <= LARGEST);
    let flags = XattrFlags::from_bits_retain(caller.number(4));
    Ok(AttributeChange::Attribute { name: caller.text(1)?, value: caller.bytes(2, length)?, flags })
}

fn no_attribute(caller: &Caller<'_>) -> Result<AttributeChange, Errno> {
    Ok(AttributeChange::NoAttribute { name: caller.text(1)? })
}

impl AttributeChange {
    /// Makes the change in an open file, whatever it was opened for.
    pub(super) fn make(&self, file: &OwnedFd) -> Result<(), Errno> {
        let (file, none) = (by_number(file), AtFlags::empty());
        match self {
            Self::Mode(mode) => chmod(file, *mode),
            Self::Owner(owner, group) => chownat(CWD, file, *owner, *group, none),
            Self::Times(times) => utimensat(CWD, file, times, none),
            Self::Attribute { name, value, flags } => setxattr(file, name.as_c_str(), value, *flags),
            Self::NoAttribute { name } => removexattr(file, name.as_c_str()),
        }
    }
}
