//! Turns in the order in which they were asked for: one at a time in a thread, so many in a repository, so many in all.
//!
//! A turn is claimed by a lease that has to be renewed, and by a number that grows with every claim. Whoever writes for
//! a turn shows that number: a worker that was thought dead and comes back has an old one, and is refused. Repositories
//! take turns, so that one with a hundred questions does not keep another waiting.

use std::time::Duration;

use fro_core::{
    RepoName,
    chat::{AuditEntry, ChannelId, MessageId, ThreadRequest, UserId, Words},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Error, Store, audit,
    database::Transaction,
    row::{Row, Value, unexpected},
};

/// How many turns may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// In all.
    pub all: i64,
    /// For one repository.
    pub repository: i64,
}

/// The right to work on a turn, as long as it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Which turn.
    pub turn: i64,
    /// Which claim of it.
    pub fence: i64,
}

/// A turn that was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The right to it.
    pub lease: Lease,
    /// What it is.
    pub turn: Turn,
    /// Which try this is, from 1.
    pub attempt: i64,
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// In which thread.
    pub thread: ChannelId,
    /// For which repository.
    pub repository: RepoName,
    /// The message that set it off.
    pub source: MessageId,
    /// Whose words they are.
    pub asker: UserId,
    /// What they say.
    pub words: Words,
    /// When they said it.
    pub arrived_at: Timestamp,
}

/// What somebody wants of a turn that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// The turn goes on.
    None,
    /// The turn is to end.
    Stop,
}

/// What became of a wish to change a turn that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewordResult {
    /// The turn has the new words.
    Yes,
    /// The turn runs already, or is done.
    TooLate,
    /// There is none.
    Unknown,
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// How it ended, in a word.
    pub ending: String,
    /// Tokens that went to the model.
    pub tokens_in: i64,
    /// Tokens that came from it.
    pub tokens_out: i64,
    /// What they cost, in millionths of a dollar.
    pub cost: i64,
}

/// A turn that nobody works on, with the number of its last claim.
struct Free {
    id: i64,
    fence: i64,
    attempts: i64,
    turn: Turn,
}

/// The first unfinished turn of each thread that nobody works on, if its repository may have one more. The repository
/// that was served longest ago comes first, then whoever came first.
const NEXT: &str = "
    SELECT id, fence, attempts, thread, repository, source, asker, words, arrived_at FROM turn AS t
    WHERE (state = 'waiting' OR (state = 'running' AND lease_until <= $1))
      AND position = (
        SELECT min(position) FROM turn AS o WHERE o.thread = t.thread AND o.state IN ('waiting', 'running'))
      AND $2 > (
        SELECT count(*) FROM turn AS r
        WHERE r.repository = t.repository AND r.state = 'running' AND r.lease_until > $1)
    ORDER BY coalesce((SELECT fence FROM served AS s WHERE s.repository = t.repository), 0), id
    LIMIT 1";

impl Store {
    /// Claims the next turn for a worker, if there is one and the caps allow it.
    pub async fn claim(
        &self,
        worker: &str,
        caps: Caps,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<Claimed>, Error> {
        let transaction = self.begin().await?;
        // The update is the lock: claims happen one after the other, so the caps hold.
        let row = transaction.row("UPDATE dispenser SET fence = fence + 1 RETURNING fence", []).await?;
        let mut row = row.ok_or_else(|| unexpected("dispenser", "its one row is not there"))?;
        let fence = row.number("dispenser.fence")?;
        let Some(free) = next(&transaction, caps, now).await? else {
            // Nothing was changed, and nothing is written to the disk for having looked.
            transaction.cancel().await?;
            return Ok(None);
        };
        if !take(&transaction, &free, fence, (worker, now, lease)).await? {
            // It was finished or withdrawn between the two statements; whoever asks again sees what is next.
            transaction.cancel().await?;
            return Ok(None);
        }
        transaction.commit().await?;
        let lease = Lease { turn: free.id, fence };
        Ok(Some(Claimed { lease, turn: free.turn, attempt: free.attempts + 1 }))
    }

    /// Renews a lease and returns what somebody wants of the turn.
    pub async fn renew(&self, lease: Lease, now: Timestamp, time: Duration) -> Result<Wish, Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE turn SET lease_until = $3 WHERE id = $1 AND fence = $2 AND state = 'running' \
                   RETURNING coalesce(wish, '')";
        let values = [Value::from(lease.turn), Value::from(lease.fence), Value::from(until(now, time))];
        let Some(mut row) = transaction.row(sql, values).await? else {
            return Err(Error::Stale { turn: lease.turn });
        };
        let wish = row.text("turn.wish")?;
        transaction.commit().await?;
        Ok(if wish == "stop" { Wish::Stop } else { Wish::None })
    }

    /// Ends a turn and writes down what it came to.
    pub async fn finish(&self, lease: Lease, spent: &Spent, now: Timestamp) -> Result<(), Error> {
        let transaction = self.begin().await?;
        hold(&transaction, lease).await?;
        let values = [Value::from(lease.turn)];
        transaction.rows("UPDATE turn SET state = 'done', worker = NULL WHERE id = $1", values).await?;
        let values = [Value::from(lease.fence), Value::from(now), Value::json(spent)];
        transaction.rows("UPDATE run SET ended_at = $2, spent = $3 WHERE fence = $1", values).await?;
        transaction.commit().await
    }

    /// Gives all turns of a worker back that is known to have ended.
    pub async fn abandon(&self, worker: &str) -> Result<i64, Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE turn SET lease_until = 0 WHERE worker = $1 AND state = 'running' RETURNING id";
        let given = transaction.rows(sql, [Value::from(worker)]).await?.len();
        transaction.commit().await?;
        Ok(i64::try_from(given).unwrap_or(i64::MAX))
    }

    /// Asks for the turn of a thread to be ended that runs; what waits there goes on waiting. Returns whether one ran.
    pub async fn stop(&self, thread: ChannelId, entry: &AuditEntry) -> Result<bool, Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE turn SET wish = 'stop' WHERE thread = $1 AND state = 'running' RETURNING id";
        let stopped = transaction.row(sql, [Value::text(thread)]).await?.is_some();
        audit::append(&transaction, entry).await?;
        transaction.commit().await?;
        Ok(stopped)
    }

    /// Returns what waits in a thread, in order.
    pub async fn waiting(&self, thread: ChannelId) -> Result<Vec<Turn>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT thread, repository, source, asker, words, arrived_at FROM turn \
                   WHERE thread = $1 AND state = 'waiting' ORDER BY position";
        let rows = transaction.rows(sql, [Value::text(thread)]).await?;
        transaction.commit().await?;
        rows.into_iter().map(|mut row| Turn::read(&mut row)).collect()
    }

    /// Returns how many turns run and how many wait.
    pub async fn load(&self, now: Timestamp) -> Result<(i64, i64), Error> {
        let transaction = self.begin().await?;
        let running = running(&transaction, now).await?;
        let sql = "SELECT count(*) FROM turn WHERE state IN ('waiting', 'running')";
        let row = transaction.row(sql, []).await?;
        let unfinished = row.map_or(Ok(0), |mut row| row.number("count"))?;
        transaction.commit().await?;
        Ok((running, unfinished - running))
    }
}

async fn running(transaction: &Transaction, now: Timestamp) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM turn WHERE state = 'running' AND lease_until > $1";
    let row = transaction.row(sql, [Value::from(now)]).await?;
    row.map_or(Ok(0), |mut row| row.number("count"))
}

async fn next(transaction: &Transaction, caps: Caps, now: Timestamp) -> Result<Option<Free>, Error> {
    if running(transaction, now).await? >= caps.all {
        return Ok(None);
    }
    let values = [Value::from(now), Value::from(caps.repository)];
    transaction.row(NEXT, values).await?.map(Free::read).transpose()
}

/// Takes a free turn, unless somebody was quicker.
async fn take(
    transaction: &Transaction,
    free: &Free,
    fence: i64,
    (worker, now, lease): (&str, Timestamp, Duration),
) -> Result<bool, Error> {
    let sql = "UPDATE turn SET state = 'running', fence = $3, attempts = attempts + 1, worker = $4, lease_until = $5 \
               WHERE id = $1 AND fence = $2 AND state IN ('waiting', 'running') RETURNING id";
    let values = [
        Value::from(free.id),
        Value::from(free.fence),
        Value::from(fence),
        Value::from(worker),
        Value::from(until(now, lease)),
    ];
    if transaction.row(sql, values).await?.is_none() {
        return Ok(false);
    }
    let sql = "INSERT INTO served (repository, fence) VALUES ($1, $2) \
               ON CONFLICT (repository) DO UPDATE SET fence = $2";
    transaction.rows(sql, [Value::text(&free.turn.repository), Value::from(fence)]).await?;
    let sql = "INSERT INTO run (fence, turn, worker, started_at) VALUES ($1, $2, $3, $4)";
    let values = [Value::from(fence), Value::from(free.id), Value::from(worker), Value::from(now)];
    transaction.rows(sql, values).await?;
    Ok(true)
}

/// Makes sure that a turn is still the worker's, until the transaction has ended.
pub(super) async fn hold(transaction: &Transaction, lease: Lease) -> Result<ChannelId, Error> {
    let sql =
        "UPDATE turn SET fence = fence WHERE id = $1 AND fence = $2 AND state = 'running' RETURNING thread";
    let row = transaction.row(sql, [Value::from(lease.turn), Value::from(lease.fence)]).await?;
    row.ok_or(Error::Stale { turn: lease.turn })?.parsed("turn.thread")
}

/// Puts words at the end of their thread's queue.
pub(super) async fn put(
    transaction: &Transaction,
    asked: &ThreadRequest,
    now: Timestamp,
) -> Result<(), Error> {
    // The update is the lock of the thread: numbers are given and seen in the same order.
    let sql = "UPDATE thread SET last_position = last_position + 1 WHERE id = $1 RETURNING last_position, repository";
    let row = transaction.row(sql, [Value::text(asked.thread)]).await?;
    let mut row = row.ok_or_else(|| unexpected("thread.id", format!("{} is not there", asked.thread)))?;
    let (position, repository) = (row.number("thread.last_position")?, row.text("thread.repository")?);
    let sql = "INSERT INTO turn (thread, position, repository, source, asker, words, state, fence, attempts, \
               lease_until, arrived_at) VALUES ($1, $2, $3, $4, $5, $6, 'waiting', 0, 0, 0, $7) \
               ON CONFLICT (source) DO NOTHING";
    let values = [
        Value::text(asked.thread),
        Value::from(position),
        Value::Text(repository),
        Value::text(asked.source),
        Value::text(asked.asker),
        Value::json(&asked.words),
        Value::from(now),
    ];
    transaction.rows(sql, values).await?;
    Ok(())
}

/// Changes words that wait.
pub(super) async fn reword(
    transaction: &Transaction,
    source: MessageId,
    text: &str,
) -> Result<RewordResult, Error> {
    let row = transaction.row("SELECT words FROM turn WHERE source = $1", [Value::text(source)]).await?;
    let Some(mut row) = row else { return Ok(RewordResult::Unknown) };
    let words = Words { text: text.to_owned(), ..row.json("turn.words")? };
    let sql = "UPDATE turn SET words = $2 WHERE source = $1 AND state = 'waiting' RETURNING id";
    let changed = transaction.row(sql, [Value::text(source), Value::json(&words)]).await?.is_some();
    Ok(if changed { RewordResult::Yes } else { RewordResult::TooLate })
}

/// Takes back words that wait.
pub(super) async fn withdraw(transaction: &Transaction, source: MessageId) -> Result<RewordResult, Error> {
    let sql = "UPDATE turn SET state = 'withdrawn' WHERE source = $1 AND state = 'waiting' RETURNING id";
    if transaction.row(sql, [Value::text(source)]).await?.is_some() {
        return Ok(RewordResult::Yes);
    }
    let there =
        transaction.row("SELECT id FROM turn WHERE source = $1", [Value::text(source)]).await?.is_some();
    Ok(if there { RewordResult::TooLate } else { RewordResult::Unknown })
}

fn until(now: Timestamp, time: Duration) -> Timestamp {
    now.saturating_add(time).unwrap_or(Timestamp::MAX)
}

impl Free {
    fn read(mut row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.number("turn.id")?,
            fence: row.number("turn.fence")?,
            attempts: row.number("turn.attempts")?,
            turn: Turn::read(&mut row)?,
        })
    }
}

impl Turn {
    fn read(row: &mut Row) -> Result<Self, Error> {
        Ok(Self {
            thread: row.parsed("turn.thread")?,
            repository: row.parsed("turn.repository")?,
            source: row.parsed("turn.source")?,
            asker: row.parsed("turn.asker")?,
            words: row.json("turn.words")?,
            arrived_at: row.time("turn.arrived_at")?,
        })
    }
}
