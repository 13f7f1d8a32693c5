//! Things as Discord writes them in JSON.

use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use super::{
    chat::Chat,
    permission,
    things::{Account, Channel, ChatMessage, Guild, GuildRole, Interaction, Member, Upload},
};

/// Whether a message tells its nonce: to its sender and in the event, never when it is read later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nonce {
    Told,
    Untold,
}

/// A time: with an offset in digits, since `Z` is not what Discord writes.
pub(crate) fn time(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string()
}

pub(crate) fn user(account: &Account) -> Value {
    json!({
        "id": account.id.to_string(),
        "username": account.name,
        "global_name": if account.bot { Value::Null } else { json!(capitalised(&account.name)) },
        "discriminator": if account.bot { "4242" } else { "0" },
        "avatar": null,
        "bot": account.bot,
        "public_flags": 0,
        "flags": 0,
    })
}

pub(crate) fn member(member: &Member) -> Value {
    let roles: Vec<_> = member.roles.iter().map(u64::to_string).collect();
    json!({
        "roles": roles,
        "nick": null,
        "avatar": null,
        "banner": null,
        "joined_at": "2026-01-02T03:04:05.000000+00:00",
        "premium_since": null,
        "communication_disabled_until": null,
        "deaf": false,
        "mute": false,
        "pending": false,
        "flags": 0,
    })
}

/// A member together with who it is.
pub(crate) fn whole_member(chat: &Chat, of: &Member) -> Value {
    let mut whole = member(of);
    whole["user"] = chat.account(of.user).map_or(Value::Null, user);
    whole
}

pub(crate) fn role(role: &GuildRole) -> Value {
    let mut shape = json!({
        "id": role.id.to_string(),
        "name": role.name,
        "permissions": role.permissions.to_string(),
        "position": 0,
        "color": 0,
        "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null },
        "hoist": false,
        "icon": null,
        "unicode_emoji": null,
        "managed": role.bot.is_some(),
        "mentionable": false,
        "flags": 0,
    });
    if let Some(bot) = role.bot {
        shape["tags"] = json!({ "bot_id": bot.to_string() });
    }
    shape
}

pub(crate) fn channel(chat: &Chat, channel: &Channel) -> Value {
    let last = chat.messages_in(channel.id).next_back().map(|message| message.id.to_string());
    let mut shape = json!({
        "id": channel.id.to_string(),
        "guild_id": channel.guild.to_string(),
        "name": channel.name,
        "type": 0,
        "parent_id": null,
        "last_message_id": last,
        "rate_limit_per_user": 0,
        "flags": 0,
    });
    let Some(thread) = &channel.thread else {
        shape["position"] = json!(0);
        shape["topic"] = Value::Null;
        shape["nsfw"] = json!(false);
        shape["permission_overwrites"] = channel
            .overwrites
            .iter()
            .map(|over| {
                json!({
                    "id": over.id.to_string(),
                    "type": u8::from(over.member),
                    "allow": over.allow.to_string(),
                    "deny": over.deny.to_string(),
                })
            })
            .collect();
        return shape;
    };
    shape["type"] = json!(if thread.private { 12 } else { 11 });
    shape["parent_id"] = json!(thread.parent.to_string());
    shape["owner_id"] = json!(thread.owner.to_string());
    shape["member_count"] = json!(thread.members.len().min(50));
    shape["message_count"] = json!(chat.messages_in(channel.id).count());
    shape["total_message_sent"] = shape["message_count"].clone();
    shape["thread_metadata"] = json!({
        "archived": thread.archived,
        "locked": thread.locked,
        "auto_archive_duration": 1440,
        "archive_timestamp": time(thread.moved_at),
        "create_timestamp": time(made_at(channel.id)),
    });
    if thread.private {
        shape["thread_metadata"]["invitable"] = json!(false);
    }
    shape
}

/// What is left to say of a thread that is gone.
pub(crate) fn thread_stub(channel: &Channel) -> Value {
    let parent = channel.thread.as_ref().map(|thread| thread.parent.to_string());
    let kind = channel.thread.as_ref().map_or(0, |thread| if thread.private { 12 } else { 11 });
    json!({
        "id": channel.id.to_string(),
        "guild_id": channel.guild.to_string(),
        "parent_id": parent,
        "type": kind,
    })
}

/// A guild as a session hears of it when it begins: whole, but for its other members.
pub(crate) fn whole_guild(chat: &Chat, of: &Guild, bot: u64) -> Value {
    let mut shape = guild(of);
    let seen = |channel: &&Channel| {
        channel.guild == of.id && chat.permissions(bot, channel.id) & permission::VIEW_CHANNEL != 0
    };
    let open = |channel: &Channel| channel.thread.as_ref().is_none_or(|thread| !thread.archived);
    let (threads, channels): (Vec<_>, Vec<_>) =
        chat.channels.iter().filter(seen).filter(|channel| open(channel)).partition(|it| it.thread.is_some());
    let shapes = |of: Vec<&Channel>| -> Value { of.into_iter().map(|it| channel(chat, it)).collect() };
    shape["channels"] = shapes(channels);
    shape["threads"] = shapes(threads);
    let own = of.members.iter().filter(|member| member.user == bot);
    shape["members"] = own.map(|member| whole_member(chat, member)).collect();
    shape["member_count"] = json!(of.members.len());
    shape["joined_at"] = json!("2026-01-02T03:04:05.000000+00:00");
    shape["large"] = json!(false);
    shape["unavailable"] = json!(false);
    for empty in
        ["voice_states", "presences", "stage_instances", "guild_scheduled_events", "soundboard_sounds"]
    {
        shape[empty] = json!([]);
    }
    shape
}

pub(crate) fn guild(guild: &Guild) -> Value {
    json!({
        "id": guild.id.to_string(),
        "name": guild.name,
        "owner_id": guild.owner.to_string(),
        "roles": guild.roles.iter().map(role).collect::<Value>(),
        "icon": null,
        "splash": null,
        "discovery_splash": null,
        "banner": null,
        "description": null,
        "afk_channel_id": null,
        "afk_timeout": 300,
        "application_id": null,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "verification_level": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "emojis": [],
        "stickers": [],
        "features": [],
        "preferred_locale": "en-US",
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "premium_progress_bar_enabled": false,
        "public_updates_channel_id": null,
        "rules_channel_id": null,
        "safety_alerts_channel_id": null,
        "system_channel_flags": 0,
        "system_channel_id": null,
        "vanity_url_code": null,
        "max_members": 500_000,
        "max_presences": null,
        "max_video_channel_users": 25,
        "max_stage_video_channel_users": 50,
    })
}

pub(crate) fn message(chat: &Chat, message: &ChatMessage, nonce: Nonce) -> Value {
    let place = chat.channel(message.channel);
    let guild = place.map_or(0, |place| place.guild);
    let author = chat.account(message.author).map_or(Value::Null, user);
    let named = message.pings.users.iter().filter_map(|id| chat.account(*id));
    let mut shape = json!({
        "id": message.id.to_string(),
        "channel_id": message.channel.to_string(),
        "type": message.kind,
        "author": author,
        "content": message.content,
        "timestamp": time(made_at(message.id)),
        "edited_timestamp": message.edited_at.map(time),
        "tts": false,
        "pinned": false,
        "flags": message.flags,
        "mention_everyone": message.pings.everyone,
        "mentions": named.map(user).collect::<Value>(),
        "mention_roles": message.pings.roles.iter().map(u64::to_string).collect::<Vec<_>>(),
        "attachments": message.files.iter().map(|file| attachment(chat, message.channel, file)).collect::<Value>(),
        "embeds": [],
        "components": message.components,
    });
    if nonce == Nonce::Told {
        shape["guild_id"] = json!(guild.to_string());
        shape["nonce"] = message.nonce.clone().unwrap_or(Value::Null);
        if message.nonce.is_none() {
            drop(shape.as_object_mut().and_then(|shape| shape.remove("nonce")));
        }
    }
    if let (Some(of), false) = (chat.member(guild, message.author), message.webhook) {
        shape["member"] = member(of);
    }
    if message.webhook {
        shape["webhook_id"] = json!(message.author.to_string());
    }
    relate(chat, message, guild, &mut shape);
    if let Some(thread) = chat.channel(message.id) {
        shape["thread"] = channel(chat, thread);
    }
    shape
}

/// Tells which interaction or message this one answers.
fn relate(chat: &Chat, message: &ChatMessage, guild: u64, shape: &mut Value) {
    if let Some(asked) = message.interaction.and_then(|id| chat.interactions.iter().find(|it| it.id == id)) {
        shape["application_id"] = json!(chat.application.id.to_string());
        shape["webhook_id"] = json!(chat.application.id.to_string());
        shape["interaction_metadata"] = json!({
            "id": asked.id.to_string(),
            "type": asked.kind,
            "user": chat.account(asked.user).map(user),
            "authorizing_integration_owners": { "0": guild.to_string() },
        });
    }
    if let Some(earlier) = message.reply_to {
        shape["message_reference"] = json!({
            "type": 0,
            "message_id": earlier.to_string(),
            "channel_id": message.channel.to_string(),
            "guild_id": guild.to_string(),
        });
        let earlier = chat.message(message.channel, earlier);
        shape["referenced_message"] =
            earlier.map_or(Value::Null, |earlier| self::message(chat, &shallow(earlier), Nonce::Untold));
    }
}

/// A quoted message does not quote another.
fn shallow(message: &ChatMessage) -> ChatMessage {
    ChatMessage { reply_to: None, ..message.clone() }
}

fn attachment(chat: &Chat, channel: u64, file: &Upload) -> Value {
    let url = format!("{}/attachments/{channel}/{}/{}", chat.address, file.id, file.name);
    json!({
        "id": file.id.to_string(),
        "filename": file.name,
        "size": file.bytes.len(),
        "content_type": file.kind,
        "url": url,
        "proxy_url": url,
    })
}

pub(crate) fn interaction(chat: &Chat, asked: &Interaction) -> Value {
    let place = chat.channel(asked.channel);
    let guild = place.and_then(|place| chat.guild(place.guild));
    let mut shape = json!({
        "id": asked.id.to_string(),
        "application_id": chat.application.id.to_string(),
        "type": asked.kind,
        "token": asked.token,
        "version": 1,
        "data": asked.data,
        "channel": place.map(|place| channel(chat, place)),
        "channel_id": asked.channel.to_string(),
        "app_permissions": chat.permissions(chat.application.id, asked.channel).to_string(),
        "locale": "en-US",
        "guild_locale": "en-US",
        "context": 0,
        "entitlements": [],
        "attachment_size_limit": 10 << 20,
    });
    if let Some(guild) = guild {
        shape["guild_id"] = json!(guild.id.to_string());
        shape["guild"] = json!({ "id": guild.id.to_string(), "locale": "en-US", "features": [] });
        shape["authorizing_integration_owners"] = json!({ "0": guild.id.to_string() });
        if let Some(of) = chat.member(guild.id, asked.user) {
            shape["member"] = whole_member(chat, of);
            shape["member"]["permissions"] = json!(chat.permissions(asked.user, asked.channel).to_string());
        }
    }
    if let Some(on) = asked.message.and_then(|id| chat.message(asked.channel, id)) {
        shape["message"] = message(chat, on, Nonce::Untold);
    }
    shape
}

/// When something was made, as its id tells.
pub(crate) fn made_at(id: u64) -> Timestamp {
    let milliseconds = i64::try_from((id >> 22) + 1_420_070_400_000).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::MAX)
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
