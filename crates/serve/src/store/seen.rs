//! The ids of events that were handled, so that an event that Discord sends twice is handled once.

use std::fmt::Display;

use jiff::Timestamp;

use super::{Error, database::Transaction, row::Value};

/// Marks an event, in the transaction of what follows from it. Returns whether it is new.
pub(super) async fn mark(transaction: &Transaction, id: impl Display, now: Timestamp) -> Result<bool, Error> {
    let sql = "INSERT INTO seen (id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING at";
    Ok(transaction.row(sql, [Value::text(id), Value::from(now)]).await?.is_some())
}
