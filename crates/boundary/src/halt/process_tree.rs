//! What can be seen of the processes behind a wall, from `/proc`.

use std::collections::BTreeMap;

/// What is known of a process: enough to tell it from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) started: String,
    /// Whether all its threads are stopped or ended.
    pub(super) is_still: bool,
    pub(super) has_ended: bool,
    /// How often its threads were given a processor.
    runs: u64,
}

impl Process {
    pub(super) fn inspect(id: u32) -> Option<Self> {
        let stat = read(&format!("/proc/{id}/stat"))?;
        let threads = numbers(&format!("/proc/{id}/task"));
        let of_threads = |name: &str| {
            let each = threads.iter().map(|thread| read(&format!("/proc/{id}/task/{thread}/{name}")));
            each.collect::<Vec<_>>()
        };
        let runs = of_threads("status").iter().flatten().map(|status| runs(status)).sum();
        let states = of_threads("stat");
        // A thread that has gone meanwhile ran until then.
        let is_still = !states.is_empty() && states.iter().all(|stat| stat.as_deref().is_some_and(is_still));
        let has_ended = matches!(word(&stat, STATE), Some("Z" | "X"));
        Some(Self { started: word(&stat, STARTED)?.to_owned(), is_still, has_ended, runs })
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

/// Returns how often a thread was given a processor and lost it again, from its `status`.
fn runs(status: &str) -> u64 {
    let counts = status.lines().filter_map(|line| line.split_once("voluntary_ctxt_switches:"));
    counts.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum()
}

/// All processes below the wall's first one, as far as they could be seen.
pub(super) struct ProcessTree {
    processes: BTreeMap<u32, Process>,
    /// Whether somebody was named who was gone when looked at.
    pub(super) is_torn: bool,
}

impl ProcessTree {
    /// Goes down from the wall. Each is looked at before its children: one that stands still has no further ones.
    pub(super) fn at(wall: u32) -> Self {
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
    pub(super) fn behind(&self, wall: u32) -> BTreeMap<u32, Process> {
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

pub(crate) fn children(id: u32) -> Vec<u32> {
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

    #[test]
    fn every_turn_of_a_thread_counts() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n";
        assert_eq!(runs(status), 42);
    }
}
