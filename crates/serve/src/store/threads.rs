//! Threads: for each the session of the engine in which it is answered.

use fro_core::{
    RepoName,
    chat::{ChannelId, Thread},
};

use super::{
    Error, Store,
    database::Transaction,
    queue::{self, Lease},
    row::{Row, Value},
};

/// Whether a thread was there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// The thread is new.
    Now,
    /// The thread was there before.
    Before,
}

pub(super) const COLUMNS: &str = "id, channel, guild, repository, session, forked_from, named, opened_at";

impl Store {
    /// Returns a thread.
    pub async fn thread(&self, id: ChannelId) -> Result<Option<Thread>, Error> {
        let transaction = self.begin().await?;
        let sql = format!("SELECT {COLUMNS} FROM thread WHERE id = $1");
        let row = transaction.row(&sql, [Value::text(id)]).await?;
        transaction.commit().await?;
        row.map(|mut row| read(&mut row)).transpose()
    }

    /// Returns the threads of a session, newest first.
    pub async fn threads_of(&self, session: &str) -> Result<Vec<Thread>, Error> {
        let transaction = self.begin().await?;
        let sql = format!("SELECT {COLUMNS} FROM thread WHERE session = $1 ORDER BY opened_at DESC, id");
        let rows = transaction.rows(&sql, [Value::from(session)]).await?;
        transaction.commit().await?;
        rows.into_iter().map(|mut row| read(&mut row)).collect()
    }

    /// Returns the threads of a channel about a repository that have a session and in which these words were asked,
    /// newest first.
    pub async fn threads_about(
        &self,
        (channel, repository): (ChannelId, &RepoName),
        words: &str,
        most: i64,
    ) -> Result<Vec<Thread>, Error> {
        let transaction = self.begin().await?;
        let text = match &transaction {
            Transaction::Sqlite(_) => "(t.words ->> 'text')",
            Transaction::Postgres(_) => "(t.words::json ->> 'text')",
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM thread AS h WHERE channel = $1 AND repository = $2 AND session IS NOT NULL \
             AND ($3 = '%%' OR EXISTS \
             (SELECT 1 FROM turn AS t WHERE t.thread = h.id AND lower({text}) LIKE lower($3) ESCAPE '!')) \
             ORDER BY opened_at DESC, id DESC LIMIT $4"
        );
        let plain = words.replace('!', "!!").replace('%', "!%").replace('_', "!_");
        let values = [
            Value::text(channel),
            Value::text(repository),
            Value::text(format!("%{plain}%")),
            Value::from(most),
        ];
        let rows = transaction.rows(&sql, values).await?;
        transaction.commit().await?;
        rows.into_iter().map(|mut row| read(&mut row)).collect()
    }

    /// Gives a thread another session.
    pub async fn set_session(&self, id: ChannelId, session: Option<&str>) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE thread SET session = $2 WHERE id = $1";
        transaction.rows(sql, [Value::text(id), Value::maybe(session)]).await?;
        transaction.commit().await
    }

    /// Lets a turn's thread go on in this session. Only whoever has the turn can.
    pub async fn go_on_in(&self, lease: Lease, session: &str) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let thread = queue::hold(&transaction, lease).await?;
        let sql = "UPDATE thread SET session = $2 WHERE id = $1";
        transaction.rows(sql, [Value::text(thread), Value::from(session)]).await?;
        transaction.commit().await
    }

    /// Keeps what a turn changed, instead of what an earlier one did. Only whoever has the turn can.
    pub async fn keep_diff(&self, lease: Lease, diff: Option<&str>) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let thread = queue::hold(&transaction, lease).await?;
        let sql = "UPDATE thread SET diff = $2 WHERE id = $1";
        transaction.rows(sql, [Value::text(thread), Value::maybe(diff)]).await?;
        transaction.commit().await
    }

    /// Returns what the last turn of a thread changed.
    pub async fn diff(&self, id: ChannelId) -> Result<Option<String>, Error> {
        let transaction = self.begin().await?;
        let row = transaction.row("SELECT diff FROM thread WHERE id = $1", [Value::text(id)]).await?;
        transaction.commit().await?;
        Ok(row.map(|mut row| row.maybe_text("thread.diff")).transpose()?.flatten())
    }
}

pub(super) async fn insert(transaction: &Transaction, thread: &Thread) -> Result<Opened, Error> {
    let values = [
        Value::text(thread.id),
        Value::text(thread.channel),
        Value::text(thread.guild),
        Value::text(&thread.repository),
        Value::maybe(thread.session.as_ref()),
        Value::maybe(thread.forked_from.as_ref()),
        Value::maybe(thread.named.as_ref()),
        Value::from(thread.opened_at),
    ];
    let sql = format!(
        "INSERT INTO thread ({COLUMNS}, last_position) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0) \
         ON CONFLICT DO NOTHING RETURNING opened_at"
    );
    let new = transaction.row(&sql, values).await?.is_some();
    Ok(if new { Opened::Now } else { Opened::Before })
}

pub(super) fn read(row: &mut Row) -> Result<Thread, Error> {
    Ok(Thread {
        id: row.parsed("thread.id")?,
        channel: row.parsed("thread.channel")?,
        guild: row.parsed("thread.guild")?,
        repository: row.parsed("thread.repository")?,
        session: row.maybe_text("thread.session")?,
        forked_from: row.maybe_text("thread.forked_from")?,
        named: row.maybe_text("thread.named")?,
        opened_at: row.time("thread.opened_at")?,
    })
}
