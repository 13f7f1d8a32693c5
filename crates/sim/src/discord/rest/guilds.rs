//! Guilds: their roles, channels and members.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
};
use serde_json::{Value, json};

use super::visit::Bot;
use crate::discord::{
    chat::Chat,
    denial::{Denial, Unknown},
    permission::VIEW_CHANNEL,
    shape,
    switchboard::Switchboard,
    things::{Channel, Guild},
};

type Answer10 = Result<Json<Value>, Denial>;
type Board = State<Arc<Switchboard>>;

pub(super) async fn read(State(board): Board, Bot(bot): Bot, Path(id): Path<u64>) -> Answer10 {
    board.read(|chat| Ok(Json(shape::guild(ours(chat, bot, id)?))))
}

pub(super) async fn roles(State(board): Board, Bot(bot): Bot, Path(id): Path<u64>) -> Answer10 {
    board.read(|chat| Ok(Json(ours(chat, bot, id)?.roles.iter().map(shape::role).collect())))
}

pub(super) async fn channels(State(board): Board, Bot(bot): Bot, Path(id): Path<u64>) -> Answer10 {
    board.read(|chat| {
        let guild = ours(chat, bot, id)?.id;
        let here = chat.channels.iter().filter(|channel| channel.guild == guild && channel.thread.is_none());
        Ok(Json(here.map(|channel| shape::channel(chat, channel)).collect()))
    })
}

pub(super) async fn threads(State(board): Board, Bot(bot): Bot, Path(id): Path<u64>) -> Answer10 {
    board.read(|chat| {
        let guild = ours(chat, bot, id)?.id;
        let open = |channel: &&Channel| {
            channel.guild == guild
                && channel.thread.as_ref().is_some_and(|thread| !thread.archived)
                && chat.permissions(bot, channel.id) & VIEW_CHANNEL != 0
        };
        let threads: Value = chat.channels.iter().filter(open).map(|it| shape::channel(chat, it)).collect();
        Ok(Json(json!({ "threads": threads, "members": [] })))
    })
}

pub(super) async fn member(
    State(board): Board,
    Bot(bot): Bot,
    Path((id, user)): Path<(u64, u64)>,
) -> Answer10 {
    board.read(|chat| {
        let guild = ours(chat, bot, id)?;
        let found = guild.members.iter().find(|member| member.user == user);
        let member = found.ok_or_else(|| Denial::unknown(Unknown::Member))?;
        Ok(Json(shape::whole_member(chat, member)))
    })
}

/// A guild that the bot is in.
fn ours(chat: &Chat, bot: u64, id: u64) -> Result<&Guild, Denial> {
    let guild = chat.guild(id).ok_or_else(|| Denial::unknown(Unknown::Guild))?;
    let inside = guild.members.iter().any(|member| member.user == bot);
    inside.then_some(guild).ok_or_else(Denial::no_access)
}
