//! `fro-bot receive`: the hook of the harness's own repository, which the agent pushes into.

use std::{io, path::PathBuf, process::ExitCode};

use clap::Args;
use fro_core::Fault;

/// Where the run is asked, and what about.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The socket of the run
    socket: PathBuf,
    /// Where git put the new objects
    quarantine: Option<PathBuf>,
}

/// Asks the run; git reads the exit code, and the agent what is said.
pub(crate) fn main(options: &Options) -> Result<ExitCode, Fault> {
    let received = fro_boundary::receive(&options.socket, options.quarantine.clone(), &mut io::stderr());
    received.map(ExitCode::from).map_err(|error| Fault::ours(format!("cannot check the push: {error}")))
}
