//! `fro-bot audit`: whether what the daemon wrote down of its decisions still stands as it was written.

use std::process::ExitCode;

use anstream::println;
use clap::{Args, Subcommand};
use fro_core::{Fault, say::summary::counted};
use fro_serve::{Broken, Head};

use crate::{daemon_store::StoreOption, env::Env};

/// What to do with the audit.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Checks that no entry was changed, removed or put in between
    Verify {
        #[command(flatten)]
        store: StoreOption,
        /// A hash that an earlier check printed: it has to be in the audit still
        #[arg(long, value_name = "HASH")]
        noted: Option<String>,
    },
}

/// Does it.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let AuditCommand::Verify { store, noted } = &options.command;
    let store = store.existing(env).await?;
    let checked = store.verify_audit(noted.as_deref()).await.map_err(|error| error.fault())?;
    println!("{}", describe(&checked.map_err(|broken| fault(&broken))?));
    Ok(ExitCode::SUCCESS)
}

fn describe(Head { entries, hash }: &Head) -> String {
    let count = usize::try_from(*entries).unwrap_or_default();
    match count {
        0 => "the audit is empty".to_owned(),
        _ => format!("the audit holds: {}, the last one is {hash}", counted(count, "decision")),
    }
}

fn fault(broken: &Broken) -> Fault {
    let hint =
        "whoever can write to the database can do this: compare it with a backup, and change its password";
    Fault::yours(format!("the audit does not hold: {broken}"), hint)
}
