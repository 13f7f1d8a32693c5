//! `fro-bot serve`: hears Discord, writes down what follows from it, and does what waits in the outbox.
//!
//! Whatever is heard is in the store before Discord's own count of it moves on, and whatever is to be said waits there
//! until it was said. So this process can end at any point: the next one goes on where the store stands.

mod catch_up;
mod command;
mod daemon;
mod first_roles;
mod hear;
mod link;
mod places;
mod prompts;
mod send;
mod standing;
mod sweep;
mod typing;

use std::{future::Future, sync::Arc, time::Duration};

use fro_core::{
    Fault, Redactor,
    chat::{GuildId, Roles},
};
use fro_discord::Discord;
use fro_github::{Address as GitHubAddress, DeviceFlow};
use fro_http::Client;
use tokio::{sync::watch, time};
use tracing::warn;

use crate::{store::Store, watch::Watch};
use daemon::Daemon;

/// What the Discord-facing process is started with.
#[derive(Debug, Clone)]
pub struct ServeSettings {
    /// How Discord is reached.
    pub discord: fro_discord::Settings,
    /// What this process is called; two that run at once have different names.
    pub name: String,
    /// How people show their GitHub account, if that was set up.
    pub sign_in: Option<SignIn>,
    /// The roles of guilds in which nobody has set any.
    pub first_roles: Vec<(GuildId, Roles)>,
    /// What takes secrets out of everything that is said.
    pub redactor: Redactor,
    /// How often it looks.
    pub pace: Pace,
    /// What an operator sees of it.
    pub watch: Arc<Watch>,
}

/// How people show their GitHub account.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// The way in.
    pub flow: DeviceFlow,
    /// Where GitHub is.
    pub address: GitHubAddress,
    /// What asks it.
    pub client: Client,
}

/// How often this process looks, and how long it waits.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Between two looks at the outbox.
    pub look: Duration,
    /// How long the right to the gateway lasts without a sign of life.
    pub lease: Duration,
    /// Between two signs that an answer is being written.
    pub typing: Duration,
    /// Before something is tried again that failed, at first.
    pub again: Duration,
    /// How long it takes its leave.
    pub farewell: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            look: Duration::from_millis(500),
            lease: Duration::from_secs(30),
            typing: Duration::from_secs(7),
            again: Duration::from_secs(1),
            farewell: Duration::from_secs(10),
        }
    }
}

/// The Discord-facing process.
pub struct Server {
    daemon: Arc<Daemon>,
}

impl Server {
    /// Finds out who we are and tells Discord our commands. A token that Discord does not take is told at once.
    pub async fn open(settings: ServeSettings, store: Store, client: &Client) -> Result<Self, Fault> {
        let discord = Discord::open(&settings.discord, client);
        let about = loop {
            match discord.about_me().await {
                Ok(about) => break about,
                Err(error) if matches!(error.fault(), Fault::Upstream { .. }) => {
                    warn!("{error}; trying again");
                    time::sleep(settings.pace.again).await;
                }
                Err(error) => return Err(error.fault()),
            }
        };
        if let Some(seconds) = about.clock_is_off() {
            warn!(
                "this machine's clock is {seconds} s ahead of Discord's: what is said during an outage may be missed"
            );
        }
        discord.register(&command::specs()).await.map_err(|error| error.fault())?;
        first_roles::set(&settings.first_roles, &store).await.map_err(|error| error.fault())?;
        Ok(Self { daemon: Arc::new(Daemon::new(settings, store, discord, about.me)) })
    }

    /// Serves until it is asked to stop, then takes its leave in a way that nothing is missed meanwhile.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        let daemon = &self.daemon;
        let farewell = daemon.settings.pace.farewell;
        let (leave, leaving) = watch::channel(false);
        let mut hearing = Box::pin(hear::until(daemon, leaving));
        let mut others = Box::pin(async {
            tokio::join!(
                send::forever(daemon),
                typing::forever(daemon),
                standing::forever(daemon),
                sweep::forever(daemon),
            );
        });
        tokio::select! {
            () = stop => {}
            () = &mut hearing => {}
            () = &mut others => {}
        }
        leave.send_replace(true);
        tokio::select! {
            () = &mut hearing => {}
            () = &mut others => {}
            () = time::sleep(farewell) => {}
        }
        drop(others);
        if time::timeout(farewell, send::rest(daemon)).await.is_err() {
            warn!("not everything could be said in time; the rest is said at the next start");
        }
    }
}
