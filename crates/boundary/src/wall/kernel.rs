//! Speaks to the kernel where no crate does it safely: calls that a filter hands to another process, and whole trees of
//! mounts that become read-only at once.
//!
//! This is the only unsafe code of the house. Every block makes one call with pointers to values that live across it and
//! have the type that the kernel writes or reads; the kernel checks the rest.

#![expect(unsafe_code, reason = "no crate wraps seccomp's notifications without a library of C")]

use std::{
    ffi::CStr,
    io,
    os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd},
};

use libc::{
    Ioctl, c_int, c_long, c_uint, seccomp_data, seccomp_notif, seccomp_notif_resp, sock_filter, sock_fprog,
};
use rustix::io::Errno;

/// Where the calls arrive that a filter hands over.
#[derive(Debug)]
pub(crate) struct Listener(OwnedFd);

/// A call that waits for its answer.
#[derive(Debug)]
pub(super) struct PendingCall {
    id: u64,
    /// Which call it is.
    pub(super) number: c_long,
    /// The thread that calls.
    pub(super) thread: u32,
    /// The call's arguments.
    pub(super) arguments: [u64; 6],
}

/// Puts a filter before this thread that hands calls over, and returns where they arrive.
///
/// A call that was taken up can be broken off by nothing but the end of its process: a signal would have it begin again
/// when half of it is done.
pub(super) fn hand_over(program: &mut [sock_filter]) -> io::Result<Listener> {
    let length = program.len().try_into().map_err(io::Error::other)?;
    let program = sock_fprog { len: length, filter: program.as_mut_ptr() };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    let mode: c_uint = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: `program` and the instructions that it points to outlive the call, which only reads them.
    let file = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) };
    match RawFd::try_from(file) {
        // SAFETY: the kernel has just made this file for us, and nobody else knows of it.
        Ok(file) if file >= 0 => Ok(Listener(unsafe { OwnedFd::from_raw_fd(file) })),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Listener {
    /// Waits for a call.
    pub(super) fn receive(&self) -> Result<PendingCall, Errno> {
        let data = seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] };
        let mut notice = seccomp_notif { id: 0, pid: 0, flags: 0, data };
        self.control(libc::SECCOMP_IOCTL_NOTIF_RECV, &mut notice)?;
        let number = notice.data.nr.into();
        Ok(PendingCall { id: notice.id, number, thread: notice.pid, arguments: notice.data.args })
    }

    /// Tells whether the call still waits, so that its thread's number has not gone to another one.
    pub(super) fn is_waiting(&self, call: &PendingCall) -> bool {
        let mut id = call.id;
        self.control(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &mut id).is_ok()
    }

    /// Ends the call with a result or with an error; its own way into the kernel stays shut.
    pub(super) fn answer(&self, call: &PendingCall, outcome: Result<i32, Errno>) -> Result<(), Errno> {
        let (value, error) = match outcome {
            Ok(value) => (value.into(), 0),
            Err(error) => (0, -error.raw_os_error()),
        };
        let mut answer = seccomp_notif_resp { id: call.id, val: value, error, flags: 0 };
        self.control(libc::SECCOMP_IOCTL_NOTIF_SEND, &mut answer)
    }

    fn control<T: PlainData>(&self, request: Ioctl, word: &mut T) -> Result<(), Errno> {
        // SAFETY: each request names the size of its word, which is `T`'s, and `word` outlives the call.
        let outcome: c_int = unsafe { libc::ioctl(self.0.as_raw_fd(), request, std::ptr::from_mut(word)) };
        if outcome < 0 {
            return Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO));
        }
        Ok(())
    }
}

/// What is exchanged with the kernel about a call: plain numbers, for which every pattern of bits is a value.
trait PlainData {}

impl PlainData for seccomp_notif {}
impl PlainData for seccomp_notif_resp {}
impl PlainData for u64 {}

impl From<OwnedFd> for Listener {
    fn from(file: OwnedFd) -> Self {
        Self(file)
    }
}

impl From<Listener> for OwnedFd {
    fn from(listener: Listener) -> Self {
        listener.0
    }
}

/// Whether the files of a mount can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// Not on this mount, nor on any below it.
    Refused,
    /// On this mount, not on those below it.
    Allowed,
}

/// Makes a mount, and those below it, read-only, or makes a single one writable again.
pub(super) fn set_writing(place: &CStr, writing: Writing) -> io::Result<()> {
    let (set, clear, reach) = match writing {
        Writing::Refused => (READ_ONLY, 0, libc::AT_RECURSIVE),
        Writing::Allowed => (0, READ_ONLY, 0),
    };
    let change = MountAttributes { set, clear, propagation: 0, user_namespace: 0 };
    let (change, size) = (&raw const change, size_of::<MountAttributes>());
    // SAFETY: `place` ends with a zero, and `change`, of the size that is named, outlives the call, which only reads it.
    let outcome = unsafe {
        libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, place.as_ptr(), reach, change, size)
    };
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// `MOUNT_ATTR_RDONLY`.
const READ_ONLY: u64 = 1;

/// `struct mount_attr`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}
