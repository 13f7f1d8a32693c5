//! How many files the harness may have open: as many as it is allowed to, since every connection of the agent's is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough; some programs walk through all that they could have open.
const ENOUGH: u64 = 65_536;

/// Raises the limit of this process as far as it may; what it starts inherits it.
pub fn more_open_files() -> std::io::Result<()> {
    let held = getrlimit(Resource::Nofile);
    let wanted = held.maximum.unwrap_or(ENOUGH).min(ENOUGH).max(held.current.unwrap_or(ENOUGH));
    Ok(setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: held.maximum })?)
}
