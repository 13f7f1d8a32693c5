//! The state of the daemon as a whole: turns that wait and run, since when, and workers that could take them.

use std::time::Duration;

use jiff::Timestamp;

use super::{Error, Store, row::Value};

/// How the daemon stands, as its database tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// Turns that nobody works on.
    pub waiting: i64,
    /// Turns that somebody works on.
    pub running: i64,
    /// How long the oldest turn has waited that nobody works on.
    pub oldest_waiting: Option<Duration>,
    /// Deeds that wait to be done on Discord.
    pub outbox: i64,
    /// Workers that gave a sign of life lately.
    pub workers: i64,
    /// When any worker was last seen.
    pub worker_seen: Option<Timestamp>,
}

impl Status {
    /// How long a worker counts as alive after its last sign of life.
    pub const LATELY: Duration = Duration::from_mins(2);
}

/// A turn whose lease has run out is waiting again, for whoever takes it next.
const TURNS: &str = "
    SELECT count(*) FILTER (WHERE state = 'waiting' OR lease_until <= $1),
           count(*) FILTER (WHERE state = 'running' AND lease_until > $1),
           coalesce(min(arrived_at) FILTER (WHERE state = 'waiting' OR lease_until <= $1), 0)
    FROM turn WHERE state IN ('waiting', 'running')";

const OTHERS: &str = "
    SELECT (SELECT count(*) FROM outbox WHERE state = 'waiting'),
           (SELECT count(*) FROM worker WHERE seen_at >= $1),
           (SELECT coalesce(max(seen_at), 0) FROM worker)";

impl Store {
    /// Tells how the daemon stands.
    pub async fn status(&self, now: Timestamp) -> Result<Status, Error> {
        let transaction = self.begin().await?;
        let turns = transaction.row(TURNS, [Value::from(now)]).await?;
        let lately = now.saturating_sub(Status::LATELY).unwrap_or(Timestamp::MIN);
        let others = transaction.row(OTHERS, [Value::from(lately)]).await?;
        // Nothing was changed, and nothing is written to the disk for having looked.
        transaction.cancel().await?;
        let (Some(mut turns), Some(mut others)) = (turns, others) else { return Ok(Status::default()) };
        let known = |time: Timestamp| Some(time).filter(|time| *time != Timestamp::UNIX_EPOCH);
        let (waiting, running) = (turns.number("turn.waiting")?, turns.number("turn.running")?);
        let oldest = known(turns.time("turn.arrived_at")?);
        Ok(Status {
            waiting,
            running,
            // With a clock that was put back, nothing waits since tomorrow.
            oldest_waiting: oldest.map(|time| now.max(time).duration_since(time).unsigned_abs()),
            outbox: others.number("outbox.waiting")?,
            workers: others.number("worker.lately")?,
            worker_seen: known(others.time("worker.seen_at")?),
        })
    }
}
