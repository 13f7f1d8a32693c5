//! Which workers there are: each gives a sign of life now and then, also if there is nothing to do.

use std::time::Duration;

use jiff::Timestamp;

use super::{Error, Store, row::Value};

/// A worker that was not seen for so long will not come back under its name.
const FORGOTTEN: Duration = Duration::from_hours(24 * 7);

impl Store {
    /// Writes down that a worker lives.
    pub async fn greet(&self, worker: &str, now: Timestamp) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let sql = "INSERT INTO worker (name, seen_at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET seen_at = $2";
        transaction.rows(sql, [Value::from(worker), Value::from(now)]).await?;
        let long_ago = now.saturating_sub(FORGOTTEN).unwrap_or(Timestamp::MIN);
        transaction.rows("DELETE FROM worker WHERE seen_at < $1", [Value::from(long_ago)]).await?;
        transaction.commit().await
    }

    /// Writes down that a worker has taken its leave.
    pub async fn part(&self, worker: &str) -> Result<(), Error> {
        let transaction = self.begin().await?;
        transaction.rows("DELETE FROM worker WHERE name = $1", [Value::from(worker)]).await?;
        transaction.commit().await
    }
}
