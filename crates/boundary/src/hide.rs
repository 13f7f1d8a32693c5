//! Hides this process from others of the same user.

use std::io;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Makes this process undumpable, so that no other process of the user can trace it or read its
/// memory, environment or open files.
///
/// Programs that it starts are dumpable again, and its command line stays visible: a secret never
/// belongs there.
pub fn hide() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}
