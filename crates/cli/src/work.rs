//! `fro-bot work`: takes turns from the daemon's store and puts them to agents. It knows nothing of Discord.

use std::{future::pending, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use clap::Args;
use fro_agent::Process;
use fro_core::{Fault, RepoName, chat::say::APPROVAL_TIME};
use fro_run::REPO_SETTINGS;
use fro_serve::{Address, Caps, Offered, Store, Watch, Worker};
use serde_json::Value;
use tokio::{
    io::{copy, sink},
    net::unix::pipe::Receiver,
};

use crate::{
    daemon_store::{StoreOption, process_name},
    env::{self, Env},
    inputs,
    interrupt::Interrupt,
    local, log, settings,
    window::WindowOption,
};

/// Which turns are taken, and how many.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct Options {
    #[command(flatten)]
    store: StoreOption,
    /// This worker's name in the store, which no other running worker may have; made up if left out
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
    /// How many megabytes of memory one engine may take, with all that it starts; it is ended if it takes more. 0 sets
    /// no limit; without it, what `FRO_ENGINE_MEMORY` says, or 4096
    #[arg(long, value_name = "MB")]
    engine_memory: Option<u64>,
    /// How many seconds turns may go on when the worker is asked to stop; what is left is given back
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    patience: u64,
    /// Set an input of the action; may be given several times
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = inputs::assignment)]
    inputs: Vec<(String, String)>,
    /// Stop when standard input ends, which `serve` holds open for the worker that it started
    #[arg(long, hide = true)]
    beside: bool,
    #[command(flatten)]
    window: WindowOption,
}

const AFTER: &str = "\
Environment:
  GITHUB_TOKEN, GH_TOKEN  the token for GitHub, unless the inputs `app-id` and
                          `private-key` name an App
  FRO_MEMORY              the folder that keeps the memory, with a folder for
                          each repository; if not set, one beside the store,
                          where that is a file
  INPUT_MODEL, INPUT_…    inputs of the action, as `--input` sets them

The models' keys are taken from the input `auth-json`, or from OpenCode's own
`auth.json`. The inputs `s3-…` keep the memory in a bucket.";

/// How long a turn stays a worker's own without a sign of life.
const LEASE: Duration = Duration::from_secs(30);
/// How many megabytes an engine may take if nobody says: it needs 500 for itself, the rest is for what it starts.
const ENGINE_MEMORY: u64 = 4096;
/// Where Discord keeps files.
const FILE_HOSTS: [&str; 2] = ["https://cdn.discordapp.com", "https://media.discordapp.net"];
/// How often the worker looks for work.
const PACE: Duration = Duration::from_millis(500);

/// Works until it is asked to stop.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let mut interrupt = Interrupt::listen()?;
    let address = options.store.address(env)?;
    let given = options.inputs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let env = local::with_key_file(&local::completed(env, &[]))?.with_inputs(given);
    let folder = memory(&env, &address);
    // What is wrong with the settings is said now, and not to whoever asks first.
    let trial = settings::of_worker(&env, &example(), (folder.clone(), None))?;
    let offered = trial.agent.engine.config.clone();
    let process = Process::new(trial.agent);
    log::start_of_daemon(&env, process.redactor.clone());
    let name = options.name.clone().unwrap_or_else(|| process_name("worker"));
    let listener = options.window.listen(&env).await?;
    let store = Store::open(&address).await.map_err(|error| error.fault())?;
    let watch = Arc::new(Watch::of_work(store.clone()));
    let _window = listener.map(|listener| listener.show(Arc::clone(&watch)));
    offer(&store, &offered).await?;
    let worker = Worker {
        store,
        name: name.clone(),
        caps: Caps { all: options.in_all, repository: options.per_repository },
        most: options.turns.max(1),
        lease: LEASE,
        pace: PACE,
        approval_time: APPROVAL_TIME,
        engine_memory: engine_memory(options.engine_memory, &env)?,
        patience: Duration::from_secs(options.patience),
        file_hosts: FILE_HOSTS.map(str::to_owned).into(),
        repo_settings: REPO_SETTINGS,
        process,
        settings: Box::new(move |repo, file| settings::of_worker(&env, repo, (folder.clone(), file))),
        watch,
    };
    anstream::println!("`{name}` takes turns; Ctrl-C stops it");
    let stop = async {
        tokio::select! {
            () = interrupt.asked() => {}
            () = abandoned(options.beside) => {}
        }
    };
    Box::pin(worker.run(stop)).await?;
    Ok(ExitCode::SUCCESS)
}

/// Returns how many bytes an engine may take, if there is an end to it.
fn engine_memory(said: Option<u64>, env: &Env) -> Result<Option<u64>, Fault> {
    let variable = env.text(env::FRO_ENGINE_MEMORY).map(|text| {
        let no_number = || format!("`FRO_ENGINE_MEMORY` is `{text}`, which is no whole number");
        text.parse().map_err(|_| Fault::yours(no_number(), "give a number of megabytes, such as `4096`"))
    });
    let megabytes = match said {
        Some(megabytes) => megabytes,
        None => variable.transpose()?.unwrap_or(ENGINE_MEMORY),
    };
    Ok((megabytes > 0).then(|| megabytes.saturating_mul(1_000_000)))
}

/// Tells `serve` what people can choose from: the models and agents that the configuration names.
async fn offer(store: &Store, config: &Value) -> Result<(), Fault> {
    for (what, names) in [(Offered::Model, models(config)), (Offered::Agent, agents(config))] {
        store.offer(what, &names).await.map_err(|error| error.fault())?;
    }
    Ok(())
}

fn models(config: &Value) -> Vec<String> {
    let providers = config["provider"].as_object().into_iter().flatten();
    let named = providers.flat_map(|(provider, about)| {
        let models = about["models"].as_object().into_iter().flatten();
        models.map(move |(model, _)| format!("{provider}/{model}"))
    });
    named.collect()
}

/// Names the agents that can be asked: the engine's own two, and those of the configuration that are no helpers.
fn agents(config: &Value) -> Vec<String> {
    let own = config["agent"].as_object().into_iter().flatten();
    let asked = own.filter(|(_, about)| about["mode"] != "subagent" && about["disable"] != true);
    let named = asked.map(|(name, _)| name.clone());
    ["build", "plan"].map(str::to_owned).into_iter().chain(named).collect()
}

/// Ends when the `serve` has ended that started us, if one did.
async fn abandoned(beside: bool) {
    let lifeline = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).ok().filter(|_| beside);
    let Some(Ok(mut lifeline)) = lifeline.map(Receiver::from_owned_fd) else { return pending().await };
    drop(copy(&mut lifeline, &mut sink()).await);
    tracing::warn!("`serve` has ended, and so does the worker that it started");
}

/// Returns the folder of the memories, if they are kept in one.
pub(crate) fn memory(env: &Env, store: &Address) -> Option<PathBuf> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_engine_may_take_what_is_said_or_4_gigabytes() {
        let bytes = |said, variable| {
            let env = Env::from_variables([("FRO_ENGINE_MEMORY", variable)]);
            engine_memory(said, &env).map_err(|fault| fault.what().to_owned())
        };
        assert_eq!(bytes(None, ""), Ok(Some(4_096_000_000)));
        assert_eq!((bytes(None, "512"), bytes(Some(1), "512")), (Ok(Some(512_000_000)), Ok(Some(1_000_000))));
        assert_eq!((bytes(Some(0), "512"), bytes(None, "0")), (Ok(None), Ok(None)));
        assert!(bytes(None, "much").is_err());
    }

    #[test]
    fn people_choose_among_what_the_configuration_names() {
        let config = json!({
            "provider": { "sim": { "models": { "tulip": {}, "rose": {} } }, "none": {} },
            "agent": { "gardener": {}, "helper": { "mode": "subagent" }, "title": { "disable": true } },
        });
        assert_eq!(models(&config), ["sim/rose", "sim/tulip"]);
        assert_eq!(agents(&config), ["build", "plan", "gardener"]);
        assert_eq!((models(&json!({})), agents(&json!({})).len()), (Vec::new(), 2));
    }
}
