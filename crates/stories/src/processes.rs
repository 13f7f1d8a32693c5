//! The processes of a story, and the signals that a runner sends them.

use rustix::process::{Pid, Signal, kill_process};

/// Sends a signal to a process that is there.
pub fn signal(pid: u32, signal: Signal) {
    let pid =
        Pid::from_raw(i32::try_from(pid).expect("a process id is small")).expect("no process has the id 0");
    kill_process(pid, signal).expect("the process is there");
}

/// Returns a process and everything that it started, itself first.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let children = processes().filter(|child| parent(*child) == Some(pid));
    [pid].into_iter().chain(children.flat_map(descendants)).collect()
}

/// Returns the launcher and the harness among what a process started, once the run is under way.
pub(crate) fn launcher_and_harness(pid: u32) -> (u32, u32) {
    let is_harness = |pid: &u32| {
        let line = fs_err::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.ends_with(b"\0action\0")
    };
    let harness = descendants(pid).into_iter().find(is_harness).expect("the harness is under way");
    (parent(harness).expect("the launcher is there"), harness)
}

/// Returns what started a process, if it is still there.
fn parent(pid: u32) -> Option<u32> {
    let status = fs_err::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs_err::read_dir("/proc").expect("there is a /proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
