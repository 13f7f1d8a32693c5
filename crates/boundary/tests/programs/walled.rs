//! `fro-bot wall` without the rest of fro-bot, for the tests of this crate.

use std::{ffi::OsString, process::ExitCode};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let launcher: Vec<OsString> = arguments.next().into_iter().collect();
    match fro_boundary::wall::run(&launcher, arguments) {
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
