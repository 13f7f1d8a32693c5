//! The form of a message: read, held against Discord's limits, and asked whom it may ring.

use axum::body::Bytes;
use serde_json::Value;

use super::{
    chat::Chat,
    denial::Denial,
    flaw::Flaw,
    permission::MENTION_EVERYONE,
    things::{ChatMessage, Pings, Upload},
};

const LONGEST_TEXT: usize = 2000;
const LONGEST_ID: usize = 100;
const LONGEST_LABEL: usize = 80;
const LONGEST_NONCE: usize = 25;
const MOST_ROWS: usize = 5;
const MOST_IN_ROW: usize = 5;
const MOST_OPTIONS: usize = 25;
const MOST_COMPONENTS: usize = 40;
const MOST_FILES: usize = 10;
const LARGEST_FILE: usize = 10 << 20;
const COMPONENTS_V2: u64 = 1 << 15;

/// What a client wants a message to be; what it did not say stays as it is.
#[derive(Debug, Default)]
pub(crate) struct Form {
    pub(crate) content: Option<String>,
    pub(crate) components: Option<Vec<Value>>,
    pub(crate) flags: u64,
    pub(crate) nonce: Option<Value>,
    pub(crate) enforce_nonce: bool,
    pub(crate) reply_to: Option<u64>,
    pub(crate) files: Vec<(String, String, Bytes)>,
    allowed_mentions: Option<Value>,
    /// Whether what was attached before is named, and so replaced.
    pub(crate) replaces_files: bool,
}

impl Form {
    /// Reads a form and refuses what Discord refuses.
    pub(crate) fn read(body: &Value, files: Vec<(String, String, Bytes)>) -> Result<Self, Denial> {
        let Some(fields) = body.as_object() else {
            return Err(Denial::new(400, 50109, "The request body contains invalid JSON."));
        };
        let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let flags = field("flags").and_then(Value::as_u64).unwrap_or_default();
        let components = field("components").map(|list| components(list, flags)).transpose()?;
        let reply_to = field("message_reference").and_then(|of| snowflake(&of["message_id"]));
        if files.len() > MOST_FILES {
            return Err(Denial::form(
                "attachments",
                "BASE_TYPE_BAD_LENGTH",
                "Must be between 0 and 10 in length.",
            ));
        }
        if files.iter().any(|(_, _, bytes)| bytes.len() > LARGEST_FILE) {
            return Err(Denial::new(413, 40005, "Request entity too large"));
        }
        Ok(Self {
            content: field("content").map(content).transpose()?,
            components,
            flags,
            nonce: field("nonce").map(nonce).transpose()?,
            enforce_nonce: field("enforce_nonce").is_some_and(|it| *it == true),
            reply_to,
            files,
            allowed_mentions: field("allowed_mentions").cloned(),
            replaces_files: field("attachments").is_some(),
        })
    }

    /// Refuses a message that says nothing.
    pub(crate) fn not_empty(self) -> Result<Self, Denial> {
        let said = self.content.as_ref().is_some_and(|text| !text.trim().is_empty());
        let shown = self.components.as_ref().is_some_and(|list| !list.is_empty());
        if said || shown || !self.files.is_empty() {
            return Ok(self);
        }
        Err(Denial::new(400, 50006, "Cannot send an empty message"))
    }

    /// Whom its words ring: what they name, as far as the sender wants it and may.
    pub(crate) fn pings(&self, chat: &Chat, author: u64, channel: u64) -> Pings {
        let text = self.content.as_deref().unwrap_or_default();
        let mut named = pings(chat, text, author, channel);
        let answered = self.reply_to.and_then(|earlier| chat.message(channel, earlier)).map(|it| it.author);
        let heeded = self.allowed_mentions.as_ref().filter(|_| chat.flaw != Some(Flaw::MentionsRing));
        let Some(allowed) = heeded else {
            named.users.extend(answered.filter(|answered| !named.users.contains(answered)));
            return named;
        };
        let parse =
            |kind: &str| allowed["parse"].as_array().is_some_and(|all| all.iter().any(|it| it == kind));
        let listed = |kind: &str, id: u64| {
            allowed[kind].as_array().is_some_and(|all| all.iter().any(|it| snowflake(it) == Some(id)))
        };
        let kept = |kind: &str, ids: Vec<u64>| -> Vec<u64> {
            ids.into_iter().filter(|id| parse(kind) || listed(kind, *id)).collect()
        };
        let mut users = kept("users", named.users);
        let rung = answered.filter(|answered| allowed["replied_user"] == true && !users.contains(answered));
        users.extend(rung);
        Pings { users, roles: kept("roles", named.roles), everyone: named.everyone && parse("everyone") }
    }

    /// The files with ids of their own.
    pub(crate) fn uploads(&mut self, chat: &mut Chat) -> Vec<Upload> {
        let files = std::mem::take(&mut self.files).into_iter();
        files.map(|(name, kind, bytes)| Upload { id: chat.next_id(), name, kind, bytes }).collect()
    }

    /// Changes a message into what the form says.
    pub(crate) fn apply(&mut self, message: &mut ChatMessage, pings: Pings, uploads: Vec<Upload>) {
        if let Some(content) = self.content.take() {
            message.content = content;
            message.pings = pings;
        }
        if let Some(components) = self.components.take() {
            message.components = components;
        }
        if self.replaces_files {
            message.files.clear();
        }
        message.files.extend(uploads);
    }
}

/// What a text names, and who of it its author may ring.
pub(crate) fn pings(chat: &Chat, text: &str, author: u64, channel: u64) -> Pings {
    let names = |sign: &str, id: u64| text.contains(&format!("<{sign}{id}>"));
    let users = chat.accounts.iter().map(|account| account.id);
    let users = users.filter(|id| names("@", *id) || names("@!", *id)).collect();
    let guild = chat.channel(channel).and_then(|place| chat.guild(place.guild));
    let roles = guild.map_or(&[][..], |guild| &guild.roles).iter().map(|role| role.id);
    let may_ring_all = chat.permissions(author, channel) & MENTION_EVERYONE != 0;
    let everyone = (text.contains("@everyone") || text.contains("@here")) && may_ring_all;
    Pings { users, roles: roles.filter(|id| names("@&", *id)).collect(), everyone }
}

/// Reads an id, which JSON has as a text.
pub(crate) fn snowflake(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}

fn content(value: &Value) -> Result<String, Denial> {
    let Some(text) = value.as_str() else {
        return Err(Denial::form("content", "BASE_TYPE_BAD_TYPE", "Not a well formed string."));
    };
    if text.chars().count() > LONGEST_TEXT {
        return Err(Denial::too_long("content", LONGEST_TEXT));
    }
    Ok(text.to_owned())
}

fn nonce(value: &Value) -> Result<Value, Denial> {
    let length = value.as_str().map_or_else(|| value.to_string().len(), |text| text.chars().count());
    match value {
        Value::String(_) | Value::Number(_) if length <= LONGEST_NONCE => Ok(value.clone()),
        Value::String(_) | Value::Number(_) => Err(Denial::too_long("nonce", LONGEST_NONCE)),
        _ => Err(Denial::form("nonce", "NONCE_TYPE_INVALID", "Must be either a string or an integer.")),
    }
}

fn components(value: &Value, flags: u64) -> Result<Vec<Value>, Denial> {
    let Some(list) = value.as_array() else {
        return Err(Denial::form(
            "components",
            "LIST_TYPE_CONVERT",
            "Only iterables may be used in a ListType",
        ));
    };
    let new_kind = flags & COMPONENTS_V2 != 0;
    if !new_kind && list.len() > MOST_ROWS {
        return Err(Denial::too_long("components", MOST_ROWS));
    }
    let all: Vec<_> = list.iter().flat_map(walk).collect();
    if all.len() > MOST_COMPONENTS {
        return Err(Denial::too_long("components", MOST_COMPONENTS));
    }
    let mut ids = Vec::new();
    for component in all {
        let kind = component["type"].as_u64().unwrap_or_default();
        one(component, kind, new_kind)?;
        if let Some(id) = component["custom_id"].as_str() {
            if ids.contains(&id) {
                let message = "Component custom id cannot be duplicated";
                return Err(Denial::form("components.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", message));
            }
            ids.push(id);
        }
    }
    Ok(list.clone())
}

/// A component with all those inside it.
fn walk(component: &Value) -> Vec<&Value> {
    let inside = component["components"].as_array().into_iter().flatten().chain(component.get("accessory"));
    std::iter::once(component).chain(inside.flat_map(walk)).collect()
}

fn has_a_value_twice(menu: &Value) -> bool {
    let values: Vec<_> = menu["options"].as_array().into_iter().flatten().map(|it| &it["value"]).collect();
    (1..values.len()).any(|at| values[..at].contains(&values[at]))
}

fn one(component: &Value, kind: u64, new_kind: bool) -> Result<(), Denial> {
    let length = |name: &str| component[name].as_str().map_or(0, |text| text.chars().count());
    if length("custom_id") > LONGEST_ID {
        return Err(Denial::too_long("components.custom_id", LONGEST_ID));
    }
    if length("label") > LONGEST_LABEL && kind == 2 {
        return Err(Denial::too_long("components.label", LONGEST_LABEL));
    }
    let options = component["options"].as_array().map_or(0, Vec::len);
    match kind {
        1 if component["components"]
            .as_array()
            .is_none_or(|row| row.is_empty() || row.len() > MOST_IN_ROW) =>
        {
            let message = "Must be between 1 and 5 in length.";
            Err(Denial::form("components.components", "BASE_TYPE_BAD_LENGTH", message))
        }
        2 if component["style"] != 5 && length("custom_id") == 0 => Err(Denial::form(
            "components.custom_id",
            "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED",
            "A custom id required",
        )),
        3 if options == 0 || options > MOST_OPTIONS => {
            let message = "Must be between 1 and 25 in length.";
            Err(Denial::form("components.options", "BASE_TYPE_BAD_LENGTH", message))
        }
        3 if has_a_value_twice(component) => {
            let message = "The specified option value is already used";
            Err(Denial::form("components.options.value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", message))
        }
        1..=8 => Ok(()),
        9..=17 if new_kind => Ok(()),
        _ => Err(Denial::form(
            "components.type",
            "UNION_TYPE_CHOICES",
            "Value of field \"type\" must be one of (1,).",
        )),
    }
}
