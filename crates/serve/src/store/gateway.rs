//! Who speaks to Discord's gateway, and where to go on after a restart. One process per shard, by a lease.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Error, Store,
    row::{Value, unexpected},
};

/// The right to speak for a shard, as long as it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which shard.
    pub number: i64,
    /// Which claim of it.
    pub fence: i64,
}

impl Store {
    /// Takes a shard, unless somebody else has it. Returns where the last one stopped, if that is known.
    pub async fn take_shard<S: DeserializeOwned>(
        &self,
        number: i64,
        holder: &str,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<(Shard, Option<S>)>, Error> {
        let transaction = self.begin().await?;
        let until = now.saturating_add(lease).unwrap_or(Timestamp::MAX);
        let values = [Value::from(number), Value::from(holder), Value::from(until), Value::from(now)];
        let sql = "INSERT INTO gateway (shard, holder, fence, lease_until) VALUES ($1, $2, 1, $3) \
                   ON CONFLICT (shard) DO UPDATE SET holder = $2, fence = gateway.fence + 1, lease_until = $3 \
                   WHERE gateway.holder = $2 OR gateway.lease_until <= $4 RETURNING fence, coalesce(session, 'null')";
        let Some(mut row) = transaction.row(sql, values).await? else {
            transaction.cancel().await?;
            return Ok(None);
        };
        let (fence, session) = (row.number("gateway.fence")?, row.text("gateway.session")?);
        transaction.commit().await?;
        let session = serde_json::from_str(&session).map_err(|error| unexpected("gateway.session", error))?;
        Ok(Some((Shard { number, fence }, session)))
    }

    /// Keeps the shard and writes down how far it got. Returns whether it is still ours.
    pub async fn keep_shard<S: Serialize>(
        &self,
        shard: Shard,
        session: Option<&S>,
        until: Timestamp,
    ) -> Result<bool, Error> {
        let transaction = self.begin().await?;
        let values =
            [Value::from(shard.number), Value::from(shard.fence), Value::json(&session), Value::from(until)];
        let sql = "UPDATE gateway SET session = $3, lease_until = $4 WHERE shard = $1 AND fence = $2 RETURNING shard";
        let ours = transaction.row(sql, values).await?.is_some();
        transaction.commit().await?;
        Ok(ours)
    }
}
