//! What every part of the Discord-facing process works with.

use std::{future::Future, time::Duration};

use fro_core::{
    Clean,
    chat::{AuditAction, AuditEntry, GuildId, LONGEST, RoleId, Ruling, UserId, length, say::fitting},
};
use fro_discord::{Discord, Post};
use jiff::Timestamp;
use tokio::{sync::Notify, time};
use tracing::warn;

use super::{ServeSettings, places::Places, prompts::Prompts};
use crate::store::{Error, Store};

/// The longest pause before the database is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The process that speaks to Discord: its settings, its store, and what is known of places.
pub(super) struct Daemon {
    pub(super) settings: ServeSettings,
    pub(super) store: Store,
    pub(super) discord: Discord,
    /// Our own account.
    pub(super) me: UserId,
    pub(super) places: Places,
    pub(super) prompts: Prompts,
    /// Rung when something was put into the outbox; looking at it now and then is the truth.
    pub(super) outbox: Notify,
}

impl Daemon {
    pub(super) fn new(settings: ServeSettings, store: Store, discord: Discord, me: UserId) -> Self {
        let places = Places::new(discord.clone(), me);
        Self { settings, store, discord, me, places, prompts: Prompts::default(), outbox: Notify::new() }
    }

    pub(super) fn clean(&self, text: &str) -> Clean {
        self.settings.redactor.clean(text)
    }

    /// Makes a message of a text. What takes a secret out can make it longer than Discord takes.
    pub(super) fn post(&self, text: &str) -> Post {
        let clean = self.clean(text);
        Post::new(if length(clean.as_str()) <= LONGEST {
            clean
        } else {
            self.clean(&fitting(clean.as_str()))
        })
    }

    /// Does something with the store until it worked: what was heard may not be lost because a database restarts.
    pub(super) async fn insist<T, F>(&self, what: &str, mut deed: impl FnMut() -> F) -> T
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut pause = self.settings.pace.again;
        loop {
            match deed().await {
                Ok(done) => return done,
                Err(error) => warn!("cannot {what}: {}; trying again", error.fault().what()),
            }
            time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Begins an entry of the audit, granted for now.
pub(super) fn entry(
    guild: GuildId,
    (actor, roles): (Option<UserId>, &[RoleId]),
    action: AuditAction,
    target: impl Into<String>,
) -> AuditEntry {
    AuditEntry {
        at: Timestamp::now(),
        guild,
        actor,
        roles: roles.to_vec(),
        action,
        target: target.into(),
        before: None,
        after: None,
        ruling: Ruling::Granted,
    }
}
