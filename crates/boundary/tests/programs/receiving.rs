//! `fro-bot receive` without the rest of fro-bot, for the tests of this crate.

use std::{env, io, path::PathBuf, process::ExitCode};

fn main() -> io::Result<ExitCode> {
    let rules = env::args_os().nth(1).map(PathBuf::from).unwrap_or_default();
    fro_boundary::receive(&rules, &mut io::stderr()).map(ExitCode::from)
}
