//! The daemon's side: the bot's token and what it may read, and the store. Nothing is said where no bot is set up.

use fro_core::Secret;
use fro_discord::Discord;

use super::Finding;
use crate::{
    env::{self, Env},
    serve,
};

/// Looks at the bot, if there is one.
pub(super) async fn bot(env: &Env) -> Option<Finding> {
    const ABOUT: &str = "discord";
    let token = env.text(env::FRO_DISCORD_TOKEN)?;
    let settings = serve::discord(env, Secret::new(token));
    let client = match serve::client(env) {
        Ok(client) => client,
        Err(fault) => return Some(Finding::bad(ABOUT, &fault)),
    };
    let about = match Discord::open(&settings, &client).about_me().await {
        Ok(about) => about,
        Err(error) => return Some(Finding::bad(ABOUT, &error.fault())),
    };
    let name = about.name;
    if !about.reads_content {
        let next = "switch on `Message Content Intent` on the bot's page, or `fro-bot serve --mentions-only`";
        return Some(Finding::doubtful(ABOUT, format!("`{name}` reads only what mentions it"), next));
    }
    if env.text(env::FRO_GITHUB_CLIENT_ID).is_none() {
        let next = "set `FRO_GITHUB_CLIENT_ID`: without it nobody can link a channel";
        return Some(Finding::doubtful(ABOUT, format!("`{name}` cannot ask GitHub who people are"), next));
    }
    Some(Finding::good(ABOUT, format!("`{name}` reads the channels it is let into")))
}
