//! Threads: begun on a message or alone, and joined.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
};
use serde_json::{Value, json};

use super::{
    channels::{named, seen},
    visit::{Body10, Bot},
};
use crate::discord::{
    chat::Chat,
    denial::{Denial, Unknown},
    flaw::Flaw,
    permission::{CREATE_PRIVATE_THREADS, CREATE_PUBLIC_THREADS},
    shape,
    switchboard::Switchboard,
    things::ThreadState,
};

type Board = State<Arc<Switchboard>>;
type Threaded = Result<(StatusCode, Json<Value>), Denial>;

pub(super) async fn on_message(
    State(board): Board,
    Bot(bot): Bot,
    Path((channel, message)): Path<(u64, u64)>,
    body: Body10,
) -> Threaded {
    board.change(|chat| {
        may_begin(chat, bot, channel, CREATE_PUBLIC_THREADS)?;
        if chat.message(channel, message).is_none() {
            return Err(Denial::unknown(Unknown::Message));
        }
        if chat.channel(message).is_some() {
            return Err(Denial::new(400, 160_004, "A thread has already been created for this message"));
        }
        let id = if chat.flaw == Some(Flaw::ThreadId) { chat.next_id() } else { message };
        begin(chat, (id, channel), bot, &body.json, false)
    })
}

pub(super) async fn alone(
    State(board): Board,
    Bot(bot): Bot,
    Path(channel): Path<u64>,
    body: Body10,
) -> Threaded {
    board.change(|chat| {
        // Without a kind, a thread is private.
        let private = body.json["type"] != 11;
        may_begin(chat, bot, channel, if private { CREATE_PRIVATE_THREADS } else { CREATE_PUBLIC_THREADS })?;
        let id = chat.next_id();
        begin(chat, (id, channel), bot, &body.json, private)
    })
}

pub(super) async fn join(
    State(board): Board,
    Bot(bot): Bot,
    Path((id, who)): Path<(u64, String)>,
) -> Result<StatusCode, Denial> {
    board.change(|chat| {
        let guild = seen(chat, bot, id)?.guild;
        let who = if who == "@me" { Some(bot) } else { who.parse().ok() };
        let member = who.filter(|user| chat.member(guild, *user).is_some());
        let member = member.ok_or_else(|| Denial::unknown(Unknown::Member))?;
        let thread = chat.channel_mut(id).and_then(|channel| channel.thread.as_mut());
        let thread =
            thread.ok_or_else(|| Denial::new(400, 50024, "Cannot execute action on this channel type"))?;
        if !thread.members.contains(&member) {
            thread.members.push(member);
        }
        Ok(StatusCode::NO_CONTENT)
    })
}

fn begin(chat: &mut Chat, (id, parent): (u64, u64), owner: u64, wanted: &Value, private: bool) -> Threaded {
    let name = wanted["name"].as_str().ok_or_else(|| Denial::required("name"))?;
    named(name)?;
    let length = wanted.get("auto_archive_duration").unwrap_or(&Value::Null);
    if !length.is_null() && ![60, 1440, 4320, 10080].iter().any(|minutes| *length == json!(minutes)) {
        let message = "Value must be one of (60, 1440, 4320, 10080).";
        return Err(Denial::form("auto_archive_duration", "BASE_TYPE_CHOICES", message));
    }
    let moved_at = chat.now();
    let members = vec![owner];
    let thread = ThreadState { parent, owner, private, archived: false, locked: false, moved_at, members };
    chat.begin_thread(id, parent, name, thread);
    let shape = chat.channel(id).map_or(Value::Null, |channel| shape::channel(chat, channel));
    Ok((StatusCode::CREATED, Json(shape)))
}

fn may_begin(chat: &Chat, bot: u64, channel: u64, needed: u64) -> Result<(), Denial> {
    if seen(chat, bot, channel)?.thread.is_some() {
        return Err(Denial::new(400, 50024, "Cannot execute action on this channel type"));
    }
    if chat.permissions(bot, channel) & needed == 0 {
        return Err(Denial::no_permission());
    }
    Ok(())
}
