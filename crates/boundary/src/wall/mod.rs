//! The wall around the engine: `fro-bot wall … -- command`.
//!
//! It is built in two processes, since a process can wall itself in but cannot do so to a child. The
//! first, [`stand`], is the supervisor: it stays outside, holds the lifeline to the harness, makes
//! the engine's connections in its place and leaves no process behind. The second, [`enter`], gives up every
//! right that the engine does not need and then becomes the engine.

mod address;
mod broker;
mod calls;
mod enter;
mod error;
mod handover;
mod kernel;
mod powers;
mod reach;
mod spec;
mod stand;
mod wanted;

pub use address::Address;
pub use enter::enter;
pub use error::WallError;
pub use spec::{Strictness, WallSpec};
pub use stand::stand;

pub(crate) use enter::{Raised, raise};
pub(crate) use reach::is_system;

use std::{ffi::OsString, process::Command};

/// Does what `fro-bot wall` was told by its arguments and returns the exit code.
///
/// `launcher` is the command line that leads here again (`fro-bot wall`), for the second process.
/// Call it before any thread is started: a thread would take signals meant for the supervisor.
pub fn run(launcher: &[OsString], arguments: impl IntoIterator<Item = OsString>) -> Result<u8, WallError> {
    let mut arguments = arguments.into_iter().peekable();
    let inside = arguments.next_if(|first| first == INSIDE).is_some();
    let (spec, command) = WallSpec::parse(arguments)?;
    if inside {
        return enter(&spec, &command).map(|never| match never {});
    }
    let (program, leading) =
        launcher.split_first().ok_or_else(|| WallError::Arguments("no launcher was given".to_owned()))?;
    let mut second = Command::new(program);
    second.args(leading).arg(INSIDE).args(spec.arguments()).arg("--").args(&command);
    stand(second, &spec)
}

const INSIDE: &str = "--inside";
