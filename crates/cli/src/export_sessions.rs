//! `fro-bot export-sessions`: reads a database that the agent may have written, where there is nothing to be had.

use std::{
    io::{self, BufWriter, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;
use fro_core::Fault;

/// Which sessions of which database.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The data folder with a copy of the engine's database
    data: PathBuf,
    /// The sessions, which come with their children
    sessions: Vec<String>,
}

/// Prints one row in each line.
pub(crate) fn main(options: &Options) -> Result<ExitCode, Fault> {
    let mut out = BufWriter::new(io::stdout().lock());
    fro_memory::export_sessions(&options.data, &options.sessions, &mut out)?;
    out.flush().map_err(|error| Fault::ours(format!("cannot print the sessions: {error}")))?;
    Ok(ExitCode::SUCCESS)
}
