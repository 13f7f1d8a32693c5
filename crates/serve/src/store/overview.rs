//! What an operator is shown of the store: threads, turns that are unfinished, workers, who speaks to Discord, what failed.

use fro_core::{
    RepoName,
    chat::{ChannelId, UserId},
};
use jiff::Timestamp;

use super::{
    Error, Store,
    audit::Audited,
    row::{Row, Value},
    threads,
};

/// A thread with how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadLine {
    /// The thread.
    pub thread: fro_core::chat::Thread,
    /// Turns that wait there.
    pub waiting: i64,
    /// Turns that somebody works on there.
    pub running: i64,
    /// Turns that are done.
    pub done: i64,
    /// When somebody last asked something there.
    pub asked_at: Option<Timestamp>,
}

/// A turn that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedTurn {
    /// Its number.
    pub id: i64,
    /// In which thread.
    pub thread: ChannelId,
    /// For which repository.
    pub repository: RepoName,
    /// Whose words they are.
    pub asker: UserId,
    /// When they were said.
    pub arrived_at: Timestamp,
    /// How often it was begun.
    pub attempts: i64,
    /// Who works on it, and until when without a sign of life.
    pub held: Option<(String, Timestamp)>,
}

/// A worker with its last sign of life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerLine {
    /// What it is called.
    pub name: String,
    /// When it was last seen.
    pub seen_at: Timestamp,
}

/// Who speaks to Discord.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayLine {
    /// For which shard.
    pub shard: i64,
    /// What the process is called, if any has it.
    pub holder: Option<String>,
    /// Until when without a sign of life.
    pub lease_until: Timestamp,
}

/// Something that could not be done on Discord.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedDeed {
    /// Its number.
    pub id: i64,
    /// In which channel or thread.
    pub lane: ChannelId,
    /// How often it was tried.
    pub attempts: i64,
    /// Why it failed.
    pub failure: String,
}

impl Store {
    /// Returns threads with how they stand, those first in which somebody asked something last.
    pub async fn thread_lines(
        &self,
        now: Timestamp,
        (skip, most): (i64, i64),
    ) -> Result<Vec<ThreadLine>, Error> {
        let transaction = self.begin().await?;
        let columns =
            threads::COLUMNS.split(", ").map(|name| format!("h.{name}")).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "SELECT {columns}, count(*) FILTER (WHERE t.state = 'waiting' OR (t.state = 'running' AND t.lease_until <= $1)), \
             count(*) FILTER (WHERE t.state = 'running' AND t.lease_until > $1), \
             count(*) FILTER (WHERE t.state = 'done'), max(t.arrived_at) \
             FROM thread AS h LEFT JOIN turn AS t ON t.thread = h.id GROUP BY {columns} \
             ORDER BY coalesce(max(t.arrived_at), h.opened_at) DESC, h.id DESC LIMIT $2 OFFSET $3"
        );
        let rows = transaction.rows(&sql, [Value::from(now), Value::from(most), Value::from(skip)]).await?;
        transaction.cancel().await?;
        let line = |mut row: Row| {
            Ok(ThreadLine {
                thread: threads::read(&mut row)?,
                waiting: row.number("waiting")?,
                running: row.number("running")?,
                done: row.number("done")?,
                asked_at: row.maybe_time("turn.arrived_at")?,
            })
        };
        rows.into_iter().map(line).collect()
    }

    /// Returns the turns that are not done, in the order in which they were asked for.
    pub async fn unfinished_turns(&self, most: i64) -> Result<Vec<UnfinishedTurn>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT id, thread, repository, asker, arrived_at, attempts, lease_until, state, worker FROM turn \
                   WHERE state IN ('waiting', 'running') ORDER BY id LIMIT $1";
        let rows = transaction.rows(sql, [Value::from(most)]).await?;
        transaction.cancel().await?;
        let turn = |mut row: Row| {
            let mut turn = UnfinishedTurn {
                id: row.number("turn.id")?,
                thread: row.parsed("turn.thread")?,
                repository: row.parsed("turn.repository")?,
                asker: row.parsed("turn.asker")?,
                arrived_at: row.time("turn.arrived_at")?,
                attempts: row.number("turn.attempts")?,
                held: None,
            };
            let (until, state) = (row.time("turn.lease_until")?, row.text("turn.state")?);
            let worker = row.maybe_text("turn.worker")?.filter(|_| state == "running");
            turn.held = worker.map(|worker| (worker, until));
            Ok(turn)
        };
        rows.into_iter().map(turn).collect()
    }

    /// Returns the workers, the last seen first.
    pub async fn worker_lines(&self) -> Result<Vec<WorkerLine>, Error> {
        let transaction = self.begin().await?;
        let rows =
            transaction.rows("SELECT name, seen_at FROM worker ORDER BY seen_at DESC, name", []).await?;
        transaction.cancel().await?;
        let line = |mut row: Row| {
            Ok(WorkerLine { name: row.text("worker.name")?, seen_at: row.time("worker.seen_at")? })
        };
        rows.into_iter().map(line).collect()
    }

    /// Returns who speaks to Discord.
    pub async fn gateway_lines(&self) -> Result<Vec<GatewayLine>, Error> {
        let transaction = self.begin().await?;
        let rows =
            transaction.rows("SELECT shard, holder, lease_until FROM gateway ORDER BY shard", []).await?;
        transaction.cancel().await?;
        let line = |mut row: Row| {
            Ok(GatewayLine {
                shard: row.number("gateway.shard")?,
                holder: row.maybe_text("gateway.holder")?,
                lease_until: row.time("gateway.lease_until")?,
            })
        };
        rows.into_iter().map(line).collect()
    }

    /// Returns what could not be done on Discord, the last first.
    pub async fn failed_deeds(&self, most: i64) -> Result<Vec<FailedDeed>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT id, lane, attempts, coalesce(failure, '') FROM outbox WHERE state = 'failed' \
                   ORDER BY id DESC LIMIT $1";
        let rows = transaction.rows(sql, [Value::from(most)]).await?;
        transaction.cancel().await?;
        let deed = |mut row: Row| {
            Ok(FailedDeed {
                id: row.number("outbox.id")?,
                lane: row.parsed("outbox.lane")?,
                attempts: row.number("outbox.attempts")?,
                failure: row.text("outbox.failure")?,
            })
        };
        rows.into_iter().map(deed).collect()
    }

    /// Returns the last decisions of all guilds before a number, newest first.
    pub async fn audit_tail(&self, below: i64, most: i64) -> Result<Vec<Audited>, Error> {
        let transaction = self.begin().await?;
        let found = super::audit::below(&transaction, below, most).await;
        transaction.cancel().await?;
        found
    }

    /// Returns a text that is another as soon as anything that an operator is shown has changed.
    pub async fn pulse(&self) -> Result<String, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT (SELECT coalesce(max(id), 0) FROM turn) || '-' || (SELECT fence FROM dispenser) || '-' || \
                   (SELECT count(*) FROM turn WHERE state IN ('waiting', 'running')) || '-' || \
                   (SELECT count(*) FROM turn WHERE state = 'running') || '-' || \
                   (SELECT number FROM audit_head) || '-' || (SELECT count(*) FROM link) || '-' || \
                   (SELECT coalesce(max(id), 0) FROM outbox) || '-' || \
                   (SELECT count(*) FROM outbox WHERE state = 'waiting') || '-' || (SELECT count(*) FROM worker)";
        let row = transaction.row(sql, []).await?;
        transaction.cancel().await?;
        row.map_or(Ok(String::new()), |mut row| row.text("pulse"))
    }
}
