//! Messages: said, read, changed and taken back.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    channels::{may_speak, seen},
    visit::{Body10, Bot},
};
use crate::discord::{
    chat::Chat,
    denial::{Denial, Unknown},
    event::{self, MESSAGE_CONTENT},
    flaw::Flaw,
    form::Form,
    permission::{ATTACH_FILES, MANAGE_MESSAGES, READ_MESSAGE_HISTORY},
    shape::{self, Nonce},
    switchboard::Switchboard,
    things::{ChatMessage, Pings},
};

/// For so long a nonce is known: "the past few minutes".
const NONCE_MS: u64 = 3 * 60_000;

type Board = State<Arc<Switchboard>>;
type Answered10 = Result<Json<Value>, Denial>;

#[derive(Deserialize)]
pub(super) struct Slice {
    limit: Option<usize>,
    before: Option<u64>,
    after: Option<u64>,
}

pub(super) async fn list(
    State(board): Board,
    Bot(bot): Bot,
    Path(channel): Path<u64>,
    Query(slice): Query<Slice>,
) -> Answered10 {
    let limit = slice.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        let message = "int value should be between 1 and 100.";
        return Err(Denial::form("limit", "NUMBER_TYPE_MAX", message));
    }
    board.read(|chat| {
        readable(chat, bot, channel)?;
        let fits = |message: &&ChatMessage| {
            slice.before.is_none_or(|before| message.id < before)
                && slice.after.is_none_or(|after| message.id > after)
                && !message.ephemeral()
        };
        let all = chat.messages_in(channel).filter(fits);
        let mut chosen: Vec<_> =
            if slice.after.is_some() { all.take(limit).collect() } else { all.rev().take(limit).collect() };
        // Newest first, whichever end they were taken from.
        chosen.sort_by_key(|message| std::cmp::Reverse(message.id));
        Ok(Json(chosen.into_iter().map(|message| shown(chat, message)).collect()))
    })
}

pub(super) async fn read(
    State(board): Board,
    Bot(bot): Bot,
    Path((channel, id)): Path<(u64, u64)>,
) -> Answered10 {
    board.read(|chat| {
        readable(chat, bot, channel)?;
        let message = chat.message(channel, id).filter(|message| !message.ephemeral());
        Ok(Json(shown(chat, message.ok_or_else(|| Denial::unknown(Unknown::Message))?)))
    })
}

pub(super) async fn create(
    State(board): Board,
    Bot(bot): Bot,
    Path(channel): Path<u64>,
    body: Body10,
) -> Answered10 {
    let form = body.form()?.not_empty()?;
    board.change(|chat| {
        may_speak(chat, bot, channel)?;
        if !form.files.is_empty() && chat.permissions(bot, channel) & ATTACH_FILES == 0 {
            return Err(Denial::no_permission());
        }
        if let Some(earlier) = form.reply_to
            && chat.message(channel, earlier).is_none()
        {
            return Err(Denial::form("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message"));
        }
        if let Some(twin) = said_before(chat, &form, bot, channel) {
            return Ok(Json(shape::message(chat, twin, Nonce::Told)));
        }
        let id = say(chat, form, bot, channel, None);
        let said = chat.message(channel, id).cloned().ok_or_else(|| Denial::unknown(Unknown::Message))?;
        Ok(Json(shape::message(chat, &said, Nonce::Told)))
    })
}

pub(super) async fn change(
    State(board): Board,
    Bot(bot): Bot,
    Path((channel, id)): Path<(u64, u64)>,
    body: Body10,
) -> Answered10 {
    let form = body.form()?;
    board.change(|chat| {
        let place = seen(chat, bot, channel)?;
        if place.thread.as_ref().is_some_and(|thread| thread.archived) {
            return Err(Denial::new(400, 50083, "Thread is archived"));
        }
        let message = chat.message(channel, id).ok_or_else(|| Denial::unknown(Unknown::Message))?;
        if message.author != bot {
            return Err(Denial::new(403, 50005, "Cannot edit a message authored by another user"));
        }
        Ok(Json(reword(chat, form, channel, id)))
    })
}

pub(super) async fn remove(
    State(board): Board,
    Bot(bot): Bot,
    Path((channel, id)): Path<(u64, u64)>,
) -> Result<StatusCode, Denial> {
    board.change(|chat| {
        seen(chat, bot, channel)?;
        let message = chat.message(channel, id).ok_or_else(|| Denial::unknown(Unknown::Message))?;
        if message.author != bot && chat.permissions(bot, channel) & MANAGE_MESSAGES == 0 {
            return Err(Denial::no_permission());
        }
        chat.unsay(channel, id);
        Ok(StatusCode::NO_CONTENT)
    })
}

/// Puts what a form says into a channel.
pub(super) fn say(
    chat: &mut Chat,
    mut form: Form,
    author: u64,
    channel: u64,
    interaction: Option<u64>,
) -> u64 {
    let id = chat.next_id();
    let pings = form.pings(chat, author, channel);
    let files = form.uploads(chat);
    chat.post(ChatMessage {
        id,
        channel,
        author,
        content: form.content.unwrap_or_default(),
        nonce: form.nonce,
        components: form.components.unwrap_or_default(),
        files,
        pings,
        reply_to: form.reply_to,
        edited_at: None,
        flags: form.flags,
        kind: if form.reply_to.is_some() { 19 } else { 0 },
        interaction,
        webhook: false,
    })
}

/// Changes a message into what a form says, and shows it.
pub(super) fn reword(chat: &mut Chat, mut form: Form, channel: u64, id: u64) -> Value {
    let author = chat.message(channel, id).map_or(0, |message| message.author);
    // Whom an edited text names is not rung again.
    let pings = Pings { everyone: false, ..form.pings(chat, author, channel) };
    let files = form.uploads(chat);
    chat.reword(channel, id, |message| form.apply(message, pings, files));
    chat.message(channel, id).map_or(Value::Null, |message| shape::message(chat, message, Nonce::Untold))
}

/// The message that was sent with the same nonce a moment ago, if the sender asks for that.
fn said_before<'a>(chat: &'a Chat, form: &Form, author: u64, channel: u64) -> Option<&'a ChatMessage> {
    let known = form.enforce_nonce && chat.flaw != Some(Flaw::NonceForgotten);
    let nonce = form.nonce.as_ref().filter(|_| known)?;
    let now = u64::try_from(chat.now().as_millisecond()).unwrap_or_default();
    let recent = |message: &ChatMessage| (message.id >> 22) + 1_420_070_400_000 + NONCE_MS > now;
    chat.messages_in(channel)
        .find(|message| message.author == author && message.nonce.as_ref() == Some(nonce) && recent(message))
}

fn readable(chat: &Chat, bot: u64, channel: u64) -> Result<(), Denial> {
    seen(chat, bot, channel)?;
    let may = chat.permissions(bot, channel) & READ_MESSAGE_HISTORY != 0;
    may.then_some(()).ok_or_else(Denial::no_access)
}

/// A message as the bot may read it.
fn shown(chat: &Chat, message: &ChatMessage) -> Value {
    let mut shape = shape::message(chat, message, Nonce::Untold);
    if chat.application.privileged & MESSAGE_CONTENT == 0 {
        event::blank(chat, &mut shape);
    }
    shape
}
