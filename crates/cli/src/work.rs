//! `fro-bot work`: takes turns from the daemon's store and puts them to agents. It knows nothing of Discord.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Args;
use fro_core::{Fault, RepoName};
use fro_run::REPO_SETTINGS;
use fro_serve::{Address, Caps, Store, Worker};

use crate::{
    daemon_store::StoreOption,
    env::{self, Env},
    inputs,
    interrupt::Interrupt,
    local, log, settings,
};

/// Which turns are taken, and how many.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct Options {
    #[command(flatten)]
    store: StoreOption,
    /// What this worker is called in the store, unlike any other that runs; made up if nobody says
    #[arg(long)]
    name: Option<String>,
    /// How many turns this worker takes at the same time
    #[arg(long, default_value_t = 2)]
    turns: usize,
    /// How many turns of one repository run at the same time, on all machines
    #[arg(long, value_name = "TURNS", default_value_t = 2)]
    per_repository: i64,
    /// How many turns run at the same time in all, on all machines
    #[arg(long, value_name = "TURNS", default_value_t = 16)]
    in_all: i64,
    /// How many seconds turns may go on when the worker is asked to stop; what is left is given back
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    patience: u64,
    /// Sets an input of the action; may be given several times
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = inputs::assignment)]
    inputs: Vec<(String, String)>,
}

const AFTER: &str = "\
GitHub is asked with GITHUB_TOKEN or GH_TOKEN, or as the App of the inputs `app-id` and `private-key`; models with the keys
of `auth-json` or of OpenCode's own `auth.json`. Inputs may be variables, too, as the action has them: INPUT_MODEL.
The memory is kept where the inputs say (`s3-backup`), in the folder FRO_MEMORY, or beside a store that is a file; in a
folder, each repository has its own below it.";

/// How long a turn stays a worker's own without a sign of life.
const LEASE: Duration = Duration::from_secs(30);
/// Where Discord keeps files.
const FILE_HOSTS: [&str; 2] = ["https://cdn.discordapp.com", "https://media.discordapp.net"];
/// How often the worker looks for work.
const PACE: Duration = Duration::from_millis(500);

/// Works until it is asked to stop.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let mut interrupt = Interrupt::listen()?;
    let address = options.store.address(env)?;
    let given = options.inputs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let env = local::completed(env, &[]).with_inputs(given);
    let folder = memory(&env, &address);
    // What is wrong with the settings is said now, and not to whoever asks first.
    let trial = settings::of_worker(&env, &example(), (folder.clone(), None))?;
    log::start(&env, fro_agent::Process::new(trial.agent).redactor);
    let name = options.name.clone().unwrap_or_else(|| format!("worker-{}", std::process::id()));
    let worker = Worker {
        store: Store::open(&address).await.map_err(|error| error.fault())?,
        name: name.clone(),
        caps: Caps { all: options.in_all, repository: options.per_repository },
        most: options.turns.max(1),
        lease: LEASE,
        pace: PACE,
        patience: Duration::from_secs(options.patience),
        file_hosts: FILE_HOSTS.map(str::to_owned).into(),
        repo_settings: REPO_SETTINGS,
        settings: Box::new(move |repo, file| settings::of_worker(&env, repo, (folder.clone(), file))),
    };
    anstream::println!("`{name}` takes turns; Ctrl-C stops it");
    Box::pin(worker.run(interrupt.asked())).await?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder of the memories, if they are kept in one.
fn memory(env: &Env, store: &Address) -> Option<PathBuf> {
    let beside = match store {
        Address::File(path) => path.parent().map(|folder| folder.join("memory")),
        Address::Url(_) => None,
    };
    env.text(env::FRO_MEMORY).map(PathBuf::from).or(beside)
}

/// A repository whose settings are read to see whether they can be.
#[expect(clippy::expect_used, reason = "the name is a constant that the tests parse")]
fn example() -> RepoName {
    RepoName::parse("octo/garden").expect("the constant name parses")
}
