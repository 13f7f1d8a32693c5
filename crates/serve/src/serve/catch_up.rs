//! What was said while nobody heard: a new session is told nothing of it, so it is read.

use fro_core::chat::{ChannelId, MessageId};
use fro_discord::{Channel, Guild, Message};
use jiff::{SignedDuration, Timestamp};
use tokio::time;
use tracing::{info, warn};

use super::{daemon::Daemon, hear};

/// A connection can be dead for so long before anybody notices; what was heard twice is dealt with once.
const SLACK: SignedDuration = SignedDuration::from_mins(3);
/// So much of a channel is read at the most.
const MOST: usize = 1_000;

/// Hears what was missed in the linked channels and threads of a guild, oldest first in each of them.
pub(super) async fn with(daemon: &Daemon, guild: &Guild, since: Timestamp) {
    let Some(after) = MessageId::before(since - SLACK) else { return };
    let news = |channel: &&Channel| channel.last_message.is_some_and(|last| last > after);
    for channel in guild.channels.iter().filter(news) {
        if !ours(daemon, channel).await {
            continue;
        }
        let missed = read(daemon, channel.id, after).await;
        info!("{} messages of channel {} are looked at again", missed.len(), channel.id);
        for message in missed {
            // Only events tell the guild.
            hear::said(daemon, Message { guild: Some(guild.id), ..message }).await;
        }
    }
}

/// Tells whether anything that is said there can matter.
async fn ours(daemon: &Daemon, channel: &Channel) -> bool {
    let place = channel.parent.unwrap_or(channel.id);
    let linked = |id| daemon.insist("read a link", move || daemon.store.link_of(id));
    let thread = daemon.insist("read a thread", || daemon.store.thread(channel.id));
    thread.await.is_some() || linked(place).await.is_some() || linked(channel.id).await.is_some()
}

/// Reads until it worked: what cannot be read now would never be answered.
async fn read(daemon: &Daemon, channel: ChannelId, after: MessageId) -> Vec<Message> {
    loop {
        match daemon.discord.messages_after(channel, after, MOST).await {
            Ok(missed) => return missed,
            Err(error) if error.gone() || error.forbidden() => {
                warn!("{error}: what was said there meanwhile stays unanswered");
                return Vec::new();
            }
            Err(error) => warn!("{error}; trying again"),
        }
        time::sleep(daemon.settings.pace.again).await;
    }
}
