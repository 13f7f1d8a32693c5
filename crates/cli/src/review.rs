//! `fro-bot review`: the reviewer's passes over a clone on this machine. Findings are printed, and nothing is posted.

mod clone;

use std::{
    io::{IsTerminal as _, stderr},
    path::Path,
    process::ExitCode,
};

use anstream::{eprintln, println};
use anstyle::Style;
use clap::Args;
use fro_core::{Fault, Redactor, RepoName};
use fro_review::report::{Paint, Report};
use fro_run::{Change, LocalClone, Process, Progress};
use jiff::Timestamp;

use crate::{
    action,
    env::{self, Env},
    inputs,
    interrupt::{self, Interrupt},
    local, log,
    report::line,
    settings,
    waiting::Waiting,
};
use clone::Clone;

/// What is looked at, and how it is told.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct Options {
    /// The commits to look at: `main..topic`, or `main` for everything here that `main` does not have; if left out,
    /// everything that the default branch does not have
    #[arg(value_name = "RANGE", conflicts_with_all = ["staged", "pr"])]
    range: Option<String>,
    /// Look at what is staged for the next commit
    #[arg(long, conflicts_with = "pr")]
    staged: bool,
    /// Look at a pull request of this repository, with what was said in it
    #[arg(long, value_name = "NUMBER")]
    pr: Option<u64>,
    /// Print the findings as JSON
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print the findings as SARIF 2.1.0
    #[arg(long)]
    sarif: bool,
    /// The model, as `provider/model`
    #[arg(long, value_name = "PROVIDER/MODEL")]
    model: Option<String>,
    /// Set an input of the reviewer; may be given several times
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = inputs::review_assignment)]
    inputs: Vec<(String, String)>,
}

const AFTER: &str = "\
A range is the commits that its end has and its start does not, as in a pull
request. The providers' keys are taken from OpenCode's own `auth.json`. A token
(GITHUB_TOKEN or GH_TOKEN) is needed for `--pr` alone. Nothing is remembered,
and nothing is written: not on GitHub, and not to your branches, index or files.

  fro-bot review --model anthropic/claude-sonnet-4-5
  fro-bot review --staged --input problem_score_threshold=7
  fro-bot review main..topic --sarif > findings.sarif";

/// Looks once; the exit code is the gate's.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let began = Timestamp::now();
    let mut interrupt = Interrupt::listen()?;
    let clone = Clone::find(Path::new(env.text(env::GITHUB_WORKSPACE).unwrap_or("."))).await?;
    let Some(change) = change(options, &clone).await? else {
        let other = if options.staged { "" } else { "; `--staged` looks at what is not committed yet" };
        eprintln!("nothing to review: there is no change{other}");
        return Ok(ExitCode::SUCCESS);
    };
    let env = surroundings(options, env, &clone);
    let (settings, occasion) = settings::of_terminal(&env, began, &change)?;
    let (process, repo) = (Process::new(settings), occasion.event.repo);
    log::start(&env, process.redactor().clone());
    let here = LocalClone { repo, checkout: clone.folder().to_owned(), change, began };
    let is_watched = stderr().is_terminal() && env.text(env::FRO_QUIET).is_none();
    let waiting = Waiting::begin(&env, "reading the change");
    let aside = StderrProgress { redactor: process.redactor().clone(), waiting, is_watched };
    let tell = |news| aside.tell(&news);
    let looked = Box::pin(fro_run::review_local_clone(&process, &here, &tell, interrupt.asked())).await?;
    aside.waiting.end();
    let Some(looked) = looked else { return Ok(ExitCode::from(interrupt::EXIT_CODE)) };
    print(options, &looked.report);
    Ok(action::review_exit_code(looked.status))
}

async fn change(options: &Options, clone: &Clone) -> Result<Option<Change>, Fault> {
    match (options.pr, options.staged) {
        (Some(number), _) => Ok(Some(Change::Pull(number))),
        (None, true) => clone.staged().await,
        (None, false) => clone.range(options.range.as_deref()).await,
    }
}

/// Returns the environment with what a runner would have set.
fn surroundings(options: &Options, env: &Env, clone: &Clone) -> Env {
    let given = [
        (env::GITHUB_REPOSITORY, clone.repo().to_string()),
        (env::FRO_ROLE, "review".to_owned()),
        // A look in passing is no memory.
        (env::FRO_MEMORY, String::new()),
        ("INPUT_SKIP-CACHE", "true".to_owned()),
        ("INPUT_S3-BACKUP", "false".to_owned()),
        ("INPUT_SHARE", "false".to_owned()),
    ];
    let model = options.model.as_deref().map(|model| ("model", model));
    let inputs = options.inputs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    local::completed(env, &[]).with(given).with_inputs(inputs.chain(model))
}

fn print(options: &Options, report: &Report) {
    if options.json || options.sarif {
        let value = if options.json { report.json() } else { report.sarif(env!("CARGO_PKG_VERSION")) };
        println!("{value:#}");
        return;
    }
    // Where no colours are wanted, they are taken out on the way.
    anstream::print!("{}", report.frames(Paint::Coloured));
}

/// Tells what goes on beside what is printed: to whoever watches, everything; else what is not as it should be.
struct StderrProgress {
    redactor: Redactor,
    waiting: Waiting,
    is_watched: bool,
}

impl StderrProgress {
    fn tell(&self, news: &Progress) {
        self.waiting.follows(news);
        let Some(line) = line::render(news, &self.redactor) else { return };
        if !self.is_watched && line.tone != line::Tone::Warning {
            return;
        }
        let (style, plain): (Style, _) = (line.tone.style(), self.redactor.clean(&line.text));
        self.waiting.print(|| eprintln!("{style}{plain}{style:#}"));
    }
}

/// Returns the name of the repository that an address leads to, or one for a clone that came from nowhere.
fn repo_of(remote: &str, folder: &Path) -> Result<RepoName, Fault> {
    let (owner, name) = local::owner_and_name(remote);
    let folder = folder.file_name().and_then(|name| name.to_str()).unwrap_or("clone");
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let here = format!("local/{}", folder.chars().map(plain).collect::<String>());
    let parsed = RepoName::parse(&format!("{owner}/{name}")).or_else(|_| RepoName::parse(&here));
    parsed.map_err(|error| Fault::yours(error.to_string(), "give the clone's folder a plain name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_from_nowhere_has_a_name_too() {
        let named = |remote: &str, folder: &str| repo_of(remote, Path::new(folder)).unwrap().to_string();
        assert_eq!(named("git@github.com:octo/garden.git", "clones/g"), "octo/garden");
        assert_eq!(named("", "clones/my garden"), "local/my-garden");
        assert_eq!(named("garden", "/"), "local/clone");
    }
}
