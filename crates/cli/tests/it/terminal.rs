//! A terminal for a command, with somebody who types: by Python's `pty`.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

/// Starts a command on a terminal of its own, with what is typed on the standard input.
const SPAWN: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/// Runs a command on a terminal; returns what the terminal was sent, with how the command ended.
pub(crate) fn on_terminal(command: &Command, typed: &str) -> String {
    let mut python = Command::new("python3");
    python.args(["-c", SPAWN]).arg(command.get_program()).args(command.get_args()).env_clear();
    python.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", "xterm");
    python.current_dir(command.get_current_dir().unwrap_or_else(|| ".".as_ref()));
    let mut running = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    format!("{shown}exit {}", output.status.code().unwrap())
}
