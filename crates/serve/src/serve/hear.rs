//! What is heard becomes rows of the store, one event after the other.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use fro_core::chat::{
    AuditAction, ChannelId, Follow, GuildId, Membership, MessageId, Posted, RoleId, Room, SaidFile,
    Situation, edited, posted,
};
use fro_discord::{ChannelKind, Gateway, Heard, Message, MessageKind, Session};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::{sync::watch, time};
use tracing::{error, info, warn};

use super::{
    catch_up, command,
    desk::{Desk, entry},
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
struct Kept {
    session: Option<Session>,
    /// Everything that was said until then has been heard.
    heard_at: Timestamp,
}

/// Why a connection was given up.
enum Ended {
    /// We take our leave.
    Leaving,
    /// Another process has the gateway now.
    Taken,
}

/// Hears until we leave, whenever the gateway is ours.
pub(super) async fn until(desk: &Arc<Desk>, mut leaving: watch::Receiver<bool>) {
    loop {
        let (shard, kept) = tokio::select! {
            taken = take(desk) => taken,
            () = asked_to(&mut leaving) => return,
        };
        desk.insist("take up the outbox", || desk.store.take_up_outbox()).await;
        let mut ear = Ear::open(desk, shard, kept);
        match ear.listen(&mut leaving).await {
            Ended::Leaving => return ear.leave().await,
            Ended::Taken => warn!("another process speaks to the gateway now; waiting for it to end"),
        }
    }
}

/// Ends when we are to leave.
async fn asked_to(leave: &mut watch::Receiver<bool>) {
    // What is read is let go at once: it may not be held while something else is waited for.
    drop(leave.wait_for(|leave| *leave).await);
}

/// Waits until the gateway is ours.
async fn take(desk: &Desk) -> (Shard, Option<Kept>) {
    let settings = &desk.settings;
    let mut standing_by = false;
    loop {
        let taken = desk
            .insist("take the gateway", || {
                desk.store.take_shard(0, &settings.name, Timestamp::now(), settings.pace.lease)
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
struct Ear<'a> {
    desk: &'a Arc<Desk>,
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

impl<'a> Ear<'a> {
    fn open(desk: &'a Arc<Desk>, shard: Shard, kept: Option<Kept>) -> Self {
        // Whoever is stopped before the first session begins has promised to hear from this moment on all the same.
        let heard_at = Some(kept.as_ref().map_or_else(Timestamp::now, |kept| kept.heard_at));
        let gateway = Gateway::open(&desk.settings.discord, kept.and_then(|kept| kept.session));
        Self { desk, gateway, shard, heard_at, missed_since: None, settles_at: None, connected: false }
    }

    async fn listen(&mut self, leaving: &mut watch::Receiver<bool>) -> Ended {
        let mut signs = time::interval(self.desk.settings.pace.lease / 3);
        loop {
            tokio::select! {
                heard = self.gateway.next() => self.hear(heard).await,
                _ = signs.tick() => {}
                () = asked_to(leaving) => return Ended::Leaving,
            }
            if !self.keep(self.desk.settings.pace.lease).await {
                return Ended::Taken;
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
        let kept = Kept { session: self.gateway.session().cloned(), heard_at };
        let until = now.saturating_add(lease).unwrap_or(Timestamp::MAX);
        let desk = self.desk;
        desk.insist("keep the gateway", || desk.store.keep_shard(self.shard, Some(&kept), until)).await
    }

    fn line_is(&self, line: Line, event: LineEvent) {
        let watch = &self.desk.settings.watch;
        watch.line_is(line);
        watch.counts.line(event);
    }

    async fn hear(&mut self, heard: Heard) {
        let (desk, places) = (self.desk, &self.desk.places);
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
                info!("the connection to Discord is gone ({why}); it is being mended");
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
                    catch_up::with(desk, &guild, since).await;
                }
            }
            Heard::GuildGone(id) => places.forget_guild(id),
            Heard::Role(guild, role) => places.put_role(guild, &role),
            Heard::RoleGone(..) => {}
            Heard::Channel(channel) => places.put_channel(channel),
            Heard::ChannelGone(id) => gone(desk, id).await,
            Heard::Message(message) => said(desk, message).await,
            Heard::Edited(message) => changed(desk, &message).await,
            Heard::Deleted { message, .. } => {
                desk.insist("take back words", || desk.store.withdraw(message)).await;
            }
            Heard::Interaction(asked) => {
                tokio::spawn(command::answer(Arc::clone(desk), asked));
            }
        }
    }
}

/// Writes down what follows from a message.
pub(super) async fn said(desk: &Desk, message: Message) {
    let automatic = message.author.bot || message.webhook || message.kind == MessageKind::System;
    let Some(guild) = message.guild.filter(|_| !automatic) else { return };
    let room = room(desk, message.channel, guild).await;
    if matches!(room, Room::Elsewhere) && !message.mentions.contains(&desk.me) {
        return;
    }
    let roles = desk.insist("read who may what", || desk.store.policy(guild)).await.roles;
    let situation = Situation { me: desk.me, room, roles, now: Timestamp::now() };
    let message = heard(desk, message, guild).await;
    let follows = posted(&message, &situation);
    take_in(desk, message.id, &follows).await;
}

async fn take_in(desk: &Desk, id: MessageId, follows: &[Follow]) {
    if follows.is_empty() {
        return;
    }
    let now = Timestamp::now();
    let taken = desk.insist("write down what was said", || desk.store.take_in(id, follows, now)).await;
    if taken == Intake::New {
        desk.outbox.notify_one();
    }
}

/// Reads a message for the decision. Whose roles nobody can tell is nobody's friend.
async fn heard(desk: &Desk, message: Message, guild: GuildId) -> Posted {
    let (author, channel) = (message.author.id, message.channel);
    let mut roles = message.roles.map(Some);
    let mut membership = None;
    for _ in 0..TRIES {
        if roles.is_none() {
            roles = desk.places.roles(guild, author).await.ok();
        }
        membership = membership.or(desk.places.membership(guild, author).await.ok());
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
        seen_by: desk.places.audience(channel).await,
        files: message.attachments.into_iter().map(file).collect(),
    }
}

/// Finds out where something was said.
async fn room(desk: &Desk, channel: ChannelId, guild: GuildId) -> Room {
    let link_of = |channel| async move {
        let link = desk.insist("read a link", || desk.store.link_of(channel)).await;
        link.filter(|link| link.guild == guild)
    };
    let thread = desk.insist("read a thread", || desk.store.thread(channel)).await;
    if let Some(thread) = thread.filter(|thread| thread.guild == guild) {
        let link = link_of(thread.channel).await;
        let ahead = desk.insist("count what waits", || desk.store.ahead(channel)).await;
        return Room::Thread { thread, link, ahead };
    }
    if let Some(link) = link_of(channel).await {
        return Room::Linked(link);
    }
    let place = desk.places.channel(channel).await.ok().flatten();
    let begun = place.filter(|it| matches!(it.kind, ChannelKind::Thread | ChannelKind::PrivateThread));
    match begun.and_then(|place| place.parent) {
        Some(parent) => link_of(parent).await.map_or(Room::Elsewhere, |link| Room::Theirs { link }),
        None => Room::Elsewhere,
    }
}

async fn changed(desk: &Desk, message: &Message) {
    if message.author.bot || message.webhook {
        return;
    }
    match edited(message.id, &message.content, desk.me) {
        Follow::Reword { source, text } => {
            desk.insist("change words", || desk.store.reword(source, &text)).await;
        }
        Follow::Withdraw(source) => {
            desk.insist("take back words", || desk.store.withdraw(source)).await;
        }
        Follow::OpenThread(_) | Follow::Queue(_) | Follow::Do { .. } | Follow::Record(_) => {}
    }
}

/// A channel or thread is no more: nothing is worked on for nobody to read, and a link leads nowhere.
async fn gone(desk: &Desk, id: ChannelId) {
    desk.places.forget_channel(id);
    desk.insist("clear a thread", || desk.store.clear(id)).await;
    let Some(link) = desk.insist("read a link", || desk.store.link_of(id)).await else { return };
    for thread in desk.insist("look what waits", || desk.store.unfinished_in(id)).await {
        desk.insist("clear a thread", || desk.store.clear(thread)).await;
    }
    let entry = entry(link.guild, (None, &[]), AuditAction::Unlink, id.to_string());
    desk.insist("unlink a channel", || desk.store.unlink(id, entry.clone())).await;
}
