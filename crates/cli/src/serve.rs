//! `fro-bot serve`: the process that speaks to Discord, with a worker beside it that does not.

mod child;
mod claim;
mod first_roles;

use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use anstream::println;
use clap::Args;
use fro_core::{Fault, Redactor, Secret};
use fro_discord::Settings as DiscordSettings;
use fro_github::DeviceFlow;
use fro_http::{Client, ClientSettings, Proxy, Retry};
use fro_page::Memories;
use fro_serve::{Address, Pace, ServeSettings, Server, SignIn, Store, Watch};
use tokio::sync::oneshot;

use crate::{
    daemon_store::{StoreOption, process_name},
    env::{self, Env},
    interrupt::Interrupt,
    log,
    page_option::{self, Content, HostOption, ShownPage},
    settings,
    window::WindowOption,
};
use child::Child;
use claim::Claim;

/// How to serve.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct Options {
    #[command(flatten)]
    store: StoreOption,
    /// Start no worker: others, on the same store, take the turns
    #[arg(long)]
    no_worker: bool,
    /// Read only what mentions the bot, for one without the Message Content Intent
    #[arg(long)]
    mentions_only: bool,
    /// A file with the first roles of each server; without it, what `FRO_ROLES` says, or the server's owner with `/policy`
    #[arg(long, value_name = "PATH")]
    roles: Option<PathBuf>,
    #[command(flatten)]
    window: WindowOption,
    /// Shows the operators' page at this port of this machine, or at ADDRESS:PORT; without it, at what `FRO_PAGE` names, or nowhere
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    page: Option<String>,
    #[command(flatten)]
    hosts: HostOption,
}

const AFTER: &str = "\
Environment:
  FRO_DISCORD_TOKEN     the bot's token; the worker does not get it
  FRO_GITHUB_CLIENT_ID  the client ID of the GitHub App by which people show
                        which account is theirs; without it no channel can be
                        linked
  FRO_PAGE_TOKEN        what the operators' page asks for as a password
  FRO_WORKER_METRICS    where the worker that this starts answers `/healthz` and
                        `/metrics`; nowhere if not set

What `fro-bot work` reads besides is passed on to the worker.";

/// Serves until it is asked to stop: first the worker takes its leave, then everything that waits is said.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let mut interrupt = Interrupt::listen()?;
    let address = options.store.address(env)?;
    let secrets = env.credentials();
    let redactor = Redactor::knowing(&secrets);
    log::start_of_daemon(env, redactor.clone());
    let listener = options.window.listen(env).await?;
    let token = token(env)?;
    let client = client(env)?;
    let store = Store::open(&address).await.map_err(|error| error.fault())?;
    let watch = Arc::new(Watch::of_serve(store.clone(), client.clone()));
    // It is open before Discord is met, which may take a while.
    let _window = listener.map(|listener| listener.show(Arc::clone(&watch)));
    let _page = show_page(options, env, (&address, &store), redactor.clone()).await?;
    let name = process_name("serve");
    let claim = Claim::on(&address, &name)?;
    let settings = settings_of(options, env, (token, redactor), (claim.name(), watch))?;
    let server = Server::open(settings, store.clone(), &client).await?;
    println!("`{name}` serves; Ctrl-C stops it");
    let (done, left) = oneshot::channel();
    let worker = async {
        if options.no_worker {
            interrupt.asked().await;
        } else {
            let metrics = env.text(env::FRO_WORKER_METRICS);
            Child::new(&address, &name, metrics).keep(&store, interrupt.asked()).await;
        }
        // The other end waits for nothing else.
        let _: Result<(), ()> = done.send(());
    };
    tokio::join!(worker, server.run(async { drop(left.await) }));
    Ok(ExitCode::SUCCESS)
}

/// Shows the operators' page, if somebody wants it.
async fn show_page(
    options: &Options,
    env: &Env,
    (address, store): (&Address, &Store),
    redactor: Redactor,
) -> Result<Option<ShownPage>, Fault> {
    let Some(said) = options.page.as_deref().or_else(|| env.text(env::FRO_PAGE)) else { return Ok(None) };
    let token = page_option::token(env)?.ok_or_else(|| {
        let hint = "set `FRO_PAGE_TOKEN` to something that nobody guesses, such as what `openssl rand -hex 24` prints";
        Fault::yours("the operators' page has no password", hint)
    })?;
    let memories = Memories::of_repositories(page_option::of_repositories(env, address));
    let content = Content { token, memories, store: Some(store.clone()), redactor };
    Ok(Some(options.hosts.listen(said).await?.show(content)))
}

fn token(env: &Env) -> Result<Secret, Fault> {
    env.text(env::FRO_DISCORD_TOKEN).map(Secret::new).ok_or_else(|| {
        Fault::yours("there is no token of a bot", "set `FRO_DISCORD_TOKEN`, from the bot's page at Discord")
    })
}

fn settings_of(
    options: &Options,
    env: &Env,
    (token, redactor): (Secret, Redactor),
    (name, watch): (&str, Arc<Watch>),
) -> Result<ServeSettings, Fault> {
    let discord = DiscordSettings { reads_content: !options.mentions_only, ..discord(env, token) };
    let sign_in = env.text(env::FRO_GITHUB_CLIENT_ID).map(|id| {
        let (address, client) = (settings::address(env), client(env)?);
        Ok::<_, Fault>(SignIn { flow: DeviceFlow::new(&address, id, client.clone()), address, client })
    });
    let file = options.roles.clone().or_else(|| env.text(env::FRO_ROLES).map(PathBuf::from));
    let first_roles = file.as_deref().map(first_roles::read).transpose()?.unwrap_or_default();
    let (name, sign_in, pace) = (name.to_owned(), sign_in.transpose()?, Pace::default());
    Ok(ServeSettings { discord, name, sign_in, first_roles, redactor, pace, watch })
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
