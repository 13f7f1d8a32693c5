//! How much is printed and in which colours: the options that every command takes.

use anstream::ColorChoice;
use clap::{ArgAction, Args, ValueEnum};

use crate::env::{self, Env};

const OUTPUT: &str = "What is printed";

/// How much is printed, and how.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Colours: `auto` is on a terminal and in a workflow's log, unless `NO_COLOR` is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto, hide_default_value = true, global = true, help_heading = OUTPUT)]
    color: When,
    /// Print results, warnings and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = OUTPUT)]
    quiet: bool,
    /// Print more about the work inside; `-vv` prints everything
    #[arg(short, long, action = ArgAction::Count, global = true, help_heading = OUTPUT)]
    verbose: u8,
}

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl Output {
    /// Sets the colours, and returns the environment with the options in it, so that both mean the same.
    pub(crate) fn apply(&self, env: &Env) -> Env {
        let in_workflow = env.text(env::GITHUB_ACTIONS) == Some("true");
        match self.color {
            When::Always => ColorChoice::AlwaysAnsi.write_global(),
            When::Never => ColorChoice::Never.write_global(),
            // The log of a workflow is no terminal, and shows colours all the same.
            When::Auto if in_workflow && env.text(env::NO_COLOR).is_none() => {
                ColorChoice::AlwaysAnsi.write_global();
            }
            When::Auto => {}
        }
        let quiet = self.quiet.then_some([(env::FRO_QUIET, "true"), (env::FRO_LOG, "error")]);
        let verbose = match self.verbose {
            0 => None,
            1 => Some((env::FRO_LOG, "info")),
            _ => Some((env::FRO_LOG, "debug")),
        };
        env.with(quiet.into_iter().flatten().chain(verbose))
    }
}
