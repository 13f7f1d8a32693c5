//! Sets a repository's secrets and variables by `gh`.
//!
//! A value comes from the variable of the same name, or from whoever `gh` asks on the terminal. It goes to `gh` by its
//! standard input, never as an argument, and is never printed.

use std::{
    io::{self, Write as _},
    process::{Command, Stdio},
};

use anstream::println;
use fro_core::{Fault, workflow::Need};

use crate::{env::Env, question};

/// Sets what it has values for; returns what is left to be set by hand.
pub(super) fn set(needs: Vec<Need>, repo: Option<&str>, env: &Env) -> Result<Vec<Need>, Fault> {
    let mut left = Vec::new();
    for need in needs {
        let mut gh = Command::new("gh");
        gh.args([need.sort, "set", need.name]);
        gh.args(repo.iter().flat_map(|repo| ["--repo", repo]));
        match env.text(need.name) {
            Some(value) => done(&need, hand(gh, value))?,
            None if question::is_answered() => {
                println!("{}: {}", need.name, need.value);
                done(&need, gh.status())?;
            }
            None => left.push(need),
        }
    }
    Ok(left)
}

/// Starts a command that reads the value.
fn hand(mut command: Command, value: &str) -> io::Result<std::process::ExitStatus> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A `gh` that has ended already says why by itself.
        let _closed = stdin.write_all(value.as_bytes());
    }
    child.wait()
}

fn done(need: &Need, ended: io::Result<std::process::ExitStatus>) -> Result<(), Fault> {
    let Need { name, sort, .. } = need;
    match ended {
        Ok(status) if status.success() => {
            println!("set the {sort} {name}");
            Ok(())
        }
        Ok(_) => Err(Fault::yours(
            format!("`gh` did not set the {sort} {name}"),
            "see what it says above; `gh auth status` tells whether you are signed in",
        )),
        Err(error) => Err(Fault::yours(
            format!("cannot start `gh`: {error}"),
            "install it from https://cli.github.com, or set the secrets in the repository's settings",
        )),
    }
}
