//! People who can be asked when the engine asks: what is put to them, and what they say.

use fro_core::conversation::heard::Ask;
use tokio::sync::{mpsc, oneshot};

/// The way to people who can be asked.
#[derive(Debug, Clone)]
pub struct People {
    /// What they are asked for.
    pub leave: Leave,
    /// Where requests go. Whoever hears them answers each.
    pub requests: mpsc::UnboundedSender<PeopleRequest>,
}

/// What the engine needs leave for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
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
    pub word: oneshot::Sender<Word>,
}

/// What people say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Yes, this time.
    Once,
    /// Yes, this time and whenever it is asked for the same.
    Always,
    /// No.
    No,
    /// This answer to a question.
    Chosen(String),
}

impl People {
    /// Puts a request to people. If nobody hears it any more, that is a no.
    pub(crate) async fn ask(&self, ask: &Ask) -> Word {
        let (word, said) = oneshot::channel();
        let put = self.requests.send(PeopleRequest { ask: ask.clone(), word });
        match put {
            Ok(()) => said.await.unwrap_or(Word::No),
            Err(_) => Word::No,
        }
    }
}
