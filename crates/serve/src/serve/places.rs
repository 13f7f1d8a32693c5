//! Owners, roles and channels of guilds: learnt from events, and asked for after a resumed session, which repeats none.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use fro_core::{
    chat::{ChannelId, GuildId, Membership, RoleId, UserId},
    remembered::Audience,
};
use fro_discord::{Channel, ChannelKind, Discord, Error, Guild, Role};

/// The permission to see a channel.
const VIEW_CHANNEL: u64 = 1 << 10;

/// Guilds and channels.
pub(super) struct Places {
    discord: Discord,
    /// Our own account.
    me: UserId,
    known: Mutex<KnownPlaces>,
}

#[derive(Default)]
struct KnownPlaces {
    guilds: HashMap<GuildId, GuildFacts>,
    channels: HashMap<ChannelId, Channel>,
}

/// What decisions need of a guild.
#[derive(Debug, Clone, Copy)]
struct GuildFacts {
    owner: UserId,
    /// Whether the role of everybody may see channels.
    open: bool,
    /// The role that the guild made for us.
    own_role: Option<RoleId>,
}

impl Places {
    pub(super) fn new(discord: Discord, me: UserId) -> Self {
        Self { discord, me, known: Mutex::default() }
    }

    pub(super) fn put_guild(&self, guild: &Guild) {
        let mut known = self.known();
        known.guilds.insert(guild.id, GuildFacts::from_guild(guild, self.me));
        known.channels.extend(guild.channels.iter().map(|channel| (channel.id, channel.clone())));
    }

    pub(super) fn put_channel(&self, channel: Channel) {
        self.known().channels.insert(channel.id, channel);
    }

    /// Takes note of a role that changed; only that of everybody and our own matter here.
    pub(super) fn put_role(&self, guild: GuildId, role: &Role) {
        let mut known = self.known();
        let Some(facts) = known.guilds.get_mut(&guild) else { return };
        if role.id.number() == guild.number() {
            facts.open = role.permissions & VIEW_CHANNEL != 0;
        }
        if role.bot == Some(self.me) {
            facts.own_role = Some(role.id);
        }
    }

    /// Returns the role that a guild made for us, if it did and that is known.
    pub(super) async fn own_role(&self, guild: GuildId) -> Option<RoleId> {
        self.guild(guild).await.ok()??.own_role
    }

    pub(super) fn forget_channel(&self, id: ChannelId) {
        self.known().channels.remove(&id);
    }

    pub(super) fn forget_guild(&self, id: GuildId) {
        let mut known = self.known();
        known.guilds.remove(&id);
        known.channels.retain(|_, channel| channel.guild != Some(id));
    }

    /// Returns what a channel or thread is, if it is there and we may see it.
    pub(super) async fn channel(&self, id: ChannelId) -> Result<Option<Channel>, Error> {
        let known = self.known().channels.get(&id).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let asked = match self.discord.channel(id).await {
            Err(error) if error.forbidden() => None,
            asked => asked?,
        };
        if let Some(channel) = &asked {
            self.put_channel(channel.clone());
        }
        Ok(asked)
    }

    /// Returns what somebody with these roles is in a guild.
    pub(super) async fn membership(&self, guild: GuildId, person: UserId) -> Result<Membership, Error> {
        let facts = self.guild(guild).await?;
        Ok(match facts {
            Some(facts) if facts.owner == person => Membership::Owner,
            Some(_) => Membership::Member,
            None => Membership::Outsider,
        })
    }

    /// Returns who can read a channel, if that can be told: what is not known is for insiders.
    pub(super) async fn audience(&self, id: ChannelId) -> Option<Audience> {
        let place = self.channel(id).await.ok()??;
        let parent = match place.parent {
            Some(parent) if matches!(place.kind, ChannelKind::Thread) => {
                self.channel(parent).await.ok()??
            }
            _ => place.clone(),
        };
        let open = self.guild(place.guild.or(parent.guild)?).await.ok()??.open;
        let hidden = !open || place.hidden || parent.hidden || place.kind == ChannelKind::PrivateThread;
        Some(if hidden { Audience::Insiders } else { Audience::Everyone })
    }

    /// Returns somebody's roles at this moment.
    pub(super) async fn roles(&self, guild: GuildId, person: UserId) -> Result<Option<Vec<RoleId>>, Error> {
        self.discord.member(guild, person).await
    }

    async fn guild(&self, id: GuildId) -> Result<Option<GuildFacts>, Error> {
        let known = self.known().guilds.get(&id).copied();
        if known.is_some() {
            return Ok(known);
        }
        let asked = match self.discord.guild(id).await {
            Err(error) if error.forbidden() => None,
            asked => asked?.map(|guild| GuildFacts::from_guild(&guild, self.me)),
        };
        if let Some(facts) = asked {
            self.known().guilds.insert(id, facts);
        }
        Ok(asked)
    }

    fn known(&self) -> MutexGuard<'_, KnownPlaces> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GuildFacts {
    fn from_guild(guild: &Guild, me: UserId) -> Self {
        // The role of everybody has the guild's own number.
        let everybody = guild.roles.iter().find(|role| role.id.number() == guild.id.number());
        let open = everybody.is_some_and(|role| role.permissions & VIEW_CHANNEL != 0);
        let own_role = guild.roles.iter().find(|role| role.bot == Some(me)).map(|role| role.id);
        Self { owner: guild.owner, open, own_role }
    }
}
