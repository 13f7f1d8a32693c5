//! Deliberate mistakes of the little Discord: with each of them, one of its witnesses has to go red.

/// A mistake that is switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// A thread on a message has a number of its own.
    ThreadId,
    /// Whoever takes a session up again is told nothing of what was missed.
    ResumeDrops,
    /// A nonce is forgotten at once.
    NonceForgotten,
    /// Whoever is named is rung, whatever the sender wants.
    MentionsRing,
}

impl Flaw {
    /// Reads a name such as `thread-id`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "thread-id" => Some(Self::ThreadId),
            "resume-drops" => Some(Self::ResumeDrops),
            "nonce-forgotten" => Some(Self::NonceForgotten),
            "mentions-ring" => Some(Self::MentionsRing),
            _ => None,
        }
    }
}
