//! The wall around the engine: `fro-bot wall … -- command`.
//!
//! It is built in two processes, since a process can wall itself in but cannot do so to a child. The
//! first, `supervise`, is the supervisor: it stays outside, holds the lifeline to the harness, makes
//! the engine's connections in its place and leaves no process behind. The second, `confine`, gives up every
//! right that the engine does not need and then becomes the engine. Where root is at hand, `enclose` puts both into
//! namespaces of their own, and the engine is another user.

mod address;
mod attributes;
mod broker;
mod caller;
mod confine;
mod enclose;
mod enclosure;
mod error;
mod grant;
mod kernel;
mod landlock_rules;
mod listener;
mod powers;
mod process_strings;
mod refused_calls;
mod seccomp_rules;
mod spec;
mod supervisor;
mod wanted;

pub use address::Address;
pub use enclosure::{Enclosure, User};
pub use error::WallError;
pub use spec::{Limits, Strictness, WallSpec};

pub(crate) use confine::{WallsUp, raise};
pub(crate) use landlock_rules::is_system;

use std::ffi::OsString;

use confine::confine;
use enclose::{ENCLOSED, ENCLOSING, Launcher};
use supervisor::{Lifeline, supervise};

/// How `fro-bot wall` was started: its arguments come after the name.
#[derive(Debug)]
pub struct WallArguments {
    /// The command line that leads here again (`fro-bot wall`), for the processes that follow.
    pub launcher: Vec<OsString>,
    /// The wall and the command behind it.
    pub arguments: Vec<OsString>,
    /// What the engine is to have for its environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Does what `fro-bot wall` was told by its arguments and returns the exit code.
///
/// Call it before any thread is started: a thread would take signals meant for the supervisor.
pub fn run(start: WallArguments) -> Result<u8, WallError> {
    let launcher = Launcher(start.launcher);
    let mut arguments = start.arguments.into_iter().peekable();
    let stages = [INSIDE, ENCLOSED, ENCLOSING];
    let stage = arguments.next_if(|first| stages.iter().any(|stage| first == stage));
    if stage.as_deref().is_some_and(|stage| stage == ENCLOSING) {
        return enclose::enclosing(&launcher);
    }
    let (spec, command) = WallSpec::parse(arguments)?;
    let second = launcher.stage(INSIDE, &spec, &command);
    match (stage, spec.enclosure) {
        (None, Enclosure::Open) => supervise(second, &spec, Lifeline::Harness),
        (None, Enclosure::Root | Enclosure::Sudo(_)) => {
            enclose::enclose(&launcher, &spec, (&command, start.environment))
        }
        (Some(stage), _) if stage == ENCLOSED => {
            enclose::settle(&spec)?;
            supervise(second, &spec, Lifeline::Relay)
        }
        (Some(_), _) => confine(&spec, &command).map(|never| match never {}),
    }
}

const INSIDE: &str = "--inside";
