//! The commands that people can give the bot.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
};
use serde_json::{Value, json};

use super::visit::{Body10, Bot};
use crate::discord::{
    denial::{Denial, Unknown},
    switchboard::Switchboard,
};

const MOST: usize = 100;
const MOST_OPTIONS: usize = 25;

type Listed = Result<Json<Value>, Denial>;

pub(super) async fn list(
    State(board): State<Arc<Switchboard>>,
    Bot(bot): Bot,
    Path(application): Path<u64>,
) -> Listed {
    own(bot, application)?;
    Ok(Json(board.read(|chat| chat.application.commands.iter().cloned().collect())))
}

/// Puts all commands in place of those that were there.
pub(super) async fn overwrite(
    State(board): State<Arc<Switchboard>>,
    Bot(bot): Bot,
    Path(application): Path<u64>,
    body: Body10,
) -> Listed {
    own(bot, application)?;
    let Some(wanted) = body.json.as_array() else {
        return Err(Denial::form("", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType"));
    };
    if wanted.len() > MOST {
        return Err(Denial::new(400, 30032, "Maximum number of application commands reached (100)."));
    }
    for command in wanted {
        check(command)?;
    }
    board.change(|chat| {
        let mut commands = Vec::new();
        for command in wanted {
            let before = chat.application.commands.iter().find(|it| it["name"] == command["name"]);
            let id = before.map_or_else(|| Value::Null, |it| it["id"].clone());
            let id = if id.is_null() { json!(chat.next_id().to_string()) } else { id };
            let mut command = command.clone();
            command["id"] = id;
            command["application_id"] = json!(bot.to_string());
            command["version"] = json!(chat.next_id().to_string());
            for (field, usual) in
                [("type", json!(1)), ("default_member_permissions", Value::Null), ("nsfw", json!(false))]
            {
                if command[field].is_null() {
                    command[field] = usual;
                }
            }
            commands.push(command);
        }
        chat.application.commands.clone_from(&commands);
        Ok(Json(commands.into()))
    })
}

fn own(bot: u64, application: u64) -> Result<(), Denial> {
    (bot == application).then_some(()).ok_or_else(|| Denial::unknown(Unknown::Application))
}

/// Refuses a command, or an option of one, that cannot be.
fn check(thing: &Value) -> Result<(), Denial> {
    let name = thing["name"].as_str().ok_or_else(|| Denial::required("name"))?;
    let plain = |letter: char| letter.is_alphanumeric() && !letter.is_uppercase() || "-_'".contains(letter);
    if !(1..=32).contains(&name.chars().count()) || !name.chars().all(plain) {
        let message = "Command name is invalid";
        return Err(Denial::form("name", "APPLICATION_COMMAND_INVALID_NAME", message));
    }
    let description = thing["description"].as_str().ok_or_else(|| Denial::required("description"))?;
    if !(1..=100).contains(&description.chars().count()) {
        return Err(Denial::form(
            "description",
            "BASE_TYPE_BAD_LENGTH",
            "Must be between 1 and 100 in length.",
        ));
    }
    let options = thing["options"].as_array().map_or(&[][..], Vec::as_slice);
    if options.len() > MOST_OPTIONS {
        return Err(Denial::too_long("options", MOST_OPTIONS));
    }
    let late = |pair: &[Value]| pair[0]["required"] != true && pair[1]["required"] == true;
    if options.windows(2).any(late) {
        let message = "Required options must be placed before non-required options";
        return Err(Denial::form("options", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", message));
    }
    if thing["choices"].as_array().is_some_and(|choices| choices.len() > MOST_OPTIONS) {
        return Err(Denial::too_long("choices", MOST_OPTIONS));
    }
    options.iter().try_for_each(check)
}
