//! What follows from an event.

use super::{Asked, AuditEntry, ChannelId, Deed, MessageId, Thread};

/// One thing that follows from an event. All of them are written down at once, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Follow {
    /// A thread is a session's from now on.
    OpenThread(Thread),
    /// Words wait for an answer.
    Queue(Asked),
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
