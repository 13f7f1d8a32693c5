//! `fro-bot doctor`: looks at everything that a run depends on, and says one line about each.

mod bucket;
mod checks;

use std::process::ExitCode;

use anstream::println;
use anstyle::AnsiColor;
use clap::Args;
use fro_core::{Fault, say};
use serde::Serialize;

use crate::env::Env;

/// How to tell.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Prints everything as JSON
    #[arg(long)]
    json: bool,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    Good,
    Doubtful,
    Bad,
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
        Self { about, health: Health::Good, says: says.into(), next: None }
    }

    fn doubtful(about: &'static str, says: impl Into<String>, next: impl Into<String>) -> Self {
        Self { about, health: Health::Doubtful, says: says.into(), next: Some(next.into()) }
    }

    fn bad(about: &'static str, fault: &Fault) -> Self {
        Self { about, health: Health::Bad, says: fault.what().to_owned(), next: Some(fault.hint()) }
    }
}

/// Looks at everything; something bad makes the exit code that of a wrong set-up.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let findings = checks::all(env).await;
    if options.json {
        let text = serde_json::to_string_pretty(&findings);
        println!("{}", text.map_err(|error| Fault::ours(error.to_string()))?);
    } else {
        println!("{}", told(&findings));
    }
    let worst = findings.iter().map(|finding| finding.health).max();
    Ok(if worst == Some(Health::Bad) { ExitCode::from(2) } else { ExitCode::SUCCESS })
}

/// Writes one line about each thing, and its next step below.
fn told(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|Finding { about, health, says, next }| {
        let (sign, colour) = match health {
            Health::Good => ("ok  ", AnsiColor::Green),
            Health::Doubtful => ("look", AnsiColor::Yellow),
            Health::Bad => ("bad ", AnsiColor::Red),
        };
        let colour = colour.on_default();
        let says: Vec<_> = says.lines().map(say::log::harmless).collect();
        let says = says.join("\n                   ");
        let next = next.as_ref().map(|next| format!("\n                   → {}", say::log::harmless(next)));
        format!("{colour}{sign}{colour:#}  {about:<12} {says}{}", next.unwrap_or_default())
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
        insta::assert_snapshot!(anstream::adapter::strip_str(&told(&findings)), @"
        ok    walls        Landlock 7
        look  cache        it can only be read
                           → set `cache-mode: write` on the job
        bad   token        it was refused
                           : :error: :not a command
                           → make a new one
        ");
    }
}
