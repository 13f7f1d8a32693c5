//! `fro-bot receive`: the hook of the harness's own repository, which the agent pushes into.

use std::{io, path::PathBuf, process::ExitCode};

use clap::Args;
use fro_core::Fault;

/// The rules of the run.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The file that the harness wrote them to
    rules: PathBuf,
}

/// Checks and passes on; git reads the exit code, and the agent what is said.
pub(crate) fn main(options: &Options) -> Result<ExitCode, Fault> {
    let received = fro_boundary::receive(&options.rules, &mut io::stderr());
    received.map(ExitCode::from).map_err(|error| Fault::ours(format!("cannot check the push: {error}")))
}
