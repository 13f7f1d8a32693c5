//! What follows from an event, all in one transaction with the mark that the event was dealt with.

use std::fmt::Display;

use fro_core::chat::{ChannelId, Deed, Follow, MessageId};
use jiff::Timestamp;

use super::{Error, Store, audit, database::Transaction, outbox, queue, row::Value, seen, threads};

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

    /// Writes down what somebody asks by a command, and returns its number in the outbox, unless it was written before.
    pub async fn intend(
        &self,
        event: impl Display,
        (lane, deed): (ChannelId, &Deed),
        now: Timestamp,
    ) -> Result<Option<i64>, Error> {
        let transaction = self.begin().await?;
        if !seen::mark(&transaction, event, now).await? {
            transaction.cancel().await?;
            return Ok(None);
        }
        let id = outbox::put(&transaction, lane, deed, now).await?;
        transaction.commit().await?;
        Ok(Some(id))
    }

    /// Writes down that a deed is done, and what follows from the message that came of it, at once.
    pub async fn done_with(
        &self,
        id: i64,
        message: MessageId,
        follows: &[Follow],
        now: Timestamp,
    ) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let sql =
            "UPDATE outbox SET state = 'done', message = $2 WHERE id = $1 AND state = 'waiting' RETURNING id";
        if transaction.row(sql, [Value::from(id), Value::text(message)]).await?.is_none() {
            return transaction.cancel().await;
        }
        for follow in follows {
            write(&transaction, follow, now).await?;
        }
        transaction.commit().await
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
