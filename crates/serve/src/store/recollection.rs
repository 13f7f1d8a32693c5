//! Which sessions the memory of a repository has: whoever speaks to Discord asks, and a worker looks, since it alone can reach
//! the memory.

use std::time::Duration;

use fro_core::{RepoName, chat::ToldSession, remembered::Audience};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    Error, Store,
    row::{Row, Value, unexpected},
};

/// A worker that has not answered by then may have ended.
const TAKES: Duration = Duration::from_secs(30);
/// Nobody waits for an answer any more after so long.
const OLD: SignedDuration = SignedDuration::from_mins(10);

/// A question to the memory of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryQuestion {
    /// Which repository.
    pub repository: RepoName,
    /// Words that were said in the sessions; all sessions are meant without any.
    pub words: String,
    /// The place in which the answer is told, as the ledger calls it.
    pub place: String,
    /// Who reads it there.
    pub seen_by: Audience,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recollected {
    /// These sessions may be told of.
    Sessions(Vec<ToldSession>),
    /// The memory could not be read.
    Unread,
}

impl Store {
    /// Asks, and returns the question's number. Questions that nobody waits for any more are removed.
    pub async fn ask_memory(&self, question: &MemoryQuestion, now: Timestamp) -> Result<i64, Error> {
        let transaction = self.begin().await?;
        transaction.rows("DELETE FROM recollection WHERE asked_at < $1", [Value::from(now - OLD)]).await?;
        let sql =
            "INSERT INTO recollection (question, asked_at, taken_until) VALUES ($1, $2, 0) RETURNING id";
        let row = transaction.row(sql, [Value::json(question), Value::from(now)]).await?;
        transaction.commit().await?;
        let mut row = row.ok_or_else(|| unexpected("recollection", "it was not written"))?;
        row.number("recollection.id")
    }

    /// Takes the oldest question that nobody is about to answer, with its number.
    pub async fn take_memory_question(&self, now: Timestamp) -> Result<Option<(i64, MemoryQuestion)>, Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE recollection SET taken_until = $2 WHERE taken_until <= $1 AND id = \
                   (SELECT id FROM recollection WHERE told IS NULL AND taken_until <= $1 ORDER BY id LIMIT 1) \
                   RETURNING id, question";
        let until = now.saturating_add(TAKES).unwrap_or(Timestamp::MAX);
        let row = transaction.row(sql, [Value::from(now), Value::from(until)]).await?;
        transaction.commit().await?;
        let read = |mut row: Row| Ok((row.number("recollection.id")?, row.json("recollection.question")?));
        row.map(read).transpose()
    }

    /// Answers a question.
    pub async fn tell_memory(&self, id: i64, told: &Recollected) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE recollection SET told = $2 WHERE id = $1";
        transaction.rows(sql, [Value::from(id), Value::json(told)]).await?;
        transaction.commit().await
    }

    /// Returns the answer to a question, once, if there is one yet.
    pub async fn memory_told(&self, id: i64) -> Result<Option<Recollected>, Error> {
        let transaction = self.begin().await?;
        let sql = "DELETE FROM recollection WHERE id = $1 AND told IS NOT NULL RETURNING told";
        let row = transaction.row(sql, [Value::from(id)]).await?;
        transaction.commit().await?;
        row.map(|mut row| row.json("recollection.told")).transpose()
    }
}
