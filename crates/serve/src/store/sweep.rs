//! Removes what nobody needs any more: the marks of events that Discord will not repeat, and turns of long ago.

use jiff::{SignedDuration, Timestamp};

use super::{Error, Store, row::Value};

/// Discord repeats events of minutes, not of days.
const SEEN: SignedDuration = SignedDuration::from_hours(24 * 7);
/// So long the words of a turn that is over are kept, with what was said to them.
const TURNS: SignedDuration = SignedDuration::from_hours(24 * 90);

/// Turns that are over, and of which nothing waits to be said.
const OVER: &str = "SELECT t.id FROM turn AS t WHERE t.state IN ('done', 'withdrawn') AND t.arrived_at < $1 \
    AND NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.turn = t.id AND o.state = 'waiting')";

impl Store {
    /// Removes what is old, and returns how many turns that were.
    pub async fn sweep(&self, now: Timestamp) -> Result<usize, Error> {
        let transaction = self.begin().await?;
        transaction.rows("DELETE FROM seen WHERE at < $1", [Value::from(now - SEEN)]).await?;
        let before = Value::from(now - TURNS);
        for table in ["part", "approval", "run", "outbox"] {
            let sql = format!("DELETE FROM {table} WHERE turn IN ({OVER})");
            transaction.rows(&sql, [before.clone()]).await?;
        }
        let sql = format!("DELETE FROM turn WHERE id IN ({OVER}) RETURNING id");
        let turns = transaction.rows(&sql, [before.clone()]).await?.len();
        let sql = "DELETE FROM outbox WHERE turn IS NULL AND state <> 'waiting' AND next_at < $1";
        transaction.rows(sql, [before]).await?;
        transaction.commit().await?;
        Ok(turns)
    }
}
