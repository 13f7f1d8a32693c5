//! Discord's JSON, read into our own types: only the fields that somebody needs.
//!
//! twilight has types for all of it, and one field that Discord leaves out or adds a case to would cost the whole
//! event. What cannot be read here is one event less, and is logged.

use std::collections::BTreeMap;

use fro_core::{
    Secret,
    chat::{ChannelId, GuildId, MessageId, QuoteReason, QuotedMessage, RoleId, UserId},
};
use serde::Deserialize;
use serde_json::Value;

use crate::heard::{
    Attachment, Channel, ChannelKind, Guild, Interaction, InteractionId, InteractionKind, Message,
    MessageKind, OptionValue, Person, Role,
};

const VIEW_CHANNEL: u64 = 1 << 10;

#[derive(Deserialize)]
pub(crate) struct RawGuild {
    id: GuildId,
    name: String,
    owner_id: UserId,
    roles: Vec<RawRole>,
    #[serde(default)]
    channels: Vec<RawChannel>,
    #[serde(default)]
    threads: Vec<RawChannel>,
}

#[derive(Deserialize)]
pub(crate) struct RawRole {
    id: RoleId,
    name: String,
    permissions: String,
    #[serde(default)]
    tags: RawTags,
}

#[derive(Deserialize, Default)]
struct RawTags {
    bot_id: Option<UserId>,
}

#[derive(Deserialize)]
pub(crate) struct RawChannel {
    pub(crate) id: ChannelId,
    guild_id: Option<GuildId>,
    parent_id: Option<ChannelId>,
    name: Option<String>,
    #[serde(rename = "type")]
    kind: u64,
    permission_overwrites: Option<Vec<RawOverwrite>>,
    thread_metadata: Option<RawThread>,
    last_message_id: Option<MessageId>,
}

#[derive(Deserialize)]
struct RawOverwrite {
    id: String,
    deny: String,
}

#[derive(Deserialize)]
struct RawThread {
    archived: bool,
    #[serde(default)]
    locked: bool,
}

#[derive(Deserialize)]
pub(crate) struct RawMessage {
    pub(crate) id: MessageId,
    channel_id: ChannelId,
    guild_id: Option<GuildId>,
    author: RawUser,
    member: Option<RawMember>,
    webhook_id: Option<String>,
    #[serde(rename = "type")]
    kind: u64,
    content: String,
    #[serde(default)]
    mentions: Vec<RawUser>,
    referenced_message: Option<RawQuoted>,
    #[serde(default)]
    message_snapshots: Vec<RawSnapshot>,
    #[serde(default)]
    attachments: Vec<RawAttachment>,
}

/// The message that another answers.
#[derive(Deserialize)]
struct RawQuoted {
    author: Option<RawUser>,
    #[serde(default)]
    content: String,
}

/// A message as it was when somebody passed it on; its author is not told.
#[derive(Deserialize)]
struct RawSnapshot {
    message: RawPassedOn,
}

#[derive(Deserialize)]
struct RawPassedOn {
    #[serde(default)]
    content: String,
    #[serde(default)]
    attachments: Vec<RawAttachment>,
}

#[derive(Deserialize)]
pub(crate) struct RawUser {
    pub(crate) id: UserId,
    username: String,
    global_name: Option<String>,
    #[serde(default)]
    bot: bool,
}

#[derive(Deserialize)]
pub(crate) struct RawMember {
    pub(crate) roles: Vec<RoleId>,
    nick: Option<String>,
    permissions: Option<String>,
    user: Option<RawUser>,
}

#[derive(Deserialize)]
struct RawAttachment {
    filename: String,
    url: String,
    size: u64,
    content_type: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct RawInteraction {
    id: String,
    application_id: UserId,
    token: String,
    #[serde(rename = "type")]
    kind: u64,
    guild_id: Option<GuildId>,
    channel_id: ChannelId,
    member: Option<RawMember>,
    user: Option<RawUser>,
    message: Option<RawMessageId>,
    #[serde(default)]
    data: RawData,
}

#[derive(Deserialize)]
struct RawMessageId {
    id: MessageId,
}

#[derive(Deserialize, Default)]
struct RawData {
    name: Option<String>,
    #[serde(default)]
    options: Vec<RawOption>,
    custom_id: Option<String>,
    component_type: Option<u64>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    components: Vec<Value>,
}

#[derive(Deserialize)]
struct RawOption {
    name: String,
    #[serde(rename = "type")]
    kind: u64,
    value: Option<Value>,
    #[serde(default)]
    focused: bool,
}

impl RawRole {
    pub(crate) fn into_role(self) -> Role {
        Role { id: self.id, name: self.name, permissions: bits(&self.permissions), bot: self.tags.bot_id }
    }
}

impl RawGuild {
    pub(crate) fn into_guild(self) -> Guild {
        let guild = self.id;
        let roles: Vec<_> = self.roles.into_iter().map(RawRole::into_role).collect();
        // The channels of a guild's own event do not say which guild they are of.
        let of_guild = |channel: RawChannel| RawChannel { guild_id: Some(guild), ..channel }.into_channel();
        let channels = self.channels.into_iter().chain(self.threads).map(of_guild).collect();
        Guild { id: guild, name: self.name, owner: self.owner_id, roles, channels }
    }
}

impl RawChannel {
    pub(crate) fn into_channel(self) -> Channel {
        let kind = match self.kind {
            0 | 5 => ChannelKind::Text,
            10 | 11 => ChannelKind::Thread,
            12 => ChannelKind::PrivateThread,
            _ => ChannelKind::Other,
        };
        // The role of everybody has the guild's own number.
        let everybody = self.guild_id.map(|guild| guild.to_string());
        let hides = |over: &RawOverwrite| {
            Some(&over.id) == everybody.as_ref() && bits(&over.deny) & VIEW_CHANNEL != 0
        };
        Channel {
            id: self.id,
            guild: self.guild_id,
            parent: self.parent_id,
            name: self.name.unwrap_or_default(),
            kind,
            hidden: self.permission_overwrites.unwrap_or_default().iter().any(hides),
            archived: self.thread_metadata.as_ref().is_some_and(|thread| thread.archived),
            locked: self.thread_metadata.as_ref().is_some_and(|thread| thread.locked),
            last_message: self.last_message_id,
        }
    }
}

impl RawMessage {
    pub(crate) fn into_message(self) -> Message {
        let (roles, nick) = self.member.map_or((None, None), |member| (Some(member.roles), member.nick));
        let mut attachments = self.attachments;
        let passed_on = self.message_snapshots.into_iter().next().map(|snapshot| snapshot.message);
        let passed_on = passed_on.map(|message| {
            attachments.extend(message.attachments);
            QuotedMessage { reason: QuoteReason::PassedOn, name: String::new(), text: message.content }
        });
        Message {
            id: self.id,
            channel: self.channel_id,
            guild: self.guild_id,
            author: self.author.into_person(nick),
            roles,
            webhook: self.webhook_id.is_some(),
            kind: if matches!(self.kind, 0 | 19 | 20 | 23) { MessageKind::Said } else { MessageKind::System },
            content: self.content,
            mentions: self.mentions.iter().map(|user| user.id).collect(),
            quoted: passed_on.or_else(|| self.referenced_message.map(RawQuoted::into_quoted)),
            attachments: attachments.into_iter().map(RawAttachment::into_attachment).collect(),
            sent_at: self.id.made_at(),
        }
    }
}

impl RawQuoted {
    fn into_quoted(self) -> QuotedMessage {
        let name = self.author.map(|author| author.into_person(None).name).unwrap_or_default();
        QuotedMessage { reason: QuoteReason::Answered, name, text: self.content }
    }
}

impl RawAttachment {
    fn into_attachment(self) -> Attachment {
        Attachment { name: self.filename, url: self.url, size: self.size, kind: self.content_type }
    }
}

impl RawUser {
    fn into_person(self, nick: Option<String>) -> Person {
        Person { id: self.id, name: nick.or(self.global_name).unwrap_or(self.username), bot: self.bot }
    }
}

impl RawInteraction {
    /// What was asked, if it is of a kind that we know.
    pub(crate) fn into_interaction(self) -> Option<Interaction> {
        let message = self.message.map(|message| message.id);
        let what = self.data.into_asked(self.kind, message)?;
        let (roles, permissions, asker) = match self.member {
            Some(member) => {
                let permissions = member.permissions.as_deref().map_or(0, bits);
                (member.roles, permissions, member.user?.into_person(member.nick))
            }
            None => (Vec::new(), 0, self.user?.into_person(None)),
        };
        Some(Interaction {
            id: InteractionId(self.id.parse().ok()?),
            token: Secret::new(self.token),
            application: self.application_id,
            guild: self.guild_id,
            channel: self.channel_id,
            asker,
            roles,
            permissions,
            what,
        })
    }
}

impl RawData {
    fn into_asked(self, kind: u64, message: Option<MessageId>) -> Option<InteractionKind> {
        let chosen = self.values;
        Some(match (kind, self.component_type) {
            (2, _) => {
                let options = self.options.into_iter().filter_map(RawOption::into_given).collect();
                InteractionKind::Command { name: self.name?, options }
            }
            (4, _) => {
                let typed = self.options.into_iter().find(|option| option.focused)?;
                let text = typed
                    .value
                    .map_or_else(String::new, |it| it.as_str().map_or(it.to_string(), str::to_owned));
                InteractionKind::Complete { name: self.name?, option: typed.name, typed: text }
            }
            (3, Some(2)) => InteractionKind::Button { custom_id: self.custom_id?, message: message? },
            (3, _) => InteractionKind::Menu { custom_id: self.custom_id?, chosen, message: message? },
            (5, _) => InteractionKind::Form { custom_id: self.custom_id?, fields: fields(&self.components) },
            _ => return None,
        })
    }
}

impl RawOption {
    fn into_given(self) -> Option<(String, OptionValue)> {
        let value = self.value?;
        let text = value.as_str().map(str::to_owned);
        let given = match self.kind {
            4 => OptionValue::Number(value.as_i64()?),
            5 => OptionValue::Flag(value.as_bool()?),
            6 => OptionValue::User(text?.parse().ok()?),
            7 => OptionValue::Channel(text?.parse().ok()?),
            8 => OptionValue::Role(text?.parse().ok()?),
            _ => OptionValue::Text(text?),
        };
        Some((self.name, given))
    }
}

/// The fields of a form, in rows or below labels.
fn fields(components: &[Value]) -> BTreeMap<String, String> {
    let inside = |part: &Value| -> Vec<Value> {
        let row = part["components"].as_array().cloned().unwrap_or_default();
        row.into_iter().chain(part.get("component").cloned()).collect()
    };
    let parts = components.iter().flat_map(inside);
    let field =
        |part: Value| Some((part["custom_id"].as_str()?.to_owned(), part["value"].as_str()?.to_owned()));
    parts.filter_map(field).collect()
}

/// Permission bits, which Discord writes as a text.
fn bits(text: &str) -> u64 {
    text.parse().unwrap_or_default()
}
