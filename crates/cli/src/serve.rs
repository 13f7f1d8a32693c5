//! `fro-bot serve`: the process that speaks to Discord, with a worker beside it that does not.

mod child;

use std::{process::ExitCode, time::Duration};

use anstream::println;
use clap::Args;
use fro_core::{Fault, Redactor, Secret};
use fro_discord::Settings as DiscordSettings;
use fro_github::DeviceFlow;
use fro_http::{Client, ClientSettings, Proxy, Retry};
use fro_serve::{Pace, ServeSettings, Server, SignIn, Store};
use tokio::sync::oneshot;

use crate::{
    daemon_store::StoreOption,
    env::{self, Env},
    interrupt::Interrupt,
    log, settings,
};
use child::Child;

/// How to serve.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct Options {
    #[command(flatten)]
    store: StoreOption,
    /// Starts no worker: others, on the same store, take the turns
    #[arg(long)]
    no_worker: bool,
    /// Reads only what mentions the bot, for one without the Message Content Intent
    #[arg(long)]
    mentions_only: bool,
}

const AFTER: &str = "\
FRO_DISCORD_TOKEN is the bot's token; the worker does not get it. FRO_GITHUB_CLIENT_ID is the client id of the GitHub App by
which people show their account; without it no channel can be linked. The worker reads the rest, as `fro-bot work` says.";

/// Serves until it is asked to stop: first the worker takes its leave, then everything that waits is said.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let mut interrupt = Interrupt::listen()?;
    let address = options.store.address(env)?;
    let secrets = env.credentials();
    let redactor = Redactor::knowing(&secrets);
    log::start(env, redactor.clone());
    let settings = settings_of(options, env, redactor)?;
    let store = Store::open(&address).await.map_err(|error| error.fault())?;
    let name = settings.name.clone();
    let server = Server::open(settings, store.clone(), &client(env)?).await?;
    println!("`{name}` serves; Ctrl-C stops it");
    let (done, left) = oneshot::channel();
    let worker = async {
        if options.no_worker {
            interrupt.asked().await;
        } else {
            Child::new(&address, &name).keep(&store, interrupt.asked()).await;
        }
        // The other end waits for nothing else.
        let _: Result<(), ()> = done.send(());
    };
    tokio::join!(worker, server.run(async { drop(left.await) }));
    Ok(ExitCode::SUCCESS)
}

fn settings_of(options: &Options, env: &Env, redactor: Redactor) -> Result<ServeSettings, Fault> {
    let token = env.text(env::FRO_DISCORD_TOKEN).ok_or_else(|| {
        Fault::yours("there is no token of a bot", "set `FRO_DISCORD_TOKEN`, from the bot's page at Discord")
    })?;
    let discord =
        DiscordSettings { reads_content: !options.mentions_only, ..discord(env, Secret::new(token)) };
    let sign_in = env.text(env::FRO_GITHUB_CLIENT_ID).map(|id| {
        let (address, client) = (settings::address(env), client(env)?);
        Ok::<_, Fault>(SignIn { flow: DeviceFlow::new(&address, id, client.clone()), address, client })
    });
    let name =
        format!("serve-{}-{}", rustix::system::uname().nodename().to_string_lossy(), std::process::id());
    Ok(ServeSettings { discord, name, sign_in: sign_in.transpose()?, redactor, pace: Pace::default() })
}

/// Returns how Discord is reached.
pub(crate) fn discord(env: &Env, token: Secret) -> DiscordSettings {
    let usual = DiscordSettings::new(token);
    DiscordSettings {
        api: env.text(env::FRO_DISCORD_API).map_or(usual.api, str::to_owned),
        gateway: env.text(env::FRO_DISCORD_GATEWAY).map(str::to_owned),
        ..usual
    }
}

/// Somebody waits for most of what is asked here, so nothing is tried for minutes; the outbox tries for hours.
pub(crate) fn client(env: &Env) -> Result<Client, Fault> {
    let failing: Vec<_> = [500, 1000, 2000].map(Duration::from_millis).into();
    let retry = Retry { limited: failing.clone(), failing, longest: Duration::from_secs(30) };
    let extra_ca = env.authorities();
    let settings = ClientSettings { retry, proxy: Proxy::System, extra_ca, ..ClientSettings::default() };
    Client::new(settings)
        .map_err(|error| Fault::yours(error.to_string(), "check the certificates and proxy variables"))
}
