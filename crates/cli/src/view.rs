//! `fro-bot view`: the operators' page of a memory, of a daemon's store, or of both, until Ctrl-C.

use std::{process::ExitCode, sync::Arc};

use anstream::println;
use clap::Args;
use fro_core::{Fault, Redactor, RepoName, Secret};
use fro_page::Memories;

use crate::{
    daemon_store::StoreOption,
    env::{self, Env},
    interrupt::Interrupt,
    log,
    memory::{opened::Opened, which::Which},
    page_option::{self, Content, HostOption},
};

/// What to show.
#[derive(Debug, Args)]
#[command(after_help = AFTER, mut_arg("json", |arg| arg.hide(true)))]
pub(crate) struct Options {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    store: StoreOption,
    /// Shows it at this port of this machine, or at ADDRESS:PORT; without it, at what `FRO_PAGE` names, or at any free port
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    page: Option<String>,
    #[command(flatten)]
    hosts: HostOption,
}

const AFTER: &str = "\
With `--store` or `FRO_STORE` it shows the daemon's threads, queue, links and
audit too, and the memory of each linked repository.

Environment:
  FRO_PAGE        where the page is shown
  FRO_PAGE_TOKEN  what it asks for as a password; if not set, one is made up
                  and printed";

/// Shows it until it is asked to stop.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let mut interrupt = Interrupt::listen()?;
    let redactor = Redactor::knowing(&env.credentials());
    log::start_of_daemon(env, redactor.clone());
    let address = options.store.said(env);
    let store = match &address {
        Some(_) => Some(options.store.existing(env).await?),
        None => None,
    };
    let of_daemon = address.as_ref().filter(|_| !options.which.names_one());
    let memories = if let Some(address) = of_daemon {
        Memories::of_repositories(page_option::of_repositories(env, address))
    } else {
        let (which, env) = (options.which.clone(), Arc::new(env.with([(env::FRO_QUIET, "true")])));
        // A wrong name is said now, and not on the page.
        which.stores(&env)?;
        Memories::one(Box::new(move |_: Option<&RepoName>| page_option::open(Opened::bring(&which, &env)?)))
    };
    let said = options.page.as_deref().or_else(|| env.text(env::FRO_PAGE)).unwrap_or("0");
    let listener = options.hosts.listen(said).await?;
    let (token, told) = token(env)?;
    let _shown = listener.show(Content { token, memories, store, redactor });
    if let Some(token) = told {
        println!("it asks for a password: {token} (any user name)");
    }
    println!("Ctrl-C ends it");
    interrupt.asked().await;
    Ok(ExitCode::SUCCESS)
}

/// Returns the token, and the same as a text if somebody has to be told of it.
fn token(env: &Env) -> Result<(Secret, Option<String>), Fault> {
    if let Some(token) = page_option::token(env)? {
        return Ok((token, None));
    }
    let made = fro_opencode::random_hex::<16>();
    let made = made.map_err(|error| Fault::ours(format!("cannot make up a token: {error}")))?;
    Ok((Secret::new(made.clone()), Some(made)))
}
