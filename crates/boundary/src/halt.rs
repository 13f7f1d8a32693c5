//! Halts everything behind a wall, and proves it: what the agent wrote is touched only by whoever holds a [`Halt`].
//!
//! A process that runs can swap a file for a link between two of our calls. So all of them are stopped first (SIGSTOP
//! to each by its pidfd), until two looks in a row find the same processes, each of them stopped or ended. Whoever is
//! stopped can be let go on: an engine has a note to write after its answer, and more turns to serve after that.
//!
//! Why two looks that agree are proof: a look reads the supervisor's children first and goes down from there, and orphans
//! come to the supervisor. Whoever was alive at the first reading is found, or somebody above has ended since; that one
//! is missing then, or was no ended process before, so that the looks do not agree.

use std::{collections::BTreeMap, os::fd::OwnedFd, process::ExitStatus, time::Duration};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::time::{Instant, sleep, timeout_at};

/// How long it may take until everything stands still.
const PATIENCE: Duration = Duration::from_secs(5);

/// A signal needs a moment to be heard by a process that is just in the kernel.
const PAUSE: Duration = Duration::from_millis(2);

/// Proof that nothing runs behind the wall. What was stopped goes on when this is dropped.
#[derive(Debug)]
pub struct Halt {
    stopped: Vec<OwnedFd>,
    began: AgentStart,
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
        Self { stopped: Vec::new(), began: AgentStart::NotYet }
    }

    /// The harness was killed, and its wall is gone with everything behind it.
    pub(crate) fn after_a_killed_harness() -> Self {
        Self { stopped: Vec::new(), began: AgentStart::Was }
    }

    /// The wall's supervisor has ended with this status; before it ends by itself it sees that nothing is left.
    ///
    /// One that was killed has seen to nothing.
    pub fn ended(supervisor: ExitStatus) -> Result<Self, StillRunning> {
        match supervisor.code() {
            Some(_) => Ok(Self { stopped: Vec::new(), began: AgentStart::Was }),
            None => Err(StillRunning("the wall's supervisor was killed".to_owned())),
        }
    }

    /// Stops everything behind the wall whose first process has this number.
    pub async fn freeze(wall: u32) -> Result<Self, StillRunning> {
        let mut halt = Self { stopped: Vec::new(), began: AgentStart::Was };
        let frozen = halt.stop_all(wall);
        let waited = timeout_at(Instant::now() + PATIENCE, frozen).await;
        waited.unwrap_or_else(|_| Err(StillRunning(format!("not after {} s", PATIENCE.as_secs()))))?;
        Ok(halt)
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
            if quiet.is_some() && quiet == before {
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

/// What is known of a process: enough to tell it from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    started: String,
    /// Whether all its threads are stopped or ended.
    is_still: bool,
}

impl Process {
    fn inspect(id: u32) -> Option<Self> {
        let stat = read(&format!("/proc/{id}/stat"))?;
        let threads = numbers(&format!("/proc/{id}/task"));
        let mut states = threads.iter().map(|thread| read(&format!("/proc/{id}/task/{thread}/stat")));
        // A thread that has gone meanwhile ran until then.
        let is_still = !threads.is_empty() && states.all(|stat| stat.is_some_and(|stat| is_still(&stat)));
        Some(Self { started: word(&stat, STARTED)?.to_owned(), is_still })
    }
}

/// Where words stand in a `stat` of `/proc`, counted from behind the program's name.
pub(crate) const STATE: usize = 0;
pub(crate) const STARTED: usize = 19;

/// Returns a word of a `stat`. The program's name stands in brackets and may contain any.
pub(crate) fn word(stat: &str, place: usize) -> Option<&str> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(place)
}

fn is_still(stat: &str) -> bool {
    matches!(word(stat, STATE), Some("T" | "Z" | "X"))
}

/// All processes below the wall's first one, as far as they could be seen.
struct ProcessTree {
    processes: BTreeMap<u32, Process>,
    /// Whether somebody was named who was gone when looked at.
    is_torn: bool,
}

impl ProcessTree {
    /// Goes down from the wall. Each is looked at before its children: one that stands still has no further ones.
    fn at(wall: u32) -> Self {
        let mut look = Self { processes: BTreeMap::new(), is_torn: false };
        let mut waiting = children(wall);
        while let Some(id) = waiting.pop() {
            let Some(process) = Process::inspect(id) else {
                look.is_torn = true;
                continue;
            };
            if look.processes.insert(id, process).is_none() {
                waiting.extend(children(id));
            }
        }
        look
    }

    /// Returns what is behind the wall, without the wall's own processes.
    ///
    /// Where the wall stands in namespaces of its own, those are the ones outside, and the first one inside.
    fn behind(&self, wall: u32) -> BTreeMap<u32, Process> {
        let outside = depth(wall).0;
        let places: BTreeMap<u32, (usize, u32)> = self.processes.keys().map(|id| (*id, depth(*id))).collect();
        let is_enclosed = places.values().any(|(depth, _)| *depth > outside);
        let is_behind = |id: &u32| match places.get(id) {
            Some((depth, innermost)) if is_enclosed => *depth > outside && *innermost != 1,
            Some(_) | None => true,
        };
        self.processes.clone().into_iter().filter(|(id, _)| is_behind(id)).collect()
    }
}

fn children(id: u32) -> Vec<u32> {
    let threads = numbers(&format!("/proc/{id}/task"));
    let lists = threads.iter().filter_map(|thread| read(&format!("/proc/{id}/task/{thread}/children")));
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Returns in how many namespaces a process has a number, and its number in the innermost.
fn depth(id: u32) -> (usize, u32) {
    let status = read(&format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    let numbers: Vec<u32> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    (numbers.len(), numbers.last().copied().unwrap_or_default())
}

fn numbers(folder: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Reads a file of `/proc`; none is there of a process that has gone.
pub(crate) fn read(path: &str) -> Option<String> {
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_mislead() {
        let words = (5..=21).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let stat = format!("7 (a) R 1 (b)) T 42 {words} 4711 0");

        assert_eq!(word(&stat, STARTED), Some("4711"));
        assert!(is_still(&stat));
        assert!(!is_still("7 (T) R 42"));
    }
}
