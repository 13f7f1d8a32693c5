//! Halts everything behind a wall, and proves it: what the agent wrote is touched only by whoever holds a [`Halt`].
//!
//! A process that runs can swap a file for a link between two of our calls. So all of them are stopped first (SIGSTOP
//! to each by its pidfd), until two looks in a row find the same processes, each of them stopped or ended. Whoever is
//! stopped can be let go on: an engine has a note to write after its answer, and more turns to serve after that.
//!
//! Why two looks that agree are proof: a look reads the supervisor's children first and goes down from there, and orphans
//! come to the supervisor. Whoever was alive at the first reading is found, or somebody above has ended since; that one
//! is missing then, or was no ended process before, so that the looks do not agree.
//!
//! Why nobody goes on by itself: only SIGCONT wakes, and behind the wall no timer, lease or file can be told to send it
//! (`wall/refused_calls.rs`). Whoever has read something asks all the same whether it [held](Halt::held): the kernel
//! counts how often each thread was given a processor.

mod process_tree;

use std::{collections::BTreeMap, os::fd::OwnedFd, process::ExitStatus, time::Duration};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::time::{Instant, sleep, timeout_at};

use process_tree::{Process, ProcessTree};
pub(crate) use process_tree::{STARTED, STATE, children, read, word};

/// How long it may take until everything stands still.
const PATIENCE: Duration = Duration::from_secs(5);

/// A signal needs a moment to be heard by a process that is just in the kernel.
const PAUSE: Duration = Duration::from_millis(2);

/// Proof that nothing runs behind the wall. What was stopped goes on when this is dropped.
#[derive(Debug)]
pub struct Halt {
    stopped: Vec<OwnedFd>,
    began: AgentStart,
    /// The wall's first process, and who stood still behind it.
    standing: Option<(u32, BTreeMap<u32, Process>)>,
}

/// Whether the agent was ever there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentStart {
    NotYet,
    Was,
}

/// Something behind the wall could not be brought to stand still.
#[derive(Debug, thiserror::Error)]
#[error("what the agent started does not stand still: {0}")]
pub struct StillRunning(String);

impl StillRunning {
    /// Nobody knows where to look.
    pub fn unseen() -> Self {
        Self("no process behind the wall can be seen".to_owned())
    }

    pub(crate) fn because(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl Halt {
    /// Nobody has started the agent yet.
    pub fn before_the_agent() -> Self {
        Self { stopped: Vec::new(), began: AgentStart::NotYet, standing: None }
    }

    /// The harness was killed, and its wall is gone with everything behind it.
    pub(crate) fn after_a_killed_harness() -> Self {
        Self::over()
    }

    fn over() -> Self {
        Self { stopped: Vec::new(), began: AgentStart::Was, standing: None }
    }

    /// The wall's supervisor has ended with this status; before it ends by itself it sees that nothing is left.
    ///
    /// One that was killed has seen to nothing.
    pub fn ended(supervisor: ExitStatus) -> Result<Self, StillRunning> {
        match supervisor.code() {
            Some(_) => Ok(Self::over()),
            None => Err(StillRunning("the wall's supervisor was killed".to_owned())),
        }
    }

    /// Stops everything behind the wall whose first process has this number.
    pub async fn freeze(wall: u32) -> Result<Self, StillRunning> {
        let mut halt = Self::over();
        let frozen = halt.stop_all(wall);
        let waited = timeout_at(Instant::now() + PATIENCE, frozen).await;
        waited.unwrap_or_else(|_| Err(StillRunning(format!("not after {} s", PATIENCE.as_secs()))))?;
        Ok(halt)
    }

    /// Sees that nobody has run since: what was read meanwhile is believed only then.
    pub fn held(&self) -> Result<(), StillRunning> {
        let Some((wall, before)) = &self.standing else { return Ok(()) };
        let look = ProcessTree::at(*wall);
        let mut now = look.behind(*wall);
        for (id, process) in before {
            match now.remove(id) {
                Some(same) if same == *process => {}
                // The supervisor takes in whoever had ended before.
                None if process.has_ended => {}
                _ => return Err(StillRunning(format!("process {id} went on in between"))),
            }
        }
        match now.keys().next() {
            None if !look.is_torn => Ok(()),
            Some(id) => Err(StillRunning(format!("process {id} came in between"))),
            None => Err(StillRunning("somebody came and went in between".to_owned())),
        }
    }

    pub(crate) fn began(&self) -> AgentStart {
        self.began
    }

    async fn stop_all(&mut self, wall: u32) -> Result<(), StillRunning> {
        let mut before = None;
        loop {
            let look = ProcessTree::at(wall);
            let behind = look.behind(wall);
            if behind.is_empty() && !look.is_torn {
                // A wall that stands has somebody behind it: who sees nobody does not see.
                return Err(StillRunning::unseen());
            }
            let running: Vec<_> = behind.iter().filter(|(_, process)| !process.is_still).collect();
            for (id, process) in &running {
                self.stop(**id, process);
            }
            let quiet = (running.is_empty() && !look.is_torn).then_some(behind);
            if let (Some(standing), true) = (&quiet, quiet == before) {
                self.standing = Some((wall, standing.clone()));
                return Ok(());
            }
            before = quiet;
            sleep(PAUSE).await;
        }
    }

    /// Stops a process, unless its number has gone to another one.
    fn stop(&mut self, id: u32, process: &Process) {
        let held = Pid::from_raw(id.cast_signed()).and_then(|id| pidfd_open(id, PidfdFlags::empty()).ok());
        let (Some(held), Some(now)) = (held, Process::inspect(id)) else { return };
        // One that has just ended needs no signal.
        if now.started == process.started && pidfd_send_signal(&held, Signal::STOP).is_ok() {
            self.stopped.push(held);
        }
    }
}

impl Drop for Halt {
    fn drop(&mut self) {
        for process in &self.stopped {
            // It may have been killed while it stood still.
            let _gone = pidfd_send_signal(process, Signal::CONT);
        }
    }
}
