//! Permission bits, and who has which where.

use super::{
    chat::Chat,
    things::{Channel, Guild, Overwrite},
};

pub(crate) const ADMINISTRATOR: u64 = 1 << 3;
pub(crate) const MANAGE_CHANNELS: u64 = 1 << 4;
pub(crate) const VIEW_CHANNEL: u64 = 1 << 10;
pub(crate) const SEND_MESSAGES: u64 = 1 << 11;
pub(crate) const MANAGE_MESSAGES: u64 = 1 << 13;
pub(crate) const ATTACH_FILES: u64 = 1 << 15;
pub(crate) const READ_MESSAGE_HISTORY: u64 = 1 << 16;
pub(crate) const MENTION_EVERYONE: u64 = 1 << 17;
pub(crate) const MANAGE_THREADS: u64 = 1 << 34;
pub(crate) const CREATE_PUBLIC_THREADS: u64 = 1 << 35;
pub(crate) const CREATE_PRIVATE_THREADS: u64 = 1 << 36;
pub(crate) const SEND_MESSAGES_IN_THREADS: u64 = 1 << 38;

/// What everybody may do in a new guild, as far as anything here asks.
pub(crate) const USUAL: u64 = VIEW_CHANNEL
    | SEND_MESSAGES
    | ATTACH_FILES
    | READ_MESSAGE_HISTORY
    | CREATE_PUBLIC_THREADS
    | CREATE_PRIVATE_THREADS
    | SEND_MESSAGES_IN_THREADS;

const EVERYTHING: u64 = (1 << 52) - 1;

impl Chat {
    /// What somebody may do in a channel, or in the channel of a thread; nothing if they are not in the guild.
    pub fn permissions(&self, user: u64, channel: u64) -> u64 {
        let Some(place) = self.channel(channel) else { return 0 };
        let Some(guild) = self.guild(place.guild) else { return 0 };
        let stage = place.thread.as_ref().and_then(|thread| self.channel(thread.parent)).unwrap_or(place);
        let allowed = in_channel(guild, stage, user);
        match &place.thread {
            Some(thread)
                if thread.private && !thread.members.contains(&user) && allowed & MANAGE_THREADS == 0 =>
            {
                0
            }
            _ => allowed,
        }
    }
}

/// What somebody may do in a guild, before the exceptions of its channels.
pub(crate) fn in_guild(guild: &Guild, user: u64) -> u64 {
    let Some(member) = guild.members.iter().find(|member| member.user == user) else { return 0 };
    let held = |role: u64| role == guild.id || member.roles.contains(&role);
    let base = guild.roles.iter().filter(|role| held(role.id)).fold(0, |bits, role| bits | role.permissions);
    if guild.owner == user || base & ADMINISTRATOR != 0 { EVERYTHING } else { base }
}

fn in_channel(guild: &Guild, channel: &Channel, user: u64) -> u64 {
    let base = in_guild(guild, user);
    if base & ADMINISTRATOR != 0 {
        return EVERYTHING;
    }
    let Some(member) = guild.members.iter().find(|member| member.user == user) else { return 0 };
    let everybody = |over: &Overwrite| !over.member && over.id == guild.id;
    let of_roles = |over: &Overwrite| !over.member && member.roles.contains(&over.id);
    let own = |over: &Overwrite| over.member && over.id == user;
    // All roles at once: what one of them is given, another cannot take.
    let bits = apply(base, channel, everybody);
    let bits = apply(bits, channel, of_roles);
    let bits = apply(bits, channel, own);
    // Who cannot see a channel can do nothing in it.
    if bits & VIEW_CHANNEL == 0 { 0 } else { bits }
}

fn apply(bits: u64, channel: &Channel, fits: impl Fn(&Overwrite) -> bool) -> u64 {
    let (allow, deny) = channel
        .overwrites
        .iter()
        .filter(|over| fits(over))
        .fold((0, 0), |(allow, deny), over| (allow | over.allow, deny | over.deny));
    (bits & !deny) | allow
}
