//! What is decided about a thread, and waits until everything was looked at.

use crate::{say::Verdict, state::Thread};

/// Something that is written into a thread at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// The thread, by its first comment.
    pub thread: u64,
    /// What becomes of it.
    pub verdict: Verdict,
    /// What is said.
    pub body: String,
    /// The newest reply of others that was read.
    pub heard: Option<u64>,
}

impl Deed {
    /// Decides about a thread as it was read.
    pub fn new(thread: &Thread, verdict: Verdict, body: &str) -> Self {
        let heard = thread.replies.last().map(|reply| reply.id);
        Self { thread: thread.root.id, verdict, body: body.to_owned(), heard }
    }
}
