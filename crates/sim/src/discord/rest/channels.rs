//! Channels and threads: read, renamed, put away, removed; and who is typing there.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::visit::{Body10, Bot};
use crate::discord::{
    chat::Chat,
    denial::{Denial, Unknown},
    event::Heard,
    limits::{self, LimitScope},
    permission::{MANAGE_CHANNELS, MANAGE_THREADS, SEND_MESSAGES, SEND_MESSAGES_IN_THREADS, VIEW_CHANNEL},
    shape,
    switchboard::Switchboard,
    things::Channel,
};

/// A channel's name may be changed so often…
const MOST_RENAMES: usize = 2;
/// … in so many minutes.
const RENAME_WINDOW: SignedDuration = SignedDuration::from_mins(10);

type Board = State<Arc<Switchboard>>;

pub(super) async fn read(
    State(board): Board,
    Bot(bot): Bot,
    Path(id): Path<u64>,
) -> Result<Json<Value>, Denial> {
    board.read(|chat| {
        let channel = seen(chat, bot, id)?;
        Ok(Json(shape::channel(chat, channel)))
    })
}

pub(super) async fn typing(
    State(board): Board,
    Bot(bot): Bot,
    Path(id): Path<u64>,
) -> Result<StatusCode, Denial> {
    board.change(|chat| {
        may_speak(chat, bot, id)?;
        chat.typing.push((id, bot));
        let guild = seen(chat, bot, id)?.guild.to_string();
        let now = chat.now().as_second();
        let data = json!({ "channel_id": id.to_string(), "guild_id": guild, "user_id": bot.to_string(), "timestamp": now });
        chat.tell(Heard::TypingStart, id, data);
        Ok(StatusCode::NO_CONTENT)
    })
}

pub(super) async fn remove(
    State(board): Board,
    Bot(bot): Bot,
    Path(id): Path<u64>,
) -> Result<Json<Value>, Denial> {
    board.change(|chat| {
        let channel = seen(chat, bot, id)?;
        let needed = if channel.thread.is_some() { MANAGE_THREADS } else { MANAGE_CHANNELS };
        if chat.permissions(bot, id) & needed == 0 {
            return Err(Denial::no_permission());
        }
        let shape = shape::channel(chat, channel);
        chat.remove_channel(id);
        Ok(Json(shape))
    })
}

pub(super) async fn change(
    State(board): Board,
    Bot(bot): Bot,
    Path(id): Path<u64>,
    body: Body10,
) -> Response {
    let changed = board.change(|chat| {
        may_change(chat, bot, id, &body.json)?;
        rename(chat, id, &body.json)?;
        let now = chat.now();
        let Some(channel) = chat.channel_mut(id) else {
            return Err(No::Denied(Denial::unknown(Unknown::Channel)));
        };
        let heard = if channel.thread.is_some() { Heard::ThreadUpdate } else { Heard::ChannelUpdate };
        if let Some(thread) = &mut channel.thread {
            if let Some(archived) = body.json["archived"].as_bool() {
                (thread.archived, thread.moved_at) = (archived, now);
            }
            thread.locked = body.json["locked"].as_bool().unwrap_or(thread.locked);
        }
        chat.tell_channel(heard, id);
        Ok(Json(chat.channel(id).map_or(Value::Null, |channel| shape::channel(chat, channel))))
    });
    match changed {
        Ok(channel) => channel.into_response(),
        Err(No::Denied(denial)) => denial.into_response(),
        Err(No::TooOften(wait)) => limits::too_many(LimitScope::Shared, wait.unsigned_abs(), None),
    }
}

/// Why a channel stays as it is.
enum No {
    Denied(Denial),
    TooOften(SignedDuration),
}

impl From<Denial> for No {
    fn from(denial: Denial) -> Self {
        Self::Denied(denial)
    }
}

fn may_change(chat: &Chat, bot: u64, id: u64, wanted: &Value) -> Result<(), Denial> {
    let channel = seen(chat, bot, id)?;
    let allowed = chat.permissions(bot, id);
    let Some(thread) = &channel.thread else {
        return if allowed & MANAGE_CHANNELS == 0 { Err(Denial::no_permission()) } else { Ok(()) };
    };
    let moderates = allowed & MANAGE_THREADS != 0;
    // Anybody who may speak in it takes out an unlocked thread; the one who began it may do more.
    let only_opens =
        wanted.as_object().is_some_and(|fields| fields.len() == 1) && wanted["archived"] == false;
    let may = moderates
        || (!thread.locked && (thread.owner == bot || (only_opens && may_speak(chat, bot, id).is_ok())));
    if !may {
        return Err(Denial::no_permission());
    }
    if thread.archived && wanted["archived"] != false {
        return Err(Denial::new(400, 50083, "Thread is archived"));
    }
    Ok(())
}

fn rename(chat: &mut Chat, id: u64, wanted: &Value) -> Result<(), No> {
    let Some(name) = wanted["name"].as_str() else { return Ok(()) };
    named(name)?;
    let now = chat.now();
    let Some(channel) = chat.channel_mut(id).filter(|channel| channel.name != name) else { return Ok(()) };
    channel.renamed_at.retain(|at| now.duration_since(*at) < RENAME_WINDOW);
    if channel.renamed_at.len() >= MOST_RENAMES {
        let oldest = channel.renamed_at[0];
        return Err(No::TooOften(RENAME_WINDOW - now.duration_since(oldest)));
    }
    channel.renamed_at.push(now);
    name.clone_into(&mut channel.name);
    Ok(())
}

/// Refuses a name that no channel can have.
pub(super) fn named(name: &str) -> Result<(), Denial> {
    match name.trim().chars().count() {
        1..=100 => Ok(()),
        _ => Err(Denial::form("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")),
    }
}

/// A channel that the bot may see.
pub(super) fn seen(chat: &Chat, bot: u64, id: u64) -> Result<&Channel, Denial> {
    let channel = chat.channel(id).ok_or_else(|| Denial::unknown(Unknown::Channel))?;
    let visible = chat.permissions(bot, id) & VIEW_CHANNEL != 0;
    visible.then_some(channel).ok_or_else(Denial::no_access)
}

/// Refuses who may not say anything in a channel.
pub(super) fn may_speak(chat: &Chat, bot: u64, id: u64) -> Result<(), Denial> {
    let channel = seen(chat, bot, id)?;
    let allowed = chat.permissions(bot, id);
    let needed = if channel.thread.is_some() { SEND_MESSAGES_IN_THREADS } else { SEND_MESSAGES };
    if allowed & needed == 0 {
        return Err(Denial::no_permission());
    }
    match &channel.thread {
        Some(thread) if thread.locked && allowed & MANAGE_THREADS == 0 => {
            Err(Denial::new(400, 50083, "Thread is archived"))
        }
        _ => Ok(()),
    }
}
