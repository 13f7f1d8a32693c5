//! What there is on the simulated Discord, as plain data.

use axum::body::Bytes;
use jiff::Timestamp;
use serde_json::Value;

/// Somebody: a person or a bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The id.
    pub id: u64,
    /// The name, unique here.
    pub name: String,
    /// Whether it is a program.
    pub bot: bool,
}

/// A server with its people and roles.
#[derive(Debug, Clone)]
pub struct Guild {
    /// The id, which is also that of the role everybody has.
    pub id: u64,
    /// The name.
    pub name: String,
    /// Who may do everything.
    pub owner: u64,
    /// The roles, that of everybody included.
    pub roles: Vec<GuildRole>,
    /// Who is in it.
    pub members: Vec<Member>,
}

/// A role of a guild.
#[derive(Debug, Clone)]
pub struct GuildRole {
    /// The id.
    pub id: u64,
    /// The name.
    pub name: String,
    /// The permission bits.
    pub permissions: u64,
    /// The bot that it was made for when that came.
    pub bot: Option<u64>,
}

/// Somebody in a guild.
#[derive(Debug, Clone)]
pub struct Member {
    /// Whose membership it is.
    pub user: u64,
    /// The roles, without that of everybody.
    pub roles: Vec<u64>,
}

/// A channel or a thread.
#[derive(Debug, Clone)]
pub struct Channel {
    /// The id.
    pub id: u64,
    /// Its guild.
    pub guild: u64,
    /// The name.
    pub name: String,
    /// Who may do more or less here than elsewhere in the guild.
    pub overwrites: Vec<Overwrite>,
    /// What makes it a thread.
    pub thread: Option<ThreadState>,
    /// When its name was changed.
    pub renamed_at: Vec<Timestamp>,
}

/// What a thread has that a channel has not.
#[derive(Debug, Clone)]
pub struct ThreadState {
    /// The channel it is in.
    pub parent: u64,
    /// Who began it.
    pub owner: u64,
    /// Whether only those whom it names may see it.
    pub private: bool,
    /// Whether it is put away.
    pub archived: bool,
    /// Whether only moderators may take it out again.
    pub locked: bool,
    /// When it was put away or taken out last.
    pub moved_at: Timestamp,
    /// Who is in it.
    pub members: Vec<u64>,
}

/// An exception for a role or a member in one channel.
#[derive(Debug, Clone, Copy)]
pub struct Overwrite {
    /// The role's or the member's id.
    pub id: u64,
    /// Whether it is for a member.
    pub member: bool,
    /// The bits that are given.
    pub allow: u64,
    /// The bits that are taken.
    pub deny: u64,
}

/// A message.
#[derive(Debug, Clone)]
pub struct ChatMessage {
    /// The id.
    pub id: u64,
    /// The channel or thread it is in.
    pub channel: u64,
    /// Who wrote it.
    pub author: u64,
    /// The text.
    pub content: String,
    /// What its sender told it apart by; answers to the sender and events tell it, later reads do not.
    pub nonce: Option<Value>,
    /// Buttons, menus and the like.
    pub components: Vec<Value>,
    /// The files with it.
    pub files: Vec<Upload>,
    /// Who is rung by it.
    pub pings: Pings,
    /// The message it answers.
    pub reply_to: Option<u64>,
    /// When it was changed last.
    pub edited_at: Option<Timestamp>,
    /// The flag bits.
    pub flags: u64,
    /// The kind: 0 and 19 are said by somebody, the others tell what happened.
    pub kind: u8,
    /// The interaction that it answers.
    pub interaction: Option<u64>,
    /// Whether a webhook wrote it.
    pub webhook: bool,
}

/// Whom a message rings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pings {
    /// People, by id.
    pub users: Vec<u64>,
    /// Roles, by id.
    pub roles: Vec<u64>,
    /// Everybody.
    pub everyone: bool,
}

/// A file that came with a message.
#[derive(Debug, Clone)]
pub struct Upload {
    /// The id.
    pub id: u64,
    /// The file's name.
    pub name: String,
    /// Its media type.
    pub kind: String,
    /// What is in it.
    pub bytes: Bytes,
}

/// A command, a click or a form that somebody asked the bot with.
#[derive(Debug, Clone)]
pub struct Interaction {
    /// The id.
    pub id: u64,
    /// What its answers are sent with.
    pub token: String,
    /// 2 command, 3 component, 4 completion, 5 form.
    pub kind: u8,
    /// Where it was asked.
    pub channel: u64,
    /// Who asked.
    pub user: u64,
    /// What exactly.
    pub data: Value,
    /// The message whose button or menu it was.
    pub message: Option<u64>,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// What it was answered with first.
    pub answered: Option<Answered>,
}

/// The first answer to an interaction.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// A message, or the promise of one; its id.
    Message(u64),
    /// The message with the button stays, or was changed.
    Update,
    /// What was typed may go on like this.
    Choices(Value),
    /// A form to fill in.
    Form(Value),
}

/// The bot as its developer set it up.
#[derive(Debug, Clone)]
pub struct Application {
    /// The id, also of the bot's account.
    pub id: u64,
    /// What the bot proves itself with.
    pub token: String,
    /// The privileged intents that are switched on.
    pub privileged: u64,
    /// Its commands, as registered.
    pub commands: Vec<Value>,
}

impl ChatMessage {
    /// Tells whether only one person sees it.
    pub fn ephemeral(&self) -> bool {
        self.flags & 64 != 0
    }
}
