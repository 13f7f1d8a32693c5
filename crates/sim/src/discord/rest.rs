//! Discord's REST API, version 10, as far as anything here asks it.

mod channels;
mod commands;
mod files;
mod guilds;
mod interactions;
mod messages;
mod own;
mod threads;
mod visit;

use std::sync::Arc;

use super::{gateway, switchboard::Switchboard};
use crate::routes::Routes;

pub(crate) use visit::{record, unknown};

/// Every route, with the gateway's own address and that of files.
pub(crate) fn routes() -> Routes<Arc<Switchboard>> {
    let files = Routes::below("")
        .on("GET /gateway", gateway::connect)
        .on("GET /gateway/", gateway::connect)
        .on("GET /attachments/{channel}/{file}/{name}", files::read);
    Routes::below("/api/v10")
        .on("GET /gateway", own::gateway)
        .on("GET /gateway/bot", own::gateway_bot)
        .on("GET /users/@me", own::user)
        .on("GET /applications/@me", own::application)
        .on("GET /oauth2/applications/@me", own::application)
        .on("GET /applications/{application}/commands", commands::list)
        .on("PUT /applications/{application}/commands", commands::overwrite)
        .on("GET /guilds/{guild}", guilds::read)
        .on("GET /guilds/{guild}/channels", guilds::channels)
        .on("GET /guilds/{guild}/roles", guilds::roles)
        .on("GET /guilds/{guild}/members/{user}", guilds::member)
        .on("GET /guilds/{guild}/threads/active", guilds::threads)
        .on("GET /channels/{channel}", channels::read)
        .on("PATCH /channels/{channel}", channels::change)
        .on("DELETE /channels/{channel}", channels::remove)
        .on("POST /channels/{channel}/typing", channels::typing)
        .on("GET /channels/{channel}/messages", messages::list)
        .on("POST /channels/{channel}/messages", messages::create)
        .on("GET /channels/{channel}/messages/{message}", messages::read)
        .on("PATCH /channels/{channel}/messages/{message}", messages::change)
        .on("DELETE /channels/{channel}/messages/{message}", messages::remove)
        .on("POST /channels/{channel}/messages/{message}/threads", threads::on_message)
        .on("POST /channels/{channel}/threads", threads::alone)
        .on("PUT /channels/{channel}/thread-members/{user}", threads::join)
        // Not documented, but what discord.py joins by.
        .on("POST /channels/{channel}/thread-members/{user}", threads::join)
        .on("POST /interactions/{interaction}/{token}/callback", interactions::callback)
        .on("POST /webhooks/{application}/{token}", interactions::follow_up)
        .on("GET /webhooks/{application}/{token}/messages/{message}", interactions::read)
        .on("PATCH /webhooks/{application}/{token}/messages/{message}", interactions::change)
        .on("DELETE /webhooks/{application}/{token}/messages/{message}", interactions::remove)
        .and(files)
}
