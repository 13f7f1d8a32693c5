//! Writes what happens in a turn into its thread: each new message goes into the outbox.

use std::time::Duration;

use fro_core::{
    Redactor,
    chat::{
        ChannelId, News, ThreadMessage, Transcript,
        say::{Footer, Verbosity},
    },
    conversation::{heard::Heard, outcome::Outcome},
};
use jiff::Timestamp;
use tokio::{sync::mpsc::UnboundedReceiver, time::sleep};

use super::hand_out::HandedOut;
use crate::store::{Error, Store, queue::Lease};

/// How long what is heard is gathered before it is said: Discord takes few changes of a message in a second.
const GATHER: Duration = Duration::from_millis(700);

/// Says a turn in its thread.
pub(super) struct TurnWriter<'a> {
    pub(super) store: &'a Store,
    pub(super) lease: Lease,
    pub(super) thread: ChannelId,
    pub(super) redactor: Redactor,
    transcript: Transcript,
    said: Vec<ThreadMessage>,
}

impl<'a> TurnWriter<'a> {
    pub(super) fn new(
        store: &'a Store,
        lease: Lease,
        thread: ChannelId,
        (redactor, verbosity): (Redactor, Verbosity),
    ) -> Self {
        let (transcript, said) = (Transcript::new(verbosity), Vec::new());
        Self { store, lease, thread, redactor, transcript, said }
    }

    /// Says what is heard as long as somebody talks. It ends only if the turn is not ours any more.
    pub(super) async fn follow(&mut self, heard: &mut UnboundedReceiver<Heard>) -> Error {
        while let Some(first) = heard.recv().await {
            let mut news = self.transcript.hear(&first);
            while let Ok(next) = heard.try_recv() {
                if self.transcript.hear(&next) == News::Some {
                    news = News::Some;
                }
            }
            if news == News::Some
                && let Err(error) = self.flush().await
            {
                match error {
                    Error::Stale { .. } => return error,
                    // It is said again with what comes next.
                    other => tracing::warn!("cannot write to the outbox: {}", other.fault().what()),
                }
            }
            sleep(GATHER).await;
        }
        // Whoever talks is dropped after whoever listens.
        std::future::pending().await
    }

    /// Takes in what was heard while nobody followed.
    pub(super) fn catch_up(&mut self, heard: &mut UnboundedReceiver<Heard>) {
        while let Ok(next) = heard.try_recv() {
            self.transcript.hear(&next);
        }
    }

    /// Adds a word of ours.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.transcript.note(text);
    }

    /// Adds the files that the agent hands out.
    pub(super) fn hand(&mut self, handed: &HandedOut) {
        self.transcript.hand(handed.files.clone(), &handed.troubles);
    }

    /// Adds how the turn ended.
    pub(super) fn end(&mut self, outcome: &Outcome, notes: &[String], footer: &Footer) {
        self.transcript.end(outcome, notes, footer);
    }

    /// Says all there is, and takes back what an earlier try said beyond it.
    pub(super) async fn finish(&mut self) -> Result<(), Error> {
        self.flush().await?;
        let end = i64::try_from(self.said.len()).unwrap_or(i64::MAX);
        self.store.end_at(self.lease, end, Timestamp::now()).await
    }

    async fn flush(&mut self) -> Result<(), Error> {
        for (place, shown) in self.transcript.messages(&self.redactor).into_iter().enumerate() {
            if self.said.get(place) == Some(&shown) {
                continue;
            }
            let position = i64::try_from(place).unwrap_or(i64::MAX);
            self.store.say(self.lease, position, &shown.deed(self.thread), Timestamp::now()).await?;
            match self.said.get_mut(place) {
                Some(said) => *said = shown,
                None => self.said.push(shown),
            }
        }
        Ok(())
    }
}
