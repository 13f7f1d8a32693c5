//! What the gateway tells: each event with the intent that it takes, and what a session without the right to read sees.

use serde_json::{Value, json};

use super::chat::Chat;

pub(crate) const GUILDS: u64 = 1;
pub(crate) const GUILD_MEMBERS: u64 = 1 << 1;
pub(crate) const GUILD_PRESENCES: u64 = 1 << 8;
pub(crate) const GUILD_MESSAGES: u64 = 1 << 9;
pub(crate) const GUILD_TYPING: u64 = 1 << 11;
pub(crate) const MESSAGE_CONTENT: u64 = 1 << 15;

/// The intents that a developer has to switch on.
pub(crate) const PRIVILEGED: u64 = GUILD_MEMBERS | GUILD_PRESENCES | MESSAGE_CONTENT;

/// Something that happened, as it is told.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) heard: Heard,
    /// Whether the bot could see the place when it happened; what is gone afterwards cannot be looked at.
    pub(crate) seen: bool,
    pub(crate) data: Value,
}

/// The events that are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    ChannelCreate,
    ChannelUpdate,
    ChannelDelete,
    GuildDelete,
    GuildRoleCreate,
    GuildRoleUpdate,
    GuildRoleDelete,
    InteractionCreate,
    MessageCreate,
    MessageUpdate,
    MessageDelete,
    ThreadCreate,
    ThreadUpdate,
    ThreadDelete,
    TypingStart,
}

impl Heard {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ChannelCreate => "CHANNEL_CREATE",
            Self::ChannelUpdate => "CHANNEL_UPDATE",
            Self::ChannelDelete => "CHANNEL_DELETE",
            Self::GuildDelete => "GUILD_DELETE",
            Self::GuildRoleCreate => "GUILD_ROLE_CREATE",
            Self::GuildRoleUpdate => "GUILD_ROLE_UPDATE",
            Self::GuildRoleDelete => "GUILD_ROLE_DELETE",
            Self::InteractionCreate => "INTERACTION_CREATE",
            Self::MessageCreate => "MESSAGE_CREATE",
            Self::MessageUpdate => "MESSAGE_UPDATE",
            Self::MessageDelete => "MESSAGE_DELETE",
            Self::ThreadCreate => "THREAD_CREATE",
            Self::ThreadUpdate => "THREAD_UPDATE",
            Self::ThreadDelete => "THREAD_DELETE",
            Self::TypingStart => "TYPING_START",
        }
    }

    fn intent(self) -> u64 {
        match self {
            Self::InteractionCreate => 0,
            Self::MessageCreate | Self::MessageUpdate | Self::MessageDelete => GUILD_MESSAGES,
            Self::TypingStart => GUILD_TYPING,
            Self::ChannelCreate
            | Self::ChannelUpdate
            | Self::ChannelDelete
            | Self::GuildDelete
            | Self::GuildRoleCreate
            | Self::GuildRoleUpdate
            | Self::GuildRoleDelete
            | Self::ThreadCreate
            | Self::ThreadUpdate
            | Self::ThreadDelete => GUILDS,
        }
    }
}

impl Event {
    /// What a session of the bot with these intents hears of it, if anything.
    pub(crate) fn payload_for(&self, chat: &Chat, intents: u64) -> Option<Value> {
        let wanted = self.heard.intent();
        if intents & wanted != wanted || !self.seen || ephemeral(&self.data) {
            return None;
        }
        let mut data = self.data.clone();
        let is_message = matches!(self.heard, Heard::MessageCreate | Heard::MessageUpdate);
        if is_message && intents & MESSAGE_CONTENT == 0 {
            blank(chat, &mut data);
        }
        Some(data)
    }
}

/// Takes away what somebody without the right to read does not see of a message.
///
/// What the bot said itself and what names it can always be read.
pub(crate) fn blank(chat: &Chat, message: &mut Value) {
    let own = json!(chat.application.id.to_string());
    let names_us = message["mentions"].as_array().is_some_and(|all| all.iter().any(|user| user["id"] == own));
    if message["author"]["id"] == own || names_us {
        return;
    }
    message["content"] = json!("");
    for part in ["attachments", "embeds", "components"] {
        message[part] = json!([]);
    }
}

/// What one person alone sees does not come by the gateway.
fn ephemeral(data: &Value) -> bool {
    data.get("channel_id").is_some() && data["flags"].as_u64().is_some_and(|flags| flags & 64 != 0)
}
