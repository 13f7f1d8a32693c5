//! Finds out whether the wall of a harness that was killed is gone, with everything that was behind it.
//!
//! The wall ends by itself then, and sees to it that nothing is left. If somebody killed it as well, processes from behind
//! it may live on. They cannot be taken for others: nobody ever loses a seccomp filter, or gains privileges again.

use std::{ffi::OsString, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use crate::halt::{Halt, STARTED, STATE, StillRunning, read, word};

const LOOK: Duration = Duration::from_millis(50);

/// So often survivors are looked for, and how long after each other: who forks away may not be seen at once.
const LOOKS: usize = 50;
const PAUSE: Duration = Duration::from_millis(2);

/// The first process of a wall, told from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallProcess {
    id: u32,
    started: u64,
    /// The name of its program, if that can be seen. Another run may have a copy of it elsewhere.
    program: Option<OsString>,
}

impl WallProcess {
    /// Finds it by its number, if it is there.
    pub fn find(id: u32) -> Option<Self> {
        let started = started(&read(&format!("/proc/{id}/stat"))?)?;
        Some(Self { id, started, program: program(id) })
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Waits until it has ended, and sees that nobody from behind it is left.
    pub async fn gone(&self, patience: Duration) -> Result<Halt, StillRunning> {
        let deadline = Instant::now() + patience;
        while self.stands() {
            if Instant::now() > deadline {
                return Err(StillRunning::because("the wall of the killed run still stands"));
            }
            sleep(LOOK).await;
        }
        for _ in 0..LOOKS {
            if let Some(id) = self.survivor() {
                return Err(StillRunning::because(format!("process {id} of the killed run lives on")));
            }
            sleep(PAUSE).await;
        }
        Ok(Halt::after_a_killed_harness())
    }

    fn stands(&self) -> bool {
        let stat = read(&format!("/proc/{}/stat", self.id));
        let stat = stat.filter(|stat| started(stat) == Some(self.started));
        stat.is_some_and(|stat| !matches!(word(&stat, STATE), Some("Z" | "X")))
    }

    /// Returns a process that came after the wall, is behind one, and whose wall is not there any more.
    fn survivor(&self) -> Option<u32> {
        let own = Confined::of_process("self").unwrap_or_default();
        let is_behind = |id: u32| Confined::of_process(&id.to_string()).is_some_and(|one| one.is_above(own));
        // Each is looked at as soon as it is named: it may live for a moment only.
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(|id| {
            is_behind(*id)
                && read(&format!("/proc/{id}/stat"))
                    .and_then(|stat| started(&stat))
                    .is_some_and(|came| came >= self.started)
                && !self.is_behind_another(*id, &is_behind)
        })
    }

    /// Tells whether the first process above that is behind no wall is one itself: then this is of another run.
    fn is_behind_another(&self, id: u32, is_behind: &impl Fn(u32) -> bool) -> bool {
        let mut above = parent(id);
        while let Some(id) = above.filter(|id| is_behind(*id)) {
            above = parent(id);
        }
        let Some(above) = above else { return false };
        // What another user's program is cannot be seen, but how it was started.
        let words = read(&format!("/proc/{above}/cmdline")).unwrap_or_default();
        self.program.is_some() && program(above) == self.program || words.split('\0').nth(1) == Some("wall")
    }
}

/// What of a process's restraint can be seen from outside.
#[derive(Debug, Clone, Copy, Default)]
struct Confined {
    gains_nothing: bool,
    filters: u32,
}

impl Confined {
    fn of_process(id: &str) -> Option<Self> {
        let status = read(&format!("/proc/{id}/status"))?;
        let number =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u32>().ok());
        // Kernels before 5.9 tell only whether there is a filter.
        let filters = number("Seccomp_filters:").or_else(|| number("Seccomp:"))?;
        Some(Self { gains_nothing: number("NoNewPrivs:") == Some(1), filters })
    }

    fn is_above(self, own: Self) -> bool {
        self.gains_nothing && self.filters > own.filters
    }
}

fn program(id: u32) -> Option<OsString> {
    Some(std::fs::read_link(format!("/proc/{id}/exe")).ok()?.file_name()?.to_owned())
}

fn started(stat: &str) -> Option<u64> {
    word(stat, STARTED)?.parse().ok()
}

fn parent(id: u32) -> Option<u32> {
    word(&read(&format!("/proc/{id}/stat"))?, PARENT)?.parse().ok().filter(|id| *id != 0)
}

/// Where the number of a process's parent stands in its `stat`.
const PARENT: usize = 1;
