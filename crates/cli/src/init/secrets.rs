//! Sets a repository's secrets and variables by `gh`.
//!
//! A value comes from the variable of the same name, or from whoever `gh` asks on the terminal. It goes to `gh` by its
//! standard input, never as an argument, and is never printed. Keys of AWS that somebody has for other work are sent only
//! after a yes.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anstream::println;
use fro_core::{Fault, workflow::Need};

use crate::{
    env::{self, Env},
    question::{self, ask},
};

/// Sets what it has values for; returns what is left to be set by hand.
pub(super) fn set(needs: Vec<Need>, repo: Option<&str>, env: &Env) -> Result<Vec<Need>, Fault> {
    let mut left = Vec::new();
    for need in needs {
        let mut gh = Command::new("gh");
        gh.args([need.sort, "set", need.name]);
        gh.args(repo.iter().flat_map(|repo| ["--repo", repo]));
        match (env.text(need.name), question::is_answered()) {
            (Some(value), _) if is_meant_for_this(need.name) => done(&need, hand(gh, value))?,
            (Some(value), true) if is_allowed(&need, repo)? => done(&need, hand(gh, value))?,
            (Some(_) | None, true) => {
                println!("{}: {}", need.name, need.value);
                match asked_for_file(&need, env)? {
                    Some(value) => done(&need, hand(gh, &value))?,
                    // Here `gh` itself asks, and says that it is done.
                    None => succeeded(&need, gh.status())?,
                }
            }
            (Some(_), false) => left.push(unsent(&need)),
            (None, false) => left.push(need),
        }
    }
    Ok(left)
}

/// Says of a value that it is there and was kept.
fn unsent(need: &Need) -> Need {
    let value =
        format!("{}; the one in your environment was not sent, since nobody could be asked", need.value);
    Need { value, ..need.clone() }
}

/// Tells whether a variable of this name can only be set for fro-bot. The AWS variables of a laptop are its owner's own, and
/// may open more than a bucket.
fn is_meant_for_this(name: &str) -> bool {
    !name.starts_with("AWS_")
}

/// Asks whether the value of a variable that has other uses may go to the repository.
fn is_allowed(need: &Need, repo: Option<&str>) -> Result<bool, Fault> {
    let (name, repo) = (need.name, repo.unwrap_or("this repository"));
    let answer = ask(&format!("Send your own {name} to {repo} as its secret"), "no")?;
    Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Asks for the file that has a value of several lines; whoever names none can type the value on one line.
fn asked_for_file(need: &Need, env: &Env) -> Result<Option<String>, Fault> {
    let Some(usual) = need.file else { return Ok(None) };
    let answer = ask(&format!("Which file has it, such as `{usual}` (Enter: type it on one line)"), "")?;
    if answer.is_empty() {
        return Ok(None);
    }
    let path = match (answer.strip_prefix("~/"), env.text(env::HOME)) {
        (Some(below), Some(home)) => Path::new(home).join(below),
        (Some(_) | None, _) => PathBuf::from(&answer),
    };
    let read = fs_err::read_to_string(path);
    let hint = "name a file that you can read, and run this again: what is set already stays";
    read.map(Some).map_err(|error| Fault::yours(format!("cannot read the {}: {error}", need.name), hint))
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
    succeeded(need, ended)?;
    println!("set the {} {}", need.sort, need.name);
    Ok(())
}

fn succeeded(need: &Need, ended: io::Result<std::process::ExitStatus>) -> Result<(), Fault> {
    let Need { name, sort, .. } = need;
    match ended {
        Ok(status) if status.success() => Ok(()),
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
