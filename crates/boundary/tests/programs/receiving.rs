//! `fro-bot receive` without the rest of fro-bot, for the tests of this crate.

use std::{env, io, path::PathBuf, process::ExitCode};

fn main() -> io::Result<ExitCode> {
    let mut words = env::args_os().skip(1).map(PathBuf::from);
    let (socket, quarantine) = (words.next().unwrap_or_default(), words.next());
    fro_boundary::receive(&socket, quarantine, &mut io::stderr()).map(ExitCode::from)
}
