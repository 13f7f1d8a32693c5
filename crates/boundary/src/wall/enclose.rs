//! Puts namespaces around the wall: its supervisor becomes the first process of its own, and sees no other.
//!
//! ```text
//! root:  harness ─► wall ─► wall --enclosed (process 1) ─► wall --inside, then the engine
//! sudo:  harness ─► wall ─► sudo ─► wall --enclosing ─► wall --enclosed ─► wall --inside, then the engine
//! ```
//!
//! When process 1 ends, the kernel ends everything else in its namespace. What the harness wants is passed on by a pipe,
//! since nobody may signal what `sudo` started: a byte is a signal, and the pipe's end is the end.

use std::{
    ffi::{CString, OsString},
    fs::File,
    io::{self, Write as _},
    os::{
        fd::AsFd as _,
        unix::{ffi::OsStrExt as _, process::ExitStatusExt as _},
    },
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
};

use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
    sys::signalfd::SignalFd,
};
use rustix::event::{PollFd, PollFlags};

use crate::wall::{
    Enclosure, User, WallError, WallSpec,
    enclosure::SUDO,
    grant,
    kernel::{self, Writing},
    powers,
    process_strings::ProcessStrings,
    supervisor::{KILLED, Lifeline, StopWish, queue_signals, stop_signal, wait_for},
};

/// Begins the arguments of the process that `sudo` starts.
pub(super) const ENCLOSING: &str = "--enclosing";
/// Begins the arguments of the first process of the namespaces.
pub(super) const ENCLOSED: &str = "--enclosed";

/// Starts the wall as `sudo` or the harness's own root can, and passes on what the harness wants.
pub(super) fn enclose(
    launcher: &Launcher,
    spec: &WallSpec,
    (command, environment): (&[OsString], Vec<(OsString, OsString)>),
) -> Result<u8, WallError> {
    let signals = queue_signals().map_err(WallError::kernel("queue the signals"))?;
    let inner = match spec.enclosure {
        Enclosure::Open | Enclosure::Root => {
            grant::give(&spec.write, User::NOBODY)?;
            part()?;
            started(launcher.first(spec, command).stdin(Stdio::piped()))?
        }
        Enclosure::Sudo(_) => {
            let mut sudo = Command::new(SUDO);
            sudo.args(["-n", "--"]).args(&launcher.0).arg(ENCLOSING).env_clear().stdin(Stdio::piped());
            let mut sudo = started(&mut sudo)?;
            let strings = ProcessStrings { arguments: arguments(spec, command), environment };
            let sent = sudo.stdin.as_mut().map_or(Ok(()), |stdin| strings.send(stdin));
            // One that did not even read says why on its way out.
            sent.unwrap_or_else(|error| tracing::debug!("`sudo` did not listen: {error}"));
            sudo
        }
    };
    relay(inner, &signals).map_err(WallError::kernel("watch over the supervisor"))
}

/// Does as root what `sudo` was asked for: reads what to start and starts it in namespaces of its own.
pub(super) fn enclosing(launcher: &Launcher) -> Result<u8, WallError> {
    let stdin = rustix::stdio::stdin().try_clone_to_owned();
    let strings = stdin.and_then(|stdin| ProcessStrings::receive(&mut File::from(stdin)));
    let strings = strings.map_err(WallError::kernel("hear what to wall in"))?;
    let (spec, command) = WallSpec::parse(strings.arguments)?;
    part()?;
    let mut first = launcher.first(&spec, &command);
    let mut first = started(first.env_clear().envs(strings.environment))?;
    first.wait().map(exit_code).map_err(WallError::kernel("wait for the supervisor"))
}

/// Makes the first process at home in its namespaces: an own `/proc`, all but the engine's folders read-only, and no more
/// rights than it needs.
pub(super) fn settle(spec: &WallSpec) -> Result<(), WallError> {
    let (none, all): (Option<&str>, _) = (None, MsFlags::MS_PRIVATE | MsFlags::MS_REC);
    mount(none, "/", none, all, none).map_err(WallError::kernel("part with the machine's mounts"))?;
    seal(&spec.write)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, none)
        .map_err(WallError::kernel("mount an own /proc"))?;
    match spec.enclosure {
        Enclosure::Sudo(user) => powers::give_root_back(user).map_err(WallError::kernel("give root back")),
        // It watches over another user's processes, and connects to sockets that are root's.
        Enclosure::Open | Enclosure::Root => Ok(()),
    }
}

/// Makes every mount read-only but for some folders.
///
/// Landlock says nothing about the mode, times and attributes of files, which a user may change in whatever it owns.
fn seal(writable: &[PathBuf]) -> Result<(), WallError> {
    let here = std::env::current_dir();
    let none: Option<&str> = None;
    for folder in writable {
        let bound = mount(Some(folder), folder, none, MsFlags::MS_BIND | MsFlags::MS_REC, none);
        bound.map_err(|error| WallError::Folder { path: folder.clone(), source: error.into() })?;
    }
    let sealed = || {
        kernel::set_writing(c"/", Writing::Refused)?;
        for folder in writable {
            kernel::set_writing(&CString::new(folder.as_os_str().as_bytes())?, Writing::Allowed)?;
        }
        // The folder of the same name lies on another mount by now.
        std::env::set_current_dir(here?)
    };
    sealed().map_err(WallError::kernel("make the machine's files read-only"))
}

/// The command line that leads to `fro-bot wall`.
pub(super) struct Launcher(pub(super) Vec<OsString>);

impl Launcher {
    /// Returns a command that goes on with this stage of the wall.
    pub(super) fn stage(&self, stage: &str, spec: &WallSpec, command: &[OsString]) -> Command {
        let mut words = self.0.iter();
        let mut next = Command::new(words.next().cloned().unwrap_or_default());
        next.args(words).arg(stage).args(arguments(spec, command));
        next
    }

    fn first(&self, spec: &WallSpec, command: &[OsString]) -> Command {
        self.stage(ENCLOSED, spec, command)
    }
}

fn arguments(spec: &WallSpec, command: &[OsString]) -> Vec<OsString> {
    [spec.arguments(), vec!["--".into()], command.to_vec()].concat()
}

/// Lets the next process be the first of new namespaces.
fn part() -> Result<(), WallError> {
    let all = CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    unshare(all).map_err(WallError::kernel("make namespaces"))
}

fn started(command: &mut Command) -> Result<Child, WallError> {
    let program = command.get_program().to_owned();
    command.spawn().map_err(|source| WallError::Program { program, source })
}

/// Passes signals and the end of the lifeline on until the supervisor has ended; its code is ours.
fn relay(mut inner: Child, signals: &SignalFd) -> io::Result<u8> {
    let (mut pipe, mut watched) = (inner.stdin.take(), 2);
    loop {
        if let Some(status) = inner.try_wait()? {
            return Ok(exit_code(status));
        }
        let stdin = io::stdin();
        let mut sources =
            [PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
        wait_for(&mut sources[..watched], None)?;
        let moved = watched == 2 && !sources[1].revents().is_empty();
        let is_cut = moved && Lifeline::Harness.wish() != StopWish::Nothing;
        if is_cut {
            watched = 1;
        }
        if stop_signal(signals)? || is_cut {
            // One that has just ended needs no word.
            drop(pipe.as_mut().map(|pipe| pipe.write_all(b"!")));
        }
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(KILLED)
}
