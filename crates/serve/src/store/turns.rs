//! What `serve` wants to know and to change of turns: who waits where, and the end of a thread.

use fro_core::chat::{ChannelId, MessageId, UserId};
use jiff::Timestamp;

use super::{
    Error, Store,
    queue::{self, Reworded},
    row::Value,
};

impl Store {
    /// Returns how many turns of a thread are unfinished.
    pub async fn ahead(&self, thread: ChannelId) -> Result<usize, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT count(*) FROM turn WHERE thread = $1 AND state IN ('waiting', 'running')";
        let row = transaction.row(sql, [Value::of(thread)]).await?;
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
        let row = transaction.row(sql, [Value::of(thread)]).await?;
        transaction.commit().await?;
        row.map(|mut row| row.parsed("turn.asker")).transpose()
    }

    /// Returns the threads of a channel in which something is unfinished.
    pub async fn unfinished_in(&self, channel: ChannelId) -> Result<Vec<ChannelId>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT DISTINCT t.thread FROM turn AS t JOIN thread AS h ON h.id = t.thread \
                   WHERE h.channel = $1 AND t.state IN ('waiting', 'running') ORDER BY t.thread";
        let rows = transaction.rows(sql, [Value::of(channel)]).await?;
        transaction.commit().await?;
        rows.into_iter().map(|mut row| row.parsed("turn.thread")).collect()
    }

    /// Changes words that wait.
    pub async fn reword(&self, source: MessageId, text: &str) -> Result<Reworded, Error> {
        let transaction = self.begin().await?;
        let reworded = queue::reword(&transaction, source, text).await?;
        transaction.commit().await?;
        Ok(reworded)
    }

    /// Takes back words that wait.
    pub async fn withdraw(&self, source: MessageId) -> Result<Reworded, Error> {
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
            transaction.rows(sql, [Value::of(thread)]).await?;
        }
        transaction.commit().await
    }
}
