//! The rows that the daemon stores because of one event on Discord.

use jiff::Timestamp;

use super::{AuditEntry, ChannelId, Deed, MessageId, Thread, ThreadOpening, ThreadRequest};

/// One thing that follows from an event. All of them are written down at once, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Follow {
    /// A thread is a session's from now on.
    OpenThread(Thread),
    /// Words wait for an answer.
    Queue(ThreadRequest),
    /// Words that wait say something else now.
    Reword {
        /// Which.
        source: MessageId,
        /// What they say.
        text: String,
    },
    /// Words that wait are taken back.
    Withdraw(MessageId),
    /// Something is to be done on Discord.
    Do {
        /// Where order is kept.
        lane: ChannelId,
        /// What.
        deed: Deed,
    },
    /// A decision is written down.
    Record(AuditEntry),
}

/// Returns what follows once the words that a thread begins with stand in its channel.
pub fn begun(
    channel: ChannelId,
    message: MessageId,
    beginning: &ThreadOpening,
    now: Timestamp,
) -> Vec<Follow> {
    let Some(id) = ChannelId::new(message.number()) else { return Vec::new() };
    let ThreadOpening { guild, repository, session, forked_from, name, asker, words } = beginning.clone();
    let thread = Thread {
        id,
        channel,
        guild,
        repository,
        session,
        forked_from,
        named: Some(name.clone()),
        opened_at: now,
    };
    vec![
        Follow::OpenThread(thread),
        Follow::Do { lane: id, deed: Deed::OpenThread { channel, message, name } },
        Follow::Queue(ThreadRequest { thread: id, source: message, asker, words }),
    ]
}
