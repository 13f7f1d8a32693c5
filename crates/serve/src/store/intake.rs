//! What follows from an event, all in one transaction with the mark that the event was dealt with.

use std::fmt::Display;

use fro_core::chat::Follow;
use jiff::Timestamp;

use super::{Error, Store, audit, database::Transaction, outbox, queue, seen, threads};

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intake {
    /// What follows from it was written down.
    New,
    /// It was dealt with before; nothing was written.
    Known,
}

impl Store {
    /// Writes down what follows from an event, unless it was dealt with before.
    pub async fn take_in(
        &self,
        event: impl Display,
        follows: &[Follow],
        now: Timestamp,
    ) -> Result<Intake, Error> {
        let transaction = self.begin().await?;
        if !seen::mark(&transaction, event, now).await? {
            transaction.cancel().await?;
            return Ok(Intake::Known);
        }
        for follow in follows {
            write(&transaction, follow, now).await?;
        }
        transaction.commit().await?;
        Ok(Intake::New)
    }
}

async fn write(transaction: &Transaction, follow: &Follow, now: Timestamp) -> Result<(), Error> {
    match follow {
        Follow::OpenThread(thread) => threads::insert(transaction, thread).await.map(drop),
        Follow::Queue(asked) => queue::put(transaction, asked, now).await,
        Follow::Reword { source, text } => queue::reword(transaction, *source, text).await.map(drop),
        Follow::Withdraw(source) => queue::withdraw(transaction, *source).await.map(drop),
        Follow::Do { lane, deed } => outbox::put(transaction, *lane, deed, now).await.map(drop),
        Follow::Record(entry) => audit::append(transaction, entry).await,
    }
}
