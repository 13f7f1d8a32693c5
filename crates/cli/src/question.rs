//! Questions that a person is asked on a terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anstream::print;
use clap::Args;
use fro_core::Fault;

/// How carefully something is removed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Care {
    /// Say what would be removed, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

impl Care {
    /// Asks whoever sits at the terminal whether to go on; elsewhere nobody is asked.
    pub(crate) fn confirm(self, what: &str) -> Result<(), Fault> {
        if self.yes || !is_answered() {
            return Ok(());
        }
        match ask(&format!("{what}. Go on"), "no")?.to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(Fault::yours("nothing was changed", "answer `yes`, or say `--yes`")),
        }
    }
}

/// Tells whether somebody can be asked.
pub(crate) fn is_answered() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Puts a question; an empty answer is the usual one.
pub(crate) fn ask(question: &str, usual: &str) -> Result<String, Fault> {
    let cannot = |error: io::Error| Fault::ours(format!("cannot ask on this terminal: {error}"));
    let usual_shown = if usual.is_empty() { String::new() } else { format!(" [{usual}]") };
    print!("{question}?{usual_shown} ");
    io::stdout().flush().map_err(cannot)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(cannot)?;
    let answer = answer.trim();
    Ok(if answer.is_empty() { usual } else { answer }.to_owned())
}
