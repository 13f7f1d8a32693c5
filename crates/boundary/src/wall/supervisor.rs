//! The first process: stays outside the wall, holds the lifeline, leaves no process behind.

use std::{
    io,
    os::fd::OwnedFd,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::sys::{
    signal::{SigSet, Signal as Number},
    signalfd::{SfdFlags, SignalFd},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, setsid, wait,
    },
};

use crate::wall::{
    WallError, WallSpec,
    broker::{self, Allowed},
    listener,
};

/// Starts the second process, waits for it and returns its exit code, 128 and more for a signal.
///
/// Standard input is the lifeline: the harness holds the other end of the pipe, and when that
/// ends, be it by `SIGKILL`, everything behind the wall ends. So it does on SIGTERM, SIGINT and
/// SIGHUP: the engine is asked, has the wall's `grace` to obey (a second signal cuts that short), and then
/// whatever is left is killed. Engines put their shells into sessions of their own, so a process
/// group would miss them; orphans come to this process instead, since it is their subreaper.
pub(super) fn supervise(mut second: Command, spec: &WallSpec, lifeline: Lifeline) -> Result<u8, WallError> {
    let signals = queue_signals().map_err(WallError::kernel("queue the signals"))?;
    set_child_subreaper(Some(getpid())).map_err(WallError::kernel("adopt orphans"))?;
    // Fails for the leader of a group, which Ctrl-C reaches anyway and rightly.
    let _: Result<Pid, Errno> = setsid();
    broker::see_that_paths_are_safe(spec)?;
    let (way, stdin) = listener::way().map_err(WallError::kernel("make a way for the connections"))?;
    let child = second.stdin(Stdio::from(stdin)).spawn();
    let child =
        child.map_err(|source| WallError::Program { program: second.get_program().into(), source })?;
    // It holds the other end of the way, which has to be the second process's alone.
    drop(second);
    start_broker(way, Allowed::by(spec)).map_err(WallError::kernel("start the broker"))?;
    let supervisor = Supervisor { signals, lifeline, engine: Pid::from_child(&child), ended: None };
    supervisor.run(spec.grace).map_err(WallError::kernel("watch over the engine"))
}

/// Serves connections beside the supervisor, who must hear of the lifeline whatever a connection does.
///
/// Its threads inherit that signals are blocked; they end with the process.
fn start_broker(way: OwnedFd, allowed: Allowed) -> io::Result<()> {
    let serve = move || match listener::receive(&way) {
        Ok(Some(listener)) => broker::serve(listener, allowed),
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    let complain = |error| tracing::error!("the broker did not start: {error}");
    thread::Builder::new().name("broker".to_owned()).spawn(move || serve().unwrap_or_else(complain))?;
    Ok(())
}

/// What standard input is to a supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lifeline {
    /// A pipe from the harness: its end asks for ours, words on it mean nothing.
    Harness,
    /// A pipe from the wall outside the namespaces: a word asks, and its end leaves no time.
    Relay,
}

/// What somebody wants of a supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopWish {
    Nothing,
    /// The engine is to end, or to be quicker about it.
    Stop,
    /// Everything is to end now.
    End,
}

impl Lifeline {
    /// Reads what has come.
    pub(super) fn wish(self) -> StopWish {
        let mut words = [0; 256];
        match (rustix::io::read(io::stdin(), &mut words), self) {
            (Ok(1..), Self::Harness) | (Err(Errno::AGAIN | Errno::INTR), _) => StopWish::Nothing,
            (Ok(1..), Self::Relay) | (Ok(0) | Err(_), Self::Harness) => StopWish::Stop,
            (Ok(0) | Err(_), Self::Relay) => StopWish::End,
        }
    }
}

struct Supervisor {
    signals: SignalFd,
    lifeline: Lifeline,
    engine: Pid,
    ended: Option<u8>,
}

#[derive(Clone, Copy)]
enum Phase {
    /// The lifeline counts.
    Running,
    /// The engine was asked to end, by this time.
    Stopping(Instant),
}

enum SupervisorEvent {
    Ended,
    StopAsked,
    Silence,
}

impl Supervisor {
    fn run(mut self, grace: Duration) -> io::Result<u8> {
        let watched = self.watch(grace);
        // Whatever went wrong until here, nothing stays behind.
        let code = self.sweep()?;
        watched.map(|()| code)
    }

    fn watch(&mut self, grace: Duration) -> io::Result<()> {
        if let SupervisorEvent::StopAsked = self.news(Phase::Running)? {
            // It may be gone already; then there is nobody to ask.
            let _: Result<(), Errno> = kill_process(self.engine, Signal::TERM);
            self.news(Phase::Stopping(Instant::now() + grace))?;
        }
        Ok(())
    }

    /// Waits until the engine has ended, somebody wants it to, or the time is up.
    fn news(&mut self, phase: Phase) -> io::Result<SupervisorEvent> {
        loop {
            self.reap()?;
            if self.ended.is_some() {
                return Ok(SupervisorEvent::Ended);
            }
            let limit = match phase {
                Phase::Running => None,
                Phase::Stopping(until) if until <= Instant::now() => return Ok(SupervisorEvent::Silence),
                Phase::Stopping(until) => Some(until - Instant::now()),
            };
            match self.wish(phase, limit)? {
                StopWish::Nothing => {}
                StopWish::Stop => return Ok(SupervisorEvent::StopAsked),
                StopWish::End => return Ok(SupervisorEvent::Silence),
            }
        }
    }

    /// Waits for anything to happen and returns what it means.
    fn wish(&self, phase: Phase, limit: Option<Duration>) -> io::Result<StopWish> {
        let stdin = io::stdin();
        let mut sources = [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
        let n_watched = match (phase, self.lifeline) {
            // It may be what has asked already, and has nothing else to say.
            (Phase::Stopping(_), Lifeline::Harness) => 1,
            (Phase::Running, _) | (Phase::Stopping(_), Lifeline::Relay) => 2,
        };
        wait_for(&mut sources[..n_watched], limit)?;
        let moved = !sources[1].revents().is_empty();
        if stop_signal(&self.signals)? {
            return Ok(StopWish::Stop);
        }
        Ok(if moved { self.lifeline.wish() } else { StopWish::Nothing })
    }

    /// Kills until no process is left.
    ///
    /// Only children are killed: the children of a dead process become ours, so each round takes
    /// a generation, and the end is reached when the kernel says that there is no child at all.
    fn sweep(&mut self) -> io::Result<u8> {
        while self.reap()? {
            for child in children()? {
                let _: Result<(), Errno> = kill_process(child, Signal::KILL);
            }
            wait_for(&mut [PollFd::new(&self.signals, PollFlags::IN)], Some(ROUND))?;
            stop_signal(&self.signals)?;
        }
        Ok(self.ended.unwrap_or(KILLED))
    }

    /// Takes in what has ended and tells whether any child is left.
    fn reap(&mut self) -> io::Result<bool> {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((process, status))) if process == self.engine => self.ended = Some(exit_code(status)),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Ok(true),
                Err(Errno::CHILD) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// A killed child announces itself; the pause is for those that hide from the list by forking.
const ROUND: Duration = Duration::from_millis(5);
pub(super) const KILLED: u8 = 128 + 9;

pub(super) fn queue_signals() -> nix::Result<SignalFd> {
    let wanted = [Number::SIGCHLD, Number::SIGTERM, Number::SIGINT, Number::SIGHUP];
    let set = SigSet::from_iter(wanted);
    set.thread_block()?;
    SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

pub(super) fn wait_for(sources: &mut [PollFd<'_>], limit: Option<Duration>) -> io::Result<()> {
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    match poll(sources, limit.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Empties the queue of signals and tells whether one of them means to stop.
pub(super) fn stop_signal(signals: &SignalFd) -> io::Result<bool> {
    let child = Number::SIGCHLD as u32;
    let mut stop = false;
    while let Some(signal) = signals.read_signal()? {
        stop |= signal.ssi_signo != child;
    }
    Ok(stop)
}

fn children() -> io::Result<Vec<Pid>> {
    let list = fs_err::read_to_string("/proc/thread-self/children")?;
    Ok(list.split_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)).collect())
}

fn exit_code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(KILLED)
}
