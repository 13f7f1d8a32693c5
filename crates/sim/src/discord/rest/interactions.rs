//! Answers to commands, clicks and forms: the first within three seconds, the others within fifteen minutes.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{messages, visit::Body10};
use crate::discord::{
    chat::Chat,
    denial::{Denial, Unknown},
    form::Form,
    shape::{self, Nonce},
    switchboard::Switchboard,
    things::{Answered, ChatMessage, Interaction},
};

const FIRST: SignedDuration = SignedDuration::from_secs(3);
const ALL: SignedDuration = SignedDuration::from_mins(15);
const EPHEMERAL: u64 = 64;
const LOADING: u64 = 128;

type Board = State<Arc<Switchboard>>;

/// Whether whoever answers wants to be told what came of it.
#[derive(Deserialize)]
pub(super) struct CallbackQuery {
    #[serde(default)]
    with_response: String,
}

pub(super) async fn callback(
    State(board): Board,
    Path((id, token)): Path<(u64, String)>,
    Query(query): Query<CallbackQuery>,
    body: Body10,
) -> Result<Response, Denial> {
    let kind = body.json["type"].as_u64().ok_or_else(|| Denial::required("type"))?;
    let data = body.json["data"].clone();
    let form = body.form_in("data")?;
    board.change(|chat| {
        let asked = chat.interactions.iter().find(|it| it.id == id && it.token == token).cloned();
        let asked = asked.ok_or_else(|| Denial::unknown(Unknown::Interaction))?;
        if asked.answered.is_some() {
            return Err(Denial::new(400, 40060, "Interaction has already been acknowledged."));
        }
        if chat.now().duration_since(asked.asked_at) > FIRST {
            return Err(Denial::unknown(Unknown::Interaction));
        }
        let answered = answer(chat, &asked, kind, &data, form)?;
        if let Some(asked) = chat.interactions.iter_mut().find(|it| it.id == id) {
            asked.answered = Some(answered.clone());
        }
        Ok(match query.with_response.as_str() {
            "1" | "true" => Json(outcome(chat, &asked, kind, &answered)).into_response(),
            _ => StatusCode::NO_CONTENT.into_response(),
        })
    })
}

/// What an answer came to; the message itself is told unless it is a promise of one.
fn outcome(chat: &Chat, asked: &Interaction, kind: u64, answered: &Answered) -> Value {
    let mut interaction = json!({ "id": asked.id.to_string(), "type": asked.kind });
    let message = match answered {
        Answered::Message(id) => Some(*id),
        Answered::Update => asked.message,
        Answered::Choices(_) | Answered::Form(_) => None,
    };
    let Some(message) = message.and_then(|id| chat.message(asked.channel, id)) else {
        return json!({ "interaction": interaction });
    };
    interaction["response_message_id"] = json!(message.id.to_string());
    interaction["response_message_loading"] = json!(message.flags & LOADING != 0);
    interaction["response_message_ephemeral"] = json!(message.flags & EPHEMERAL != 0);
    let mut resource = json!({ "type": kind });
    if matches!(kind, 4 | 7) {
        resource["message"] = shape::message(chat, message, Nonce::Told);
    }
    json!({ "interaction": interaction, "resource": resource })
}

fn answer(
    chat: &mut Chat,
    asked: &Interaction,
    kind: u64,
    data: &Value,
    mut form: Form,
) -> Result<Answered, Denial> {
    let bot = chat.application.id;
    let bad =
        || Denial::form("type", "BASE_TYPE_CHOICES", "This type of callback does not fit the interaction.");
    match (kind, asked.kind) {
        (4, 2 | 3 | 5) => {
            let form = form.not_empty()?;
            Ok(Answered::Message(messages::say(chat, form, bot, asked.channel, Some(asked.id))))
        }
        (5, 2 | 3 | 5) => {
            form.flags = form.flags & EPHEMERAL | LOADING;
            Ok(Answered::Message(messages::say(chat, form, bot, asked.channel, Some(asked.id))))
        }
        (6, 3 | 5) if asked.message.is_some() => Ok(Answered::Update),
        (7, 3 | 5) => {
            let message = asked.message.ok_or_else(bad)?;
            drop(messages::reword(chat, form, asked.channel, message));
            Ok(Answered::Update)
        }
        (8, 4) => {
            let choices = data["choices"].as_array().ok_or_else(|| Denial::required("data.choices"))?;
            if choices.len() > 25 {
                return Err(Denial::too_long("data.choices", 25));
            }
            Ok(Answered::Choices(json!(choices)))
        }
        (9, 2 | 3) => match data["title"].as_str().map_or(0, |title| title.chars().count()) {
            1..=45 => Ok(Answered::Form(data.clone())),
            _ => {
                Err(Denial::form("data.title", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length."))
            }
        },
        _ => Err(bad()),
    }
}

pub(super) async fn follow_up(
    State(board): Board,
    Path((application, token)): Path<(u64, String)>,
    body: Body10,
) -> Result<Json<Value>, Denial> {
    let form = body.form()?.not_empty()?;
    board.change(|chat| {
        let asked = answered(chat, application, &token)?;
        let waiting = original(chat, &asked).filter(|id| is_loading(chat, asked.channel, *id));
        // The first follow-up takes the place of the promise.
        let id = match waiting {
            Some(id) => return Ok(Json(fulfil(chat, form, asked.channel, id))),
            None => messages::say(chat, form, application, asked.channel, Some(asked.id)),
        };
        shown(chat, asked.channel, id)
    })
}

pub(super) async fn read(
    State(board): Board,
    Path((application, token, name)): Path<(u64, String, String)>,
) -> Result<Json<Value>, Denial> {
    board.read(|chat| {
        let asked = answered(chat, application, &token)?;
        shown(chat, asked.channel, own(chat, &asked, &name)?)
    })
}

pub(super) async fn change(
    State(board): Board,
    Path((application, token, name)): Path<(u64, String, String)>,
    body: Body10,
) -> Result<Json<Value>, Denial> {
    let form = body.form()?;
    board.change(|chat| {
        let asked = answered(chat, application, &token)?;
        let id = own(chat, &asked, &name)?;
        Ok(Json(fulfil(chat, form, asked.channel, id)))
    })
}

pub(super) async fn remove(
    State(board): Board,
    Path((application, token, name)): Path<(u64, String, String)>,
) -> Result<StatusCode, Denial> {
    board.change(|chat| {
        let asked = answered(chat, application, &token)?;
        let id = own(chat, &asked, &name)?;
        chat.unsay(asked.channel, id);
        Ok(StatusCode::NO_CONTENT)
    })
}

/// Changes an answer; a promise of one is kept by that.
fn fulfil(chat: &mut Chat, form: Form, channel: u64, id: u64) -> Value {
    if let Some(message) = chat.message_mut(channel, id) {
        message.flags &= !LOADING;
    }
    messages::reword(chat, form, channel, id)
}

/// The interaction of a token that can still be answered.
fn answered(chat: &Chat, application: u64, token: &str) -> Result<Interaction, Denial> {
    let asked = chat.interactions.iter().find(|it| it.token == token && application == chat.application.id);
    let asked = asked.filter(|it| it.answered.is_some()).ok_or_else(|| Denial::unknown(Unknown::Webhook))?;
    if chat.now().duration_since(asked.asked_at) > ALL {
        return Err(Denial::new(401, 50027, "Invalid Webhook Token"));
    }
    Ok(asked.clone())
}

/// The message that an interaction was answered with first, or whose button it was.
fn original(chat: &Chat, asked: &Interaction) -> Option<u64> {
    let id = match asked.answered.as_ref()? {
        Answered::Message(id) => *id,
        Answered::Update => asked.message?,
        Answered::Choices(_) | Answered::Form(_) => return None,
    };
    chat.message(asked.channel, id).map(|message| message.id)
}

fn own(chat: &Chat, asked: &Interaction, name: &str) -> Result<u64, Denial> {
    let unknown = || Denial::unknown(Unknown::Message);
    if name == "@original" {
        return original(chat, asked).ok_or_else(unknown);
    }
    let said =
        |message: &&ChatMessage| message.interaction == Some(asked.id) && message.id.to_string() == name;
    chat.messages_in(asked.channel).find(said).map(|message| message.id).ok_or_else(unknown)
}

fn is_loading(chat: &Chat, channel: u64, id: u64) -> bool {
    chat.message(channel, id).is_some_and(|message| message.flags & LOADING != 0)
}

fn shown(chat: &Chat, channel: u64, id: u64) -> Result<Json<Value>, Denial> {
    let message = chat.message(channel, id).ok_or_else(|| Denial::unknown(Unknown::Message))?;
    Ok(Json(shape::message(chat, message, Nonce::Told)))
}
