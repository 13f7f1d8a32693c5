//! The connect broker: makes every connection of the engine in its place, if it leads where the wall allows.
//!
//! Landlock knows ports but not addresses, and no unix sockets. So `connect` never reaches the kernel from behind the
//! wall: the filter hands it to the supervisor, which reads the address once, compares it with its list, and connects
//! the caller's socket to its own copy of the address. Nothing can be swapped in between. When the supervisor is gone,
//! the kernel refuses every connection by itself.

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::fs::FileExt as _},
    path::PathBuf,
    sync::Arc,
    thread,
};

use rustix::{
    io::Errno,
    net::{SocketAddrUnix, connect},
    process::{Pid, PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open},
};

use crate::wall::{
    Address, WallError, WallSpec,
    kernel::{Held, Listener},
    wanted::LONGEST,
};

/// How many connections can wait for the other side at the same time; a full queue of a listener blocks one.
const HANDS: usize = 4;

/// Serves the calls that arrive until the process ends.
pub(super) fn serve(listener: Listener, allowed: Vec<Address>) -> io::Result<()> {
    let broker = Arc::new(Broker { listener, allowed });
    for _ in 0..HANDS {
        let broker = Arc::clone(&broker);
        thread::Builder::new().name("connect".to_owned()).spawn(move || broker.run())?;
    }
    Ok(())
}

/// Tells whether this machine lets a supervisor take a socket of a process below it.
///
/// Container engines forbid it by default.
pub(super) fn offered() -> Result<(), String> {
    let own = pidfd_open(getpid(), PidfdFlags::empty());
    let taken = own.and_then(|own| pidfd_getfd(&own, 0, PidfdGetfdFlags::empty()));
    match taken {
        // This process may have closed its standard input.
        Ok(_) | Err(Errno::BADF) => Ok(()),
        Err(error) => Err(format!("connections cannot be made in the engine's place: pidfd_getfd: {error}")),
    }
}

/// Refuses a list with a unix socket that the engine could replace by a link to another one.
pub(super) fn see_that_paths_are_safe(spec: &WallSpec) -> Result<(), WallError> {
    let writable: Vec<PathBuf> =
        spec.write.iter().filter_map(|path| fs_err::canonicalize(path).ok()).collect();
    let is_safe = |path: &PathBuf| {
        let folder = path.parent().and_then(|folder| fs_err::canonicalize(folder).ok());
        folder.is_some_and(|folder| !writable.iter().any(|writable| folder.starts_with(writable)))
    };
    for address in &spec.connect {
        match address {
            Address::Unix(path) if !path.is_absolute() || !is_safe(path) => {
                let what = format!("`{address}` is no absolute path, or lies where the engine can write");
                return Err(WallError::Arguments(what));
            }
            Address::Unix(_) | Address::Tcp(_) => {}
        }
    }
    Ok(())
}

struct Broker {
    listener: Listener,
    allowed: Vec<Address>,
}

impl Broker {
    fn run(&self) {
        loop {
            match self.listener.receive() {
                Ok(call) => {
                    let outcome = self.decide(&call);
                    // Who has gone in the meantime needs no answer.
                    let _: Result<(), Errno> = self.listener.answer(&call, outcome);
                }
                // The caller ended before its call was taken up.
                Err(Errno::NOENT | Errno::INTR) => {}
                Err(error) => {
                    tracing::error!("the connect broker ends: {error}");
                    return;
                }
            }
        }
    }

    fn decide(&self, call: &Held) -> Result<(), Errno> {
        let [socket, address, length, ..] = call.arguments;
        let address = read(call.thread, address, low_half(length))?;
        let wanted = Address::from_kernel(&address).ok_or(Errno::ACCESS)?;
        if !self.allowed.iter().any(|allowed| allowed.admits(&wanted)) {
            tracing::debug!(address = %wanted, "refused a connection to {wanted}");
            return Err(Errno::ACCESS);
        }
        let socket = take(call.thread, low_half(socket))?;
        // What was read and taken is the caller's only if its number is still its own.
        if !self.listener.is_waiting(call) {
            return Err(Errno::SRCH);
        }
        match wanted {
            Address::Tcp(address) => connect(&socket, &address),
            Address::Unix(path) => connect(&socket, &SocketAddrUnix::new(&path)?),
        }
    }
}

/// Reads the address out of the caller's memory.
fn read(thread: u32, place: u64, length: u32) -> Result<Vec<u8>, Errno> {
    let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST).ok_or(Errno::INVAL)?;
    let mut bytes = vec![0; length];
    let memory = File::open(format!("/proc/{thread}/mem")).map_err(|_| Errno::ACCESS)?;
    memory.read_exact_at(&mut bytes, place).map_err(|_| Errno::FAULT)?;
    Ok(bytes)
}

/// Takes the caller's socket, so that it is also ours.
fn take(thread: u32, socket: u32) -> Result<OwnedFd, Errno> {
    let process = process_of(thread).ok_or(Errno::SRCH)?;
    let process = pidfd_open(process, PidfdFlags::empty())?;
    pidfd_getfd(&process, socket.cast_signed(), PidfdGetfdFlags::empty())
}

fn process_of(thread: u32) -> Option<Pid> {
    let status = fs_err::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let number = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    Pid::from_raw(number.trim().parse().ok()?)
}

/// The kernel reads no more than this of the arguments that are used here.
fn low_half(argument: u64) -> u32 {
    (argument & u64::from(u32::MAX)).try_into().unwrap_or_default()
}
