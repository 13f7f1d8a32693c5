//! What the bot is, and where it is told what happens.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde_json::{Value, json};

use super::visit::Bot;
use crate::discord::{
    event::{GUILD_MEMBERS, GUILD_PRESENCES, MESSAGE_CONTENT},
    gateway::gateway_url,
    shape,
    switchboard::Switchboard,
    things::Application,
};

pub(super) async fn gateway(State(board): State<Arc<Switchboard>>) -> Json<Value> {
    Json(json!({ "url": gateway_url(&board.address) }))
}

pub(super) async fn gateway_bot(State(board): State<Arc<Switchboard>>, Bot(_): Bot) -> Json<Value> {
    Json(json!({
        "url": gateway_url(&board.address),
        "shards": 1,
        "session_start_limit": { "total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1 },
    }))
}

pub(super) async fn user(State(board): State<Arc<Switchboard>>, Bot(bot): Bot) -> Json<Value> {
    Json(board.read(|chat| chat.account(bot).map_or(Value::Null, shape::user)))
}

pub(super) async fn application(State(board): State<Arc<Switchboard>>, Bot(bot): Bot) -> Json<Value> {
    Json(board.read(|chat| {
        let account = chat.account(bot);
        let owner = chat.guilds.first().and_then(|guild| chat.account(guild.owner));
        json!({
            "id": bot.to_string(),
            "name": account.map(|account| &account.name),
            "icon": null,
            "description": "",
            "summary": "",
            "bot_public": true,
            "bot_require_code_grant": false,
            "verify_key": "00".repeat(32),
            "flags": chat.application.flags(),
            "bot": account.map(shape::user),
            "owner": owner.map(shape::user),
            "team": null,
            "redirect_uris": [],
            "interactions_endpoint_url": null,
            "role_connections_verification_url": null,
            "approximate_guild_count": chat.guilds.len(),
        })
    }))
}

impl Application {
    /// Which privileged intents are on, as the flags of an application tell it (of one that few servers use).
    pub(crate) fn flags(&self) -> u64 {
        let flag = |intent: u64, bit: u64| if self.privileged & intent == 0 { 0 } else { 1 << bit };
        flag(GUILD_PRESENCES, 13) | flag(GUILD_MEMBERS, 15) | flag(MESSAGE_CONTENT, 19)
    }
}
