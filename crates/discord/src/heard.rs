//! The events of Discord that the daemon acts on, in types of our own.

use std::collections::BTreeMap;

use fro_core::{
    Secret,
    chat::{ChannelId, GuildId, MessageId, QuotedMessage, RoleId, UserId},
};
use jiff::Timestamp;

use crate::error::Fatal;

/// Something that was heard.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// A new session has begun; what happened before is not told and has to be looked up.
    Ready {
        /// Our own account.
        me: UserId,
    },
    /// A session was taken up again, and everything missed has been told.
    Resumed,
    /// A guild that we are in, whole.
    Guild(Guild),
    /// We are in this guild no more.
    GuildGone(GuildId),
    /// A role was made or changed.
    Role(GuildId, Role),
    /// A role is no more.
    RoleGone(GuildId, RoleId),
    /// A channel or thread was made or changed.
    Channel(Channel),
    /// A channel or thread is no more.
    ChannelGone(ChannelId),
    /// Somebody said something; it may be ourselves.
    Message(Message),
    /// A message was changed.
    Edited(Message),
    /// A message is no more.
    Deleted {
        /// Where it was.
        channel: ChannelId,
        /// Which one.
        message: MessageId,
    },
    /// Somebody gave a command, clicked or filled in a form, and waits three seconds for an answer.
    Interaction(Interaction),
    /// The connection is gone and is being mended.
    Lost {
        /// What is known of the reason.
        why: String,
    },
    /// Discord will not have us like this. It is tried again, slowly; a person has to change something.
    Refused(Fatal),
}

/// A guild as it is when a session begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Guild {
    /// Its id.
    pub id: GuildId,
    /// Its name.
    pub name: String,
    /// Who owns it.
    pub owner: UserId,
    /// Its roles, that of everybody included.
    pub roles: Vec<Role>,
    /// Its channels and active threads that we may see.
    pub channels: Vec<Channel>,
}

/// A role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Its id.
    pub id: RoleId,
    /// Its name, which anybody may give to another role: nothing to decide by.
    pub name: String,
    /// Its permission bits.
    pub permissions: u64,
    /// The program that it was made for, and that alone has it.
    pub bot: Option<UserId>,
}

/// A channel or a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Its id.
    pub id: ChannelId,
    /// Its guild.
    pub guild: Option<GuildId>,
    /// The channel that a thread is in.
    pub parent: Option<ChannelId>,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ChannelKind,
    /// Whether the role of everybody is kept from seeing it; a thread is as its parent besides.
    pub hidden: bool,
    /// Whether the channel is an archived thread.
    pub archived: bool,
    /// Whether only moderators may take it out again.
    pub locked: bool,
    /// The last message there; it may be gone by now.
    pub last_message: Option<MessageId>,
}

/// What a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    /// A channel in which people write.
    Text,
    /// A thread that everybody sees who sees the channel.
    Thread,
    /// A thread for those whom it names.
    PrivateThread,
    /// Something else: voice, a forum, a category.
    Other,
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// The channel or thread it is in.
    pub channel: ChannelId,
    /// The guild; events tell it, reads do not.
    pub guild: Option<GuildId>,
    /// Who wrote it.
    pub author: Person,
    /// The author's roles; nothing is known of them if they are left out.
    pub roles: Option<Vec<RoleId>>,
    /// Whether a webhook wrote it, under whatever name.
    pub webhook: bool,
    /// Said, or told by Discord itself.
    pub kind: MessageKind,
    /// The words; empty if we may not read them.
    pub content: String,
    /// Whom it names.
    pub mentions: Vec<UserId>,
    /// The message it answers or passes on, as far as it was told.
    pub quoted: Option<QuotedMessage>,
    /// The files with it.
    pub attachments: Vec<Attachment>,
    /// When it was written.
    pub sent_at: Timestamp,
}

/// Whether somebody said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// Somebody did.
    Said,
    /// Discord tells what happened: somebody joined, a thread was made.
    System,
}

/// Somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Their id.
    pub id: UserId,
    /// What they are called; their own choice.
    pub name: String,
    /// Whether it is a program.
    pub bot: bool,
}

/// A file that came with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its name; whoever sent it chose that.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// How many bytes it has, as Discord says.
    pub size: u64,
    /// Its media type, as Discord says.
    pub kind: Option<String>,
}

/// The id of an interaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InteractionId(pub u64);

/// A command, a click or a form, with what answers are sent with.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// Its id.
    pub id: InteractionId,
    /// What answers are sent with, for fifteen minutes.
    pub token: Secret,
    /// The application it is for, which is ours.
    pub application: UserId,
    /// The guild it was asked in.
    pub guild: Option<GuildId>,
    /// Where it was asked.
    pub channel: ChannelId,
    /// Who asked.
    pub asker: Person,
    /// The asker's roles.
    pub roles: Vec<RoleId>,
    /// The asker's permission bits in this channel.
    pub permissions: u64,
    /// What was asked.
    pub what: InteractionKind,
}

/// What an interaction asks.
#[derive(Debug, Clone, PartialEq)]
pub enum InteractionKind {
    /// A command.
    Command {
        /// Its name.
        name: String,
        /// Its options that were given.
        options: BTreeMap<String, OptionValue>,
    },
    /// How an option that is being typed may go on.
    Complete {
        /// The command's name.
        name: String,
        /// The option's name.
        option: String,
        /// What was typed so far.
        typed: String,
    },
    /// A click on a button.
    Button {
        /// What we called it.
        custom_id: String,
        /// The message it is on.
        message: MessageId,
    },
    /// A choice in a menu.
    Menu {
        /// What we called it.
        custom_id: String,
        /// The values that were chosen.
        chosen: Vec<String>,
        /// The message it is on.
        message: MessageId,
    },
    /// A form that was filled in.
    Form {
        /// What we called it.
        custom_id: String,
        /// Its fields.
        fields: BTreeMap<String, String>,
    },
}

/// The value of a command's option.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionValue {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// `true` or `false`.
    Flag(bool),
    /// Somebody.
    User(UserId),
    /// A channel.
    Channel(ChannelId),
    /// A role.
    Role(RoleId),
}
