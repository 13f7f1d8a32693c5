//! What `serve` wants to know and to change of turns: who waits where, and the end of a thread.

use std::collections::BTreeMap;

use fro_core::chat::{ChannelId, Deed, MessageId, UserId, Words};
use jiff::Timestamp;

use super::{
    Error, Store,
    queue::{self, RewordResult},
    row::Value,
};

impl Store {
    /// Returns how many turns of a thread are unfinished.
    pub async fn ahead(&self, thread: ChannelId) -> Result<usize, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT count(*) FROM turn WHERE thread = $1 AND state IN ('waiting', 'running')";
        let row = transaction.row(sql, [Value::text(thread)]).await?;
        transaction.commit().await?;
        let count = row.map_or(Ok(0), |mut row| row.number("count"))?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// Returns the threads in which somebody is being answered now.
    pub async fn answering(&self, now: Timestamp) -> Result<Vec<ChannelId>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT thread FROM turn WHERE state = 'running' AND lease_until > $1 ORDER BY id";
        let rows = transaction.rows(sql, [Value::from(now)]).await?;
        transaction.commit().await?;
        rows.into_iter().map(|mut row| row.parsed("turn.thread")).collect()
    }

    /// Returns whose turn runs in a thread.
    pub async fn answered_now(&self, thread: ChannelId) -> Result<Option<UserId>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT asker FROM turn WHERE thread = $1 AND state = 'running'";
        let row = transaction.row(sql, [Value::text(thread)]).await?;
        transaction.commit().await?;
        row.map(|mut row| row.parsed("turn.asker")).transpose()
    }

    /// Returns the threads of a channel in which something is unfinished.
    pub async fn unfinished_in(&self, channel: ChannelId) -> Result<Vec<ChannelId>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT DISTINCT t.thread FROM turn AS t JOIN thread AS h ON h.id = t.thread \
                   WHERE h.channel = $1 AND t.state IN ('waiting', 'running') ORDER BY t.thread";
        let rows = transaction.rows(sql, [Value::text(channel)]).await?;
        transaction.commit().await?;
        rows.into_iter().map(|mut row| row.parsed("turn.thread")).collect()
    }

    /// Returns what was asked in a thread and what was answered to it, in order.
    pub async fn conversation(&self, thread: ChannelId) -> Result<Vec<(Words, String)>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT id, words FROM turn WHERE thread = $1 AND state <> 'withdrawn' ORDER BY position";
        let turns = transaction.rows(sql, [Value::text(thread)]).await?;
        let mut said = Vec::new();
        for mut row in turns {
            let (turn, words) = (row.number("turn.id")?, row.json("turn.words")?);
            let sql = "SELECT part, deed FROM outbox WHERE turn = $1 AND part IS NOT NULL ORDER BY id";
            let mut parts = BTreeMap::new();
            for mut row in transaction.rows(sql, [Value::from(turn)]).await? {
                let (part, deed) = (row.number("outbox.part")?, row.json("outbox.deed")?);
                match deed {
                    Deed::Say { text, .. } | Deed::Change { text, .. } => parts.insert(part, text),
                    Deed::TakeBack { .. } => parts.remove(&part),
                    Deed::OpenThread { .. } | Deed::Begin { .. } => None,
                };
            }
            said.push((words, parts.into_values().collect::<Vec<_>>().join("\n\n")));
        }
        transaction.commit().await?;
        Ok(said)
    }

    /// Changes words that wait.
    pub async fn reword(&self, source: MessageId, text: &str) -> Result<RewordResult, Error> {
        let transaction = self.begin().await?;
        let reworded = queue::reword(&transaction, source, text).await?;
        transaction.commit().await?;
        Ok(reworded)
    }

    /// Takes back words that wait.
    pub async fn withdraw(&self, source: MessageId) -> Result<RewordResult, Error> {
        let transaction = self.begin().await?;
        let withdrawn = queue::withdraw(&transaction, source).await?;
        transaction.commit().await?;
        Ok(withdrawn)
    }

    /// Takes back all that waits in a thread, and asks for the end of what runs there.
    pub async fn clear(&self, thread: ChannelId) -> Result<(), Error> {
        let transaction = self.begin().await?;
        for sql in [
            "UPDATE turn SET state = 'withdrawn' WHERE thread = $1 AND state = 'waiting'",
            "UPDATE turn SET wish = 'stop' WHERE thread = $1 AND state = 'running'",
        ] {
            transaction.rows(sql, [Value::text(thread)]).await?;
        }
        transaction.commit().await
    }
}
