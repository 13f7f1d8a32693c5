//! Which events were dealt with, so that one that is told twice is dealt with once.

use std::fmt::Display;

use jiff::Timestamp;

use super::{Error, Store, database::Transaction, row::Value};

impl Store {
    /// Forgets events from before a time; Discord replays minutes, not days.
    pub async fn forget_seen(&self, before: Timestamp) -> Result<(), Error> {
        let transaction = self.begin().await?;
        transaction.rows("DELETE FROM seen WHERE at < $1", [Value::from(before)]).await?;
        transaction.commit().await
    }
}

/// Marks an event, in the transaction of what follows from it. Returns whether it is new.
pub(super) async fn mark(transaction: &Transaction, id: impl Display, now: Timestamp) -> Result<bool, Error> {
    let sql = "INSERT INTO seen (id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING at";
    Ok(transaction.row(sql, [Value::text(id), Value::from(now)]).await?.is_some())
}
