//! The second process: walls itself in, then becomes the engine.

use std::{
    convert::Infallible,
    ffi::OsString,
    io,
    os::{fd::RawFd, unix::process::CommandExt as _},
    process::Command,
};

use nix::sys::signal::SigSet;
use rustix::process::{Signal, set_parent_process_death_signal, setsid};

use crate::wall::{
    Strictness, WallError, WallSpec, broker, grant,
    kernel::Listener,
    landlock_rules, listener, powers,
    seccomp_rules::{self, Connections},
};

/// The walls that were put up, or why one was not.
pub(crate) struct WallsUp {
    /// The version of Landlock.
    pub(crate) landlock: Result<i32, String>,
    /// The seccomp filter.
    pub(crate) seccomp: Result<(), String>,
    /// Where the broker hears of the engine's connections.
    pub(crate) broker: Result<Listener, String>,
}

/// Walls this process in and becomes `command`; returns only if that fails.
pub(super) fn confine(spec: &WallSpec, command: &[OsString]) -> Result<Infallible, WallError> {
    let (program, arguments) =
        command.split_first().ok_or_else(|| WallError::Arguments("the command is empty".to_owned()))?;
    leave_the_harness().map_err(WallError::kernel("leave the harness behind"))?;
    powers::limit(spec.limits)?;
    if let Some(user) = spec.enclosure.engine_s_user() {
        grant::open_ways(spec, user)?;
    }
    let raised = raise(spec)?;
    let (listener, lacking) = match raised.broker {
        Ok(listener) => (Some(listener), None),
        Err(reason) => (None, Some(reason)),
    };
    for missing in [raised.landlock.err(), raised.seccomp.err(), lacking].into_iter().flatten() {
        match spec.strictness {
            Strictness::Required => return Err(WallError::Unavailable(missing)),
            Strictness::AllowUnwalled => tracing::warn!("the engine starts without a wall: {missing}"),
        }
    }
    listener::send(listener, spec.input.as_deref())
        .map_err(WallError::kernel("hand the connections over"))?;
    let source = Command::new(program).args(arguments).exec();
    Err(WallError::Program { program: program.clone(), source })
}

/// Puts up every wall that this kernel offers, around the calling thread and all that it starts.
pub(crate) fn raise(spec: &WallSpec) -> Result<WallsUp, WallError> {
    powers::give_up(spec.enclosure.engine_s_user())?;
    let landlock = landlock_rules::offered();
    if landlock.is_ok() {
        landlock_rules::restrict(spec)?;
    }
    let broker = broker::offered().and_then(|()| seccomp_rules::hand_over(&broker::calls(spec.enclosure)));
    let connections = if broker.is_ok() { Connections::Brokered } else { Connections::Direct };
    Ok(WallsUp { landlock, seccomp: seccomp_rules::filter(connections), broker })
}

/// Lets go of what the engine would inherit besides its three streams: files, signals, terminal.
fn leave_the_harness() -> io::Result<()> {
    for file in inherited_files()? {
        // The listing names its own file too, which is closed by now.
        let _: nix::Result<()> = nix::unistd::close(file);
    }
    // The supervisor takes its signals from a queue, so it has blocked them.
    SigSet::empty().thread_set_mask()?;
    // Away from the terminal: Ctrl-C is for the harness, which then ends the engine in good order.
    setsid()?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(())
}

fn inherited_files() -> io::Result<Vec<RawFd>> {
    let listing = fs_err::read_dir("/proc/self/fd")?;
    let names = listing.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    let numbers = names.iter().filter_map(|name| name.to_str()?.parse().ok());
    Ok(numbers.filter(|file| *file > 2).collect())
}
