//! The bot: its token, what it may read, and how people show their accounts. Nothing is said where no bot is set up.

use fro_core::Secret;
use fro_discord::{About, Discord, invitation};

use super::Finding;
use crate::{
    env::{self, Env},
    serve,
};

/// Looks at the bot, if there is one.
pub(super) async fn bot(env: &Env) -> Vec<Finding> {
    const ABOUT: &str = "discord";
    let Some(token) = env.text(env::FRO_DISCORD_TOKEN) else { return Vec::new() };
    let settings = serve::discord(env, Secret::new(token));
    let about = match serve::client(env) {
        Ok(client) => Discord::open(&settings, &client).about_me().await.map_err(|error| error.fault()),
        Err(fault) => Err(fault),
    };
    match about {
        Err(fault) => vec![Finding::bad(ABOUT, &fault)],
        Ok(about) => {
            let invited = format!("it is let into a server by {}", invitation(about.me));
            let known = Finding::good(ABOUT, format!("Discord knows `{}`; {invited}", about.name));
            vec![known, intents(&about), clock(&about), sign_in(env)]
        }
    }
}

fn intents(about: &About) -> Finding {
    const ABOUT: &str = "intents";
    if about.reads_content {
        return Finding::good(ABOUT, "the bot reads the channels it is let into");
    }
    let next = "switch on `Message Content Intent` on the bot's page, or `fro-bot serve --mentions-only`";
    Finding::doubtful(ABOUT, "the bot reads only what mentions it", next)
}

fn clock(about: &About) -> Finding {
    const ABOUT: &str = "clock";
    match about.clock_is_off() {
        None => Finding::good(ABOUT, "this machine and Discord agree on the time"),
        Some(seconds) => Finding::doubtful(
            ABOUT,
            format!("this machine's clock is {seconds} s ahead of Discord's"),
            "set it, for instance by NTP: messages of an outage are looked for by it, and leases of workers end by it",
        ),
    }
}

fn sign_in(env: &Env) -> Finding {
    const ABOUT: &str = "sign-in";
    match env.text(env::FRO_GITHUB_CLIENT_ID) {
        Some(_) => Finding::good(ABOUT, "people can show their GitHub account"),
        None => Finding::doubtful(
            ABOUT,
            "GitHub cannot be asked who people are, so that nobody can link a channel",
            "set `FRO_GITHUB_CLIENT_ID` to the client id of the GitHub App",
        ),
    }
}
