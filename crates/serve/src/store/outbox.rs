//! What is to be done on Discord: in order within a lane, which is a thread or a channel, and tried until it is done.

use std::time::Duration;

use fro_core::chat::{ChannelId, Deed, MessageId};
use jiff::Timestamp;

use super::{
    Error, Store,
    database::Transaction,
    row::{Row, Value},
};

/// A deed whose time has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Its number, from which the message's nonce is made.
    pub id: i64,
    /// Where order is kept.
    pub lane: ChannelId,
    /// What is to be done.
    pub deed: Deed,
    /// How often it was tried.
    pub attempts: i64,
    /// When it was first tried, if it was: it may have happened without anybody knowing.
    pub first_try: Option<Timestamp>,
    /// The message of the part that it changes.
    pub message: Option<MessageId>,
}

/// What became of a deed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The deed waits.
    Waiting,
    /// The deed is done; a message may have come of it.
    Done(Option<MessageId>),
    /// The deed can never be done.
    Failed,
}

/// How long a deed is in the hands of whoever got it; nobody else is given it meanwhile.
const HOLD: Duration = Duration::from_mins(5);

/// The first of each lane. What is tried later keeps the rest of its lane waiting.
const DUE: &str = "
    SELECT o.id, o.lane, o.deed, o.attempts, coalesce(o.first_try, 0), p.message FROM outbox AS o
    LEFT JOIN part AS p ON p.turn = o.turn AND p.position = o.part
    WHERE o.state = 'waiting' AND o.next_at <= $1
      AND o.id = (SELECT min(i.id) FROM outbox AS i WHERE i.lane = o.lane AND i.state = 'waiting')
    ORDER BY o.id LIMIT $2";

impl Store {
    /// Puts something into the outbox that belongs to no turn.
    pub async fn post(&self, lane: ChannelId, deed: &Deed, now: Timestamp) -> Result<i64, Error> {
        let transaction = self.begin().await?;
        let id = put(&transaction, lane, deed, now).await?;
        transaction.commit().await?;
        Ok(id)
    }

    /// Returns what is to be done now, the first of each lane, and remembers that it is being tried. It is not given
    /// out again for some minutes, unless something comes of it sooner.
    pub async fn due(&self, now: Timestamp, limit: i64) -> Result<Vec<Due>, Error> {
        let transaction = self.begin().await?;
        let rows = transaction.rows(DUE, [Value::from(now), Value::from(limit)]).await?;
        if rows.is_empty() {
            transaction.cancel().await?;
            return Ok(Vec::new());
        }
        let due: Vec<Due> = rows.into_iter().map(Due::read).collect::<Result<_, _>>()?;
        for deed in &due {
            let sql = "UPDATE outbox SET attempts = attempts + 1, first_try = coalesce(first_try, $2), next_at = $3 \
                       WHERE id = $1";
            let held = now.saturating_add(HOLD).unwrap_or(Timestamp::MAX);
            transaction.rows(sql, [Value::from(deed.id), Value::from(now), Value::from(held)]).await?;
        }
        transaction.commit().await?;
        Ok(due)
    }

    /// Writes down that it is done, and which message came of it.
    pub async fn done(&self, id: i64, message: Option<MessageId>) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE outbox SET state = 'done', message = $2 WHERE id = $1";
        transaction.rows(sql, [Value::from(id), Value::maybe(message)]).await?;
        if let Some(message) = message {
            let sql = "UPDATE part SET message = $2 WHERE (turn, position) = \
                       (SELECT turn, part FROM outbox WHERE id = $1)";
            transaction.rows(sql, [Value::from(id), Value::text(message)]).await?;
        }
        transaction.commit().await
    }

    /// Returns what became of a deed.
    pub async fn delivery(&self, id: i64) -> Result<Delivery, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT state, message FROM outbox WHERE id = $1";
        let row = transaction.row(sql, [Value::from(id)]).await?;
        transaction.commit().await?;
        // Deeds are forgotten when they are done for long.
        let Some(mut row) = row else { return Ok(Delivery::Done(None)) };
        Ok(match row.text("outbox.state")?.as_str() {
            "waiting" => Delivery::Waiting,
            "failed" => Delivery::Failed,
            _ => Delivery::Done(row.maybe_parsed("outbox.message")?),
        })
    }

    /// Returns the messages that came of deeds of a lane since a time, so that none is taken for another's.
    pub async fn said_in(&self, lane: ChannelId, since: Timestamp) -> Result<Vec<MessageId>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT message FROM outbox WHERE lane = $1 AND first_try >= $2 AND message IS NOT NULL";
        let rows = transaction.rows(sql, [Value::text(lane), Value::from(since)]).await?;
        transaction.commit().await?;
        rows.into_iter().map(|mut row| row.parsed("outbox.message")).collect()
    }

    /// Lets everything be tried at once that was given out to somebody who is no more.
    pub async fn take_up_outbox(&self) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE outbox SET next_at = 0 WHERE state = 'waiting' AND first_try IS NOT NULL";
        transaction.rows(sql, []).await?;
        transaction.commit().await
    }

    /// Writes down that it failed for now.
    pub async fn retry(&self, id: i64, failure: &str, now: Timestamp, wait: Duration) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let next = now.saturating_add(wait).unwrap_or(Timestamp::MAX);
        let sql = "UPDATE outbox SET failure = $2, next_at = $3 WHERE id = $1";
        transaction.rows(sql, [Value::from(id), Value::from(failure), Value::from(next)]).await?;
        transaction.commit().await
    }

    /// Writes down that it will never be done.
    pub async fn give_up(&self, id: i64, failure: &str) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE outbox SET state = 'failed', failure = $2 WHERE id = $1";
        transaction.rows(sql, [Value::from(id), Value::from(failure)]).await?;
        transaction.commit().await
    }
}

/// Puts something into the outbox, in the transaction of what it follows from.
pub(super) async fn put(
    transaction: &Transaction,
    lane: ChannelId,
    deed: &Deed,
    now: Timestamp,
) -> Result<i64, Error> {
    put_for(transaction, lane, deed, now, [Value::Null, Value::Null]).await
}

/// Puts something into the outbox that belongs to a part of a turn.
pub(super) async fn put_for(
    transaction: &Transaction,
    lane: ChannelId,
    deed: &Deed,
    now: Timestamp,
    [turn, part]: [Value; 2],
) -> Result<i64, Error> {
    let sql = "INSERT INTO outbox (lane, deed, turn, part, state, attempts, next_at) \
               VALUES ($1, $2, $3, $4, 'waiting', 0, $5) RETURNING id";
    let row =
        transaction.row(sql, [Value::text(lane), Value::json(deed), turn, part, Value::from(now)]).await?;
    row.map_or(Ok(0), |mut row| row.number("outbox.id"))
}

impl Due {
    fn read(mut row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.number("outbox.id")?,
            lane: row.parsed("outbox.lane")?,
            deed: row.json("outbox.deed")?,
            attempts: row.number("outbox.attempts")?,
            first_try: Some(row.time("outbox.first_try")?).filter(|time| *time != Timestamp::UNIX_EPOCH),
            message: row.maybe_parsed("part.message")?,
        })
    }
}
