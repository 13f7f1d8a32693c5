//! The broker: does in the engine's place what the wall allows only after a look at more than numbers.
//!
//! Landlock knows ports but not addresses, no unix sockets, nobody who listens without a port, and neither the modes and
//! times of files nor who watches them. So these calls never reach the kernel from behind the wall: the filter hands them
//! to the supervisor, which reads the arguments once, takes the caller's files, compares, and makes the call itself with
//! its own copies. Nothing can be swapped in between. When the supervisor is gone, the kernel refuses all of them by
//! itself.

use std::{io, os::fd::OwnedFd, path::PathBuf, sync::Arc, thread};

use libc::c_long;
use rustix::{
    fs::inotify::{WatchFlags, add_watch},
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, connect, getsockname, listen},
    process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open},
};

use crate::wall::{
    Address, Enclosure, WallError, WallSpec,
    attributes::{self, AttributeChange},
    caller::{Caller, FinalLink, by_number, place},
    kernel::{Listener, PendingCall},
    powers,
    wanted::LONGEST,
};

/// How many calls can wait for the other side at the same time; a full queue of a listener blocks one.
const HANDS: usize = 4;

/// Returns the calls that go to the broker.
///
/// In namespaces everything but the engine's own folders is read-only, and nobody has to look at single changes.
pub(super) fn calls(enclosure: Enclosure) -> Vec<c_long> {
    let always = [libc::SYS_connect, libc::SYS_listen, libc::SYS_inotify_add_watch];
    let changes = match enclosure {
        Enclosure::Open => attributes::CALLS,
        Enclosure::Root | Enclosure::Sudo(_) => &[],
    };
    [&always, changes].concat()
}

/// Serves the calls that arrive until the process ends.
pub(super) fn serve(listener: Listener, allowed: Allowed) -> io::Result<()> {
    let broker = Arc::new(Broker { listener, allowed });
    for _ in 0..HANDS {
        let broker = Arc::clone(&broker);
        thread::Builder::new().name("broker".to_owned()).spawn(move || broker.run())?;
    }
    Ok(())
}

/// What may be done in the engine's place.
#[derive(Debug)]
pub(super) struct Allowed {
    connect: Vec<Address>,
    listen: Vec<u16>,
    /// The engine's own folders, by their true names.
    folders: Vec<PathBuf>,
    enclosure: Enclosure,
}

impl Allowed {
    /// Reads it from a wall.
    pub(super) fn by(spec: &WallSpec) -> Self {
        Self {
            connect: spec.connect.clone(),
            listen: spec.listen.clone(),
            folders: spec.write.iter().filter_map(|path| fs_err::canonicalize(path).ok()).collect(),
            enclosure: spec.enclosure,
        }
    }

    fn connecting(&self, wanted: Address) -> Result<Address, Errno> {
        if self.connect.iter().any(|allowed| allowed.admits(&wanted)) {
            return Ok(wanted);
        }
        tracing::debug!(address = %wanted, "refused a connection to {wanted}");
        Err(Errno::ACCESS)
    }

    /// A socket that was bound to no port gets one from the kernel when it listens, on every address of the machine.
    /// One that is bound stays where it is.
    fn listening(&self, socket: OwnedFd) -> Result<OwnedFd, Errno> {
        let bound = getsockname(&socket)?;
        if bound.address_family() == AddressFamily::UNIX {
            return Ok(socket);
        }
        let bound = std::net::SocketAddr::try_from(bound).map_err(|_| Errno::ACCESS)?;
        let is_own = bound.ip().to_canonical().is_loopback() && self.listen.contains(&bound.port());
        if is_own { Ok(socket) } else { Err(Errno::ACCESS) }
    }

    /// The true name of an open file is the kernel's, and whoever is behind the wall can give none to a file outside.
    fn within(&self, file: OwnedFd) -> Result<OwnedFd, Errno> {
        let name = place(&file)?;
        if self.folders.iter().any(|folder| name.starts_with(folder)) { Ok(file) } else { Err(Errno::ROFS) }
    }
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
    allowed: Allowed,
}

/// What is done in a caller's place, with everything that it takes.
enum BrokeredCall {
    Connect(OwnedFd, Address),
    Listen(OwnedFd, i32),
    Watch { watcher: OwnedFd, file: OwnedFd, events: WatchFlags },
    Change(OwnedFd, AttributeChange),
}

impl Broker {
    fn run(&self) {
        if let Err(error) = self.become_its_equal() {
            tracing::error!("the broker ends: {error}");
            return;
        }
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
                    tracing::error!("the broker ends: {error}");
                    return;
                }
            }
        }
    }

    /// Leaves this thread no more rights than its callers' user has.
    fn become_its_equal(&self) -> Result<(), Errno> {
        match self.allowed.enclosure {
            Enclosure::Open => powers::drop_capabilities(),
            // It connects to sockets that are root's. By `sudo`, root was given back already.
            Enclosure::Root | Enclosure::Sudo(_) => Ok(()),
        }
    }

    fn decide(&self, call: &PendingCall) -> Result<i32, Errno> {
        let errand = self.errand(&Caller::new(call))?;
        // What was read and taken is the caller's only if its number is still its own.
        if !self.listener.is_waiting(call) {
            return Err(Errno::SRCH);
        }
        errand.run()
    }

    fn errand(&self, caller: &Caller<'_>) -> Result<BrokeredCall, Errno> {
        match caller.call() {
            libc::SYS_connect => {
                let length = usize::try_from(caller.number(2)).map_err(|_| Errno::INVAL)?;
                let address = caller.bytes(1, Some(length).filter(|length| *length <= LONGEST))?;
                let wanted = Address::from_kernel(&address).ok_or(Errno::ACCESS)?;
                Ok(BrokeredCall::Connect(caller.file(0)?, self.allowed.connecting(wanted)?))
            }
            libc::SYS_listen => {
                let socket = self.allowed.listening(caller.file(0)?)?;
                Ok(BrokeredCall::Listen(socket, caller.number(1).cast_signed()))
            }
            libc::SYS_inotify_add_watch => {
                let events = WatchFlags::from_bits_retain(caller.number(2));
                let last = if events.contains(WatchFlags::DONT_FOLLOW) {
                    FinalLink::Itself
                } else {
                    FinalLink::Followed
                };
                let file = self.allowed.within(caller.named(1, last)?)?;
                let events = events - WatchFlags::DONT_FOLLOW;
                Ok(BrokeredCall::Watch { watcher: caller.file(0)?, file, events })
            }
            _ => {
                let (file, change) = attributes::read(caller)?;
                Ok(BrokeredCall::Change(self.allowed.within(file)?, change))
            }
        }
    }
}

impl BrokeredCall {
    fn run(self) -> Result<i32, Errno> {
        match self {
            Self::Connect(socket, Address::Tcp(address)) => connect(&socket, &address).map(|()| 0),
            Self::Connect(socket, Address::Unix(path)) => {
                connect(&socket, &SocketAddrUnix::new(&path)?).map(|()| 0)
            }
            Self::Listen(socket, queue) => listen(&socket, queue).map(|()| 0),
            Self::Watch { watcher, file, events } => add_watch(&watcher, by_number(&file), events),
            Self::Change(file, change) => change.make(&file).map(|()| 0),
        }
    }
}
