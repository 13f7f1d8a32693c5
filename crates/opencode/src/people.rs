//! People who can be asked when the engine asks: what is put to them, and what they say.

use fro_core::conversation::heard::Ask;
use tokio::sync::{mpsc, oneshot};

/// The way to people who can be asked.
#[derive(Debug, Clone)]
pub struct People {
    /// What they are asked for.
    pub policy: AskPolicy,
    /// Where requests go. Whoever hears them answers each.
    pub requests: mpsc::UnboundedSender<PeopleRequest>,
}

/// What the engine needs leave for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskPolicy {
    /// What its configuration and its own rules say.
    Rules,
    /// The same, and every change of a file, every command and every web page.
    Changes,
}

/// A request that waits for a word.
#[derive(Debug)]
pub struct PeopleRequest {
    /// What is asked.
    pub ask: Ask,
    /// Where the word goes.
    pub word: oneshot::Sender<HumanReply>,
}

/// What people say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HumanReply {
    /// Allowed, this time.
    Once,
    /// Yes, this time and whenever it is asked for the same.
    Always,
    /// Denied.
    No,
    /// The choice that somebody made.
    Chosen(String),
}

impl People {
    /// Puts a request to people. If nobody hears it any more, that is a no.
    pub(crate) async fn ask(&self, ask: &Ask) -> HumanReply {
        let (word, said) = oneshot::channel();
        let put = self.requests.send(PeopleRequest { ask: ask.clone(), word });
        match put {
            Ok(()) => said.await.unwrap_or(HumanReply::No),
            Err(_) => HumanReply::No,
        }
    }
}
