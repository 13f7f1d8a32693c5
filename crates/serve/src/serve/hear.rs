//! What is heard becomes rows of the store, one event after the other.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use fro_core::chat::{
    AuditAction, ChannelId, Follow, GuildId, Membership, MessageId, MessagePlace, Posted, QuoteReason,
    RoleId, SaidFile, Situation, WithoutWords, edited, posted,
};
use fro_discord::{ChannelKind, Gateway, Heard, Message, MessageKind, Session};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::{sync::watch, time};
use tracing::{error, info, warn};

use super::{
    catch_up, command,
    daemon::{Daemon, entry},
};
use crate::{
    store::{gateway::Shard, intake::Intake},
    watch::{Line, LineEvent},
};

/// How often Discord is asked for something that a decision needs, before it is made without.
const TRIES: u32 = 3;

/// How long Discord takes to tell a new session of its guilds, at the most.
const SETTLES: Duration = Duration::from_mins(1);

/// How far the gateway was heard, as it is kept between two processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SavedPosition {
    session: Option<Session>,
    /// Everything that was said until then has been heard.
    heard_at: Timestamp,
}

/// Why a connection was given up.
enum ConnectionEnd {
    /// We take our leave.
    Leaving,
    /// Another process has the gateway now.
    Taken,
}

/// Hears until we leave, whenever the gateway is ours.
pub(super) async fn until(daemon: &Arc<Daemon>, mut leaving: watch::Receiver<bool>) {
    loop {
        let (shard, kept) = tokio::select! {
            taken = take(daemon) => taken,
            () = asked_to(&mut leaving) => return,
        };
        daemon.insist("take up the outbox", || daemon.store.take_up_outbox()).await;
        let mut ear = Connection::open(daemon, shard, kept);
        match ear.listen(&mut leaving).await {
            ConnectionEnd::Leaving => return ear.leave().await,
            ConnectionEnd::Taken => warn!("another process speaks to the gateway now; waiting for it to end"),
        }
    }
}

/// Ends when we are to leave.
async fn asked_to(leave: &mut watch::Receiver<bool>) {
    // What is read is let go at once: it may not be held while something else is waited for.
    drop(leave.wait_for(|leave| *leave).await);
}

/// Waits until the gateway is ours.
async fn take(daemon: &Daemon) -> (Shard, Option<SavedPosition>) {
    let settings = &daemon.settings;
    let mut standing_by = false;
    loop {
        let taken = daemon
            .insist("take the gateway", || {
                daemon.store.take_shard(0, &settings.name, Timestamp::now(), settings.pace.lease)
            })
            .await;
        if let Some(taken) = taken {
            return taken;
        }
        settings.watch.line_is(Line::StandingBy);
        if !std::mem::replace(&mut standing_by, true) {
            warn!("another process speaks to Discord for this database; standing by until it ends");
        }
        time::sleep(settings.pace.look).await;
    }
}

/// One connection to the gateway.
struct Connection<'a> {
    daemon: &'a Arc<Daemon>,
    gateway: Gateway,
    shard: Shard,
    /// Everything that was said until then has been heard, if anything was.
    heard_at: Option<Timestamp>,
    /// What a new session has to catch up with.
    missed_since: Option<Timestamp>,
    /// Until then a new session is still told of its guilds, and what was missed there may not have been read.
    settles_at: Option<Timestamp>,
    connected: bool,
}

impl<'a> Connection<'a> {
    fn open(daemon: &'a Arc<Daemon>, shard: Shard, kept: Option<SavedPosition>) -> Self {
        // Whoever is stopped before the first session begins has promised to hear from this moment on all the same.
        let heard_at = Some(kept.as_ref().map_or_else(Timestamp::now, |kept| kept.heard_at));
        let gateway = Gateway::open(&daemon.settings.discord, kept.and_then(|kept| kept.session));
        Self { daemon, gateway, shard, heard_at, missed_since: None, settles_at: None, connected: false }
    }

    async fn listen(&mut self, leaving: &mut watch::Receiver<bool>) -> ConnectionEnd {
        let mut signs = time::interval(self.daemon.settings.pace.lease / 3);
        loop {
            tokio::select! {
                heard = self.gateway.next() => self.hear(heard).await,
                _ = signs.tick() => {}
                () = asked_to(leaving) => return ConnectionEnd::Leaving,
            }
            if !self.keep(self.daemon.settings.pace.lease).await {
                return ConnectionEnd::Taken;
            }
        }
    }

    /// Leaves so that the next process goes on where this one stopped, at once.
    async fn leave(mut self) {
        self.connected = false;
        self.keep(Duration::ZERO).await;
        self.gateway.close().await;
    }

    /// Writes down how far we heard. Returns whether the gateway is still ours.
    async fn keep(&mut self, lease: Duration) -> bool {
        let now = Timestamp::now();
        if self.connected && self.settles_at.is_none_or(|settles| settles < now) {
            self.heard_at = Some(now);
        }
        let Some(heard_at) = self.heard_at else { return true };
        let kept = SavedPosition { session: self.gateway.session().cloned(), heard_at };
        let until = now.saturating_add(lease).unwrap_or(Timestamp::MAX);
        let daemon = self.daemon;
        daemon.insist("keep the gateway", || daemon.store.keep_shard(self.shard, Some(&kept), until)).await
    }

    fn line_is(&self, line: Line, event: LineEvent) {
        let watch = &self.daemon.settings.watch;
        watch.line_is(line);
        watch.counts.line(event);
    }

    async fn hear(&mut self, heard: Heard) {
        let (daemon, places) = (self.daemon, &self.daemon.places);
        match heard {
            Heard::Ready { .. } => {
                self.line_is(Line::Connected, LineEvent::Began);
                let now = Timestamp::now();
                (self.connected, self.missed_since) = (true, self.heard_at);
                self.heard_at = self.heard_at.or(Some(now));
                self.settles_at = now.saturating_add(SETTLES).ok();
                info!("a new session with Discord has begun");
            }
            Heard::Resumed => {
                self.line_is(Line::Connected, LineEvent::Resumed);
                self.connected = true;
            }
            Heard::Lost { why } => {
                self.line_is(Line::Resuming, LineEvent::Lost);
                self.connected = false;
                info!("the connection to Discord broke ({why}); connecting again");
            }
            Heard::Refused(fatal) => {
                self.line_is(Line::Refused, LineEvent::Refused);
                self.connected = false;
                let fault = fatal.fault();
                error!("{}: {}", fault.what(), fault.hint());
            }
            Heard::Guild(guild) => {
                places.put_guild(&guild);
                if let Some(since) = self.missed_since {
                    catch_up::with(daemon, &guild, since).await;
                }
            }
            Heard::GuildGone(id) => places.forget_guild(id),
            Heard::Role(guild, role) => places.put_role(guild, &role),
            Heard::RoleGone(..) => {}
            Heard::Channel(channel) => places.put_channel(channel),
            Heard::ChannelGone(id) => gone(daemon, id).await,
            Heard::Message(message) => said(daemon, message).await,
            Heard::Edited(message) => changed(daemon, &message).await,
            Heard::Deleted { message, .. } => {
                daemon.insist("take back words", || daemon.store.withdraw(message)).await;
            }
            Heard::Interaction(asked) => {
                tokio::spawn(command::answer(Arc::clone(daemon), asked));
            }
        }
    }
}

/// Writes down what follows from a message.
pub(super) async fn said(daemon: &Daemon, message: Message) {
    let automatic = message.author.bot || message.webhook || message.kind == MessageKind::System;
    let Some(guild) = message.guild.filter(|_| !automatic) else { return };
    let place = place_of(daemon, message.channel, guild).await;
    let own_role = daemon.places.own_role(guild).await;
    let by_role = own_role.is_some_and(|role| message.content.contains(&format!("<@&{role}>")));
    if matches!(place, MessagePlace::Elsewhere) && !message.mentions.contains(&daemon.me) && !by_role {
        return;
    }
    let roles = daemon.insist("read who may what", || daemon.store.policy(guild)).await.roles;
    let situation = Situation { me: daemon.me, own_role, place, roles, now: Timestamp::now() };
    let message = heard(daemon, message, guild).await;
    let follows = posted(&message, &situation);
    take_in(daemon, message.id, &follows).await;
}

async fn take_in(daemon: &Daemon, id: MessageId, follows: &[Follow]) {
    if follows.is_empty() {
        return;
    }
    let now = Timestamp::now();
    let taken = daemon.insist("write down what was said", || daemon.store.take_in(id, follows, now)).await;
    if taken == Intake::New {
        daemon.outbox.notify_one();
    }
}

/// Reads a message for the decision. Whose roles nobody can tell is nobody's friend.
async fn heard(daemon: &Daemon, message: Message, guild: GuildId) -> Posted {
    let (author, channel) = (message.author.id, message.channel);
    let mut roles = message.roles.map(Some);
    let mut membership = None;
    for _ in 0..TRIES {
        if roles.is_none() {
            roles = daemon.places.roles(guild, author).await.ok();
        }
        membership = membership.or(daemon.places.membership(guild, author).await.ok());
    }
    let roles: Option<BTreeSet<RoleId>> = roles.flatten().map(|roles| roles.into_iter().collect());
    let membership = membership.filter(|_| roles.is_some()).unwrap_or(Membership::Outsider);
    let file = |it: fro_discord::Attachment| SaidFile { name: it.name, url: it.url, size: it.size };
    Posted {
        id: message.id,
        channel,
        guild,
        author,
        name: message.author.name,
        membership,
        roles: roles.unwrap_or_default(),
        text: message.content,
        rings_us: message.mentions.contains(&daemon.me),
        quoted: message.quoted,
        seen_by: daemon.places.audience(channel).await,
        files: message.attachments.into_iter().map(file).collect(),
    }
}

/// Finds out where something was said.
async fn place_of(daemon: &Daemon, channel: ChannelId, guild: GuildId) -> MessagePlace {
    let link_of = |channel| async move {
        let link = daemon.insist("read a link", || daemon.store.link_of(channel)).await;
        link.filter(|link| link.guild == guild)
    };
    let thread = daemon.insist("read a thread", || daemon.store.thread(channel)).await;
    if let Some(thread) = thread.filter(|thread| thread.guild == guild) {
        let link = link_of(thread.channel).await;
        let ahead = daemon.insist("count what waits", || daemon.store.ahead(channel)).await;
        return MessagePlace::Thread { thread, link, ahead };
    }
    if let Some(link) = link_of(channel).await {
        return MessagePlace::Linked(link);
    }
    let place = daemon.places.channel(channel).await.ok().flatten();
    let begun = place.filter(|it| matches!(it.kind, ChannelKind::Thread | ChannelKind::PrivateThread));
    match begun.and_then(|place| place.parent) {
        Some(parent) => {
            link_of(parent).await.map_or(MessagePlace::Elsewhere, |link| MessagePlace::Theirs { link })
        }
        None => MessagePlace::Elsewhere,
    }
}

async fn changed(daemon: &Daemon, message: &Message) {
    if message.author.bot || message.webhook {
        return;
    }
    let own_role = match message.guild {
        Some(guild) => daemon.places.own_role(guild).await,
        None => None,
    };
    let passes_on = message.quoted.as_ref().is_some_and(|it| it.reason == QuoteReason::PassedOn);
    let rest = if message.attachments.is_empty() && !passes_on {
        WithoutWords::Nothing
    } else {
        WithoutWords::Something
    };
    match edited(message.id, &message.content, rest, (daemon.me, own_role)) {
        Follow::Reword { source, text } => {
            daemon.insist("change words", || daemon.store.reword(source, &text)).await;
        }
        Follow::Withdraw(source) => {
            daemon.insist("take back words", || daemon.store.withdraw(source)).await;
        }
        Follow::OpenThread(_) | Follow::Queue(_) | Follow::Do { .. } | Follow::Record(_) => {}
    }
}

/// A channel or thread is no more: nothing is worked on for nobody to read, and a link leads nowhere.
async fn gone(daemon: &Daemon, id: ChannelId) {
    daemon.places.forget_channel(id);
    daemon.insist("clear a thread", || daemon.store.clear(id)).await;
    let Some(link) = daemon.insist("read a link", || daemon.store.link_of(id)).await else { return };
    for thread in daemon.insist("look what waits", || daemon.store.unfinished_in(id)).await {
        daemon.insist("clear a thread", || daemon.store.clear(thread)).await;
    }
    let entry = entry(link.guild, (None, &[]), AuditAction::Unlink, id.to_string());
    daemon.insist("unlink a channel", || daemon.store.unlink(id, entry.clone())).await;
}
