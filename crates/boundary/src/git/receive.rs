//! The `pre-receive` hook of the store: checks what the agent pushes, and pushes what passes on to GitHub.
//!
//! git starts it while the new objects are in quarantine: what it refuses is thrown away, and what GitHub refuses in
//! its turn is refused to the agent in GitHub's words. The credential is in its environment, never in its arguments.

use std::{
    io::{self, BufRead as _, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::{Deserialize, Serialize};

use crate::git::rules::{Refused, Rules, Update};

/// What became of one push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Push {
    /// It is on GitHub.
    Passed {
        /// The branch.
        branch: String,
        /// Its new commit.
        commit: String,
    },
    /// It was refused, here or there.
    Refused {
        /// Why.
        why: String,
    },
}

/// Why a push did not pass.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("GitHub refused it: {0}")]
    Upstream(String),
    #[error("cannot run the check")]
    Io(#[from] io::Error),
}

/// Does the work of the hook: reads updates from standard input and returns the exit code.
///
/// `complain` gets what the agent's git shows.
pub fn receive(rules: &Path, complain: &mut dyn io::Write) -> io::Result<u8> {
    let list = io::stdin().lock().lines().collect::<io::Result<Vec<_>>>()?;
    let outcome = judge(rules, &list);
    let (pushes, code) = match outcome {
        Ok(updates) => {
            let passed = updates.into_iter().map(|update| Push::Passed {
                branch: update.name.trim_start_matches("refs/heads/").to_owned(),
                commit: update.new,
            });
            (passed.collect(), 0)
        }
        Err(failure) => {
            writeln!(complain, "fro-bot: {failure}")?;
            (vec![Push::Refused { why: failure.to_string() }], 1)
        }
    };
    record(&record_beside(rules), &pushes)?;
    Ok(code)
}

fn judge(rules: &Path, lines: &[String]) -> Result<Vec<Update>, Failure> {
    let rules: Rules = serde_json::from_slice(&fs_err::read(rules)?).map_err(io::Error::other)?;
    let updates: Option<Vec<Update>> = lines.iter().map(|line| Update::parse(line)).collect();
    let updates = updates.filter(|updates| !updates.is_empty()).ok_or(Refused::Unclear)?;
    for update in &updates {
        rules.check_ref(update)?;
        // git would find out only after this hook, when GitHub has it already.
        if !update.is_new() && said(&["merge-base", "--is-ancestor", &update.old, &update.new], b"").is_err()
        {
            return Err(Refused::Rewrite(update.name.clone()).into());
        }
        let new = ["rev-list", &update.new, "--not", "--all"];
        let commits = said(&new, b"")?;
        let files = ["diff-tree", "--stdin", "-r", "-m", "--root", "--no-renames", "--raw", "-z"];
        rules.check_files(&said(&files, &commits)?)?;
        let committers = said(&["log", "--no-walk", "--format=%H %ce", "--stdin"], &commits);
        let committers = if commits.is_empty() { Vec::new() } else { committers? };
        rules.check_committers(&String::from_utf8_lossy(&committers))?;
    }
    pass_on(&rules, &updates)?;
    Ok(updates)
}

/// Runs git in the repository and the quarantine that git has put us in.
fn said(arguments: &[&str], input: &[u8]) -> io::Result<Vec<u8>> {
    let mut command = Command::new("git");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn()?;
    let stdin = running.stdin.take();
    let input = input.to_vec();
    // Both sides may write more than a pipe holds.
    let writing = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let output = running.wait_with_output()?;
    drop(writing.join());
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// Pushes to GitHub, if the branches there are still as the agent found them.
fn pass_on(rules: &Rules, updates: &[Update]) -> Result<(), Failure> {
    let mut command = Command::new("git");
    command.args(["push", "--quiet", "--porcelain", "--no-verify", "--atomic"]);
    for update in updates {
        let expected = if update.is_new() { "" } else { &update.old };
        command.arg(format!("--force-with-lease={}:{expected}", update.name));
    }
    command.arg(&rules.url);
    command.args(updates.iter().map(|update| format!("{}:{}", update.new, update.name)));
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    let lines = told.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "Done");
    Err(Failure::Upstream(lines.take(8).collect::<Vec<_>>().join("; ").chars().take(600).collect()))
}

/// Returns where the hook writes down what became of each push.
pub(super) fn record_beside(rules: &Path) -> PathBuf {
    rules.with_extension("record")
}

pub(super) fn record(path: &Path, pushes: &[Push]) -> io::Result<()> {
    let mut file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
    for push in pushes {
        writeln!(file, "{}", serde_json::to_string(push).map_err(io::Error::other)?)?;
    }
    Ok(())
}
