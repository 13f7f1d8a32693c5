//! `fro-bot wall` without the rest of fro-bot, for the tests of this crate.

use std::{ffi::OsString, process::ExitCode};

use fro_boundary::wall::{self, WallArguments};

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let launcher: Vec<OsString> = words.next().into_iter().collect();
    let start =
        WallArguments { launcher, arguments: words.collect(), environment: std::env::vars_os().collect() };
    match wall::run(start) {
        Ok(code) => code.into(),
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "it is a program")]
            {
                eprintln!("{error}");
            }
            error.fault().exit_code().into()
        }
    }
}
