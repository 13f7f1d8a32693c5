//! Which events were dealt with, so that one that is told twice is dealt with once.

use std::fmt::Display;

use jiff::Timestamp;

use super::{Error, database::Transaction, row::Value};

/// Marks an event, in the transaction of what follows from it. Returns whether it is new.
pub(super) async fn mark(transaction: &Transaction, id: impl Display, now: Timestamp) -> Result<bool, Error> {
    let sql = "INSERT INTO seen (id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING at";
    Ok(transaction.row(sql, [Value::text(id), Value::from(now)]).await?.is_some())
}
