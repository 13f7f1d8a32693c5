//! `fro-bot wall`: starts a command behind the wall.

use std::{ffi::OsString, process::ExitCode};

use clap::Args;
use fro_boundary::wall;
use fro_core::Fault;

use crate::settings::own_program;

/// The wall and the command behind it.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct Options {
    /// The wall, then `--`, then the command
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        value_name = "WALL -- COMMAND"
    )]
    arguments: Vec<OsString>,
}

const AFTER: &str = "\
The wall:
  --read PATH        let the command read and execute this, besides the system's programs
  --write PATH       let it do anything with this
  --listen PORT      let it listen on this TCP port
  --connect ADDRESS  let it connect to this place: 127.0.0.1:4800, [::1]:4800, unix:/run/broker.sock
  --grace-ms N       how long it may take to end after it was asked to
  --allow-unwalled   start it even where the kernel cannot wall it in

Standard input is the lifeline: when it ends, everything behind the wall ends.";

/// Becomes the wall; this comes before any thread is started.
pub(crate) fn main(options: Options) -> Result<ExitCode, Fault> {
    let launcher = [own_program()?.into(), OsString::from("wall")];
    wall::run(&launcher, options.arguments).map(ExitCode::from).map_err(|error| error.fault())
}
