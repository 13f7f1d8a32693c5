//! `fro-bot wall`: starts a command behind the wall.

use std::{ffi::OsString, process::ExitCode};

use clap::Args;
use fro_boundary::wall::{self, WallArguments};
use fro_core::Fault;

use crate::{env::Env, settings::own_program};

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
  --enclose WHO      put it into namespaces of its own: root (then it is another user), or USER:GROUP by sudo
  --input FILE       let it read this as its standard input
  --memory N         bytes of memory for each of its processes
  --file-size N      bytes of each file that it writes
  --cpu-seconds N    seconds of a processor's time for each of its processes
  --grace-ms N       how long it may take to end after it was asked to
  --allow-unwalled   start it even where the kernel cannot wall it in

Standard input is the lifeline: when it ends, everything behind the wall ends.";

/// Becomes the wall; this comes before any thread is started.
pub(crate) fn main(options: Options, env: &Env) -> Result<ExitCode, Fault> {
    let launcher = vec![own_program()?.into(), OsString::from("wall")];
    let start = WallArguments { launcher, arguments: options.arguments, environment: env.all().to_vec() };
    wall::run(start).map(ExitCode::from).map_err(|error| error.fault())
}
