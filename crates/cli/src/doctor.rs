//! `fro-bot doctor`: looks at everything that a run depends on, and says one line about each.

mod bucket;
mod checks;
mod daemon;
mod discord;
mod memory;

use std::process::ExitCode;

use anstream::println;
use anstyle::AnsiColor;
use clap::Args;
use fro_core::{Fault, say};
use serde::Serialize;

use crate::{
    daemon_store::StoreOption,
    env::{self, Env},
    init, inputs, local,
    waiting::Waiting,
};

/// What to look at, and how to tell.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The repository; on your own machine the one that this folder is a clone of
    #[arg(long, value_name = "OWNER/NAME")]
    repo: Option<String>,
    /// Set an input of the action; may be given several times
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = inputs::assignment)]
    inputs: Vec<(String, String)>,
    /// Do not ask the model for the one word that shows that it answers
    #[arg(long)]
    skip_model: bool,
    #[command(flatten)]
    store: StoreOption,
}

const AFTER: &str = "\
On your own machine the token is taken from GITHUB_TOKEN or GH_TOKEN, the
providers' keys from OpenCode's own `auth.json`, and the model from the workflow
that `fro-bot init` wrote:

  export GITHUB_TOKEN=$(gh auth token)
  fro-bot doctor
  fro-bot doctor --input model=anthropic/claude-sonnet-4-5";

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    Ok,
    Look,
    Bad,
}

impl Health {
    /// Returns the word for it, the same on a terminal and in JSON, and its colour.
    fn word(self) -> (&'static str, AnsiColor) {
        match self {
            Self::Ok => ("ok", AnsiColor::Green),
            Self::Look => ("look", AnsiColor::Yellow),
            Self::Bad => ("bad", AnsiColor::Red),
        }
    }
}

/// What was found about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    about: &'static str,
    health: Health,
    says: String,
    /// What to do about it.
    next: Option<String>,
}

impl Finding {
    fn good(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, health: Health::Ok, says: says.into(), next: None }
    }

    fn doubtful(about: &'static str, says: impl Into<String>, next: impl Into<String>) -> Self {
        Self { about, health: Health::Look, says: says.into(), next: Some(next.into()) }
    }

    fn bad(about: &'static str, fault: &Fault) -> Self {
        Self { about, health: Health::Bad, says: fault.what().to_owned(), next: Some(fault.hint()) }
    }
}

/// Looks at everything; something bad makes the exit code that of a wrong set-up.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let waiting = Waiting::begin(env, "looking at the set-up");
    let env = options.surroundings(env).await?;
    let model = if options.skip_model { checks::Model::Skipped } else { checks::Model::Asked };
    let mut findings = checks::all(&env, model, &waiting).await;
    findings.extend(discord::bot(&env).await);
    findings.extend(daemon::all(&env, &options.store).await);
    drop(waiting);
    if options.json {
        let text = serde_json::to_string_pretty(&findings);
        println!("{}", text.map_err(|error| Fault::ours(error.to_string()))?);
    } else {
        println!("{}", render(&findings));
    }
    let worst = findings.iter().map(|finding| finding.health).max();
    Ok(if worst == Some(Health::Bad) { ExitCode::from(2) } else { ExitCode::SUCCESS })
}

impl Options {
    /// Returns the environment of a run as it is meant: a workflow's own, or what a developer's machine has for it.
    async fn surroundings(&self, env: &Env) -> Result<Env, Fault> {
        let inputs = self.inputs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let env = env.with_inputs(inputs);
        let env = env.with(self.repo.as_deref().map(|repo| (env::GITHUB_REPOSITORY, repo)));
        if env.text(env::GITHUB_ACTIONS).is_some() {
            return Ok(env);
        }
        let env = with_model(env);
        let repo = local::repo(&env).await.map(|repo| (env::GITHUB_REPOSITORY, repo.to_string()));
        local::with_key_file(&local::completed(&env, repo.as_slice()))
    }
}

/// Returns the environment with the model that this clone's workflow names, where nobody says which.
fn with_model(env: Env) -> Env {
    let is_said = ["model", "opencode-config"].iter().any(|name| env.input(name).is_some());
    let model = if is_said { None } else { init::model_here() };
    match model {
        Some(model) => env.with_inputs([("model", model.as_str())]),
        None => env,
    }
}

/// Writes one line about each thing, and its next step below.
fn render(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|Finding { about, health, says, next }| {
        let (sign, colour) = health.word();
        let colour = colour.on_default();
        let says: Vec<_> = says.lines().map(say::log::harmless).collect();
        let says = says.join("\n                   ");
        let next = next.as_ref().map(|next| format!("\n                   → {}", say::log::harmless(next)));
        format!("{colour}{sign:<4}{colour:#}  {about:<12} {says}{}", next.unwrap_or_default())
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_has_its_line_and_its_next_step() {
        let findings = [
            Finding::good("walls", "Landlock 7"),
            Finding::doubtful("cache", "it can only be read", "set `cache-mode: write` on the job"),
            Finding::bad("token", &Fault::yours("it was refused\n::error::not a command", "make a new one")),
        ];
        insta::assert_snapshot!(anstream::adapter::strip_str(&render(&findings)), @"
        ok    walls        Landlock 7
        look  cache        it can only be read
                           → set `cache-mode: write` on the job
        bad   token        it was refused
                           : :error: :not a command
                           → make a new one
        ");
    }
}
