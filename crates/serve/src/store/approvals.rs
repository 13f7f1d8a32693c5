//! What the engine asked leave for, and what people said: one answer wins, and none after the deadline.

use fro_core::chat::{AuditEntry, ChannelId, UserId};
use jiff::Timestamp;

use super::{
    Error, Store, audit,
    queue::{self, Lease},
    row::Value,
};

/// Something that waits for somebody's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Its number.
    pub id: i64,
    /// What is asked.
    pub question: String,
    /// Until when.
    pub deadline: Timestamp,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nobody has answered yet.
    Open,
    /// Somebody said this.
    Decided {
        /// Who.
        by: UserId,
        /// What.
        answer: String,
    },
    /// Nobody answered in time.
    Expired,
}

impl Store {
    /// Asks for leave. The same request of the engine is asked once, however often the turn is begun.
    pub async fn request(
        &self,
        lease: Lease,
        request: &str,
        question: &str,
        deadline: Timestamp,
    ) -> Result<Approval, Error> {
        let transaction = self.begin().await?;
        queue::hold(&transaction, lease).await?;
        let values =
            [Value::from(lease.turn), Value::from(request), Value::from(question), Value::from(deadline)];
        let sql = "INSERT INTO approval (turn, request, question, deadline, state) VALUES ($1, $2, $3, $4, 'open') \
                   ON CONFLICT (turn, request) DO UPDATE SET question = approval.question \
                   RETURNING id, question, deadline";
        let row = transaction.row(sql, values).await?;
        let mut row = row.ok_or_else(|| super::row::unexpected("approval", "it was not written"))?;
        transaction.commit().await?;
        Ok(Approval {
            id: row.number("approval.id")?,
            question: row.text("approval.question")?,
            deadline: row.time("approval.deadline")?,
        })
    }

    /// Lets what an earlier try of a turn asked be over: nobody waits for the answer any more.
    pub async fn forget_requests(&self, lease: Lease) -> Result<(), Error> {
        let transaction = self.begin().await?;
        queue::hold(&transaction, lease).await?;
        let sql = "UPDATE approval SET state = 'expired' WHERE turn = $1 AND state = 'open'";
        transaction.rows(sql, [Value::from(lease.turn)]).await?;
        transaction.commit().await
    }

    /// Returns in which thread something was asked.
    pub async fn asked_in(&self, id: i64) -> Result<Option<ChannelId>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT t.thread FROM approval AS a JOIN turn AS t ON t.id = a.turn WHERE a.id = $1";
        let row = transaction.row(sql, [Value::from(id)]).await?;
        transaction.commit().await?;
        row.map(|mut row| row.parsed("turn.thread")).transpose()
    }

    /// Gives somebody's word, if it is the first and in time. Returns what stands afterwards.
    pub async fn rule(
        &self,
        id: i64,
        (by, answer): (UserId, &str),
        entry: AuditEntry,
    ) -> Result<Verdict, Error> {
        let transaction = self.begin().await?;
        let values = [Value::from(id), Value::text(by), Value::from(answer), Value::from(entry.at)];
        let sql = "UPDATE approval SET state = 'decided', decided_by = $2, answer = $3 \
                   WHERE id = $1 AND state = 'open' AND deadline > $4 RETURNING id";
        let won = transaction.row(sql, values).await?.is_some();
        let entry = if won { entry } else { entry.denied("it was decided already, or too late") };
        let now = entry.at;
        audit::append(&transaction, &entry).await?;
        transaction.commit().await?;
        self.verdict(id, now).await
    }

    /// Returns what became of a request; one whose time is over is expired from then on.
    pub async fn verdict(&self, id: i64, now: Timestamp) -> Result<Verdict, Error> {
        let transaction = self.begin().await?;
        let sql = "UPDATE approval SET state = 'expired' WHERE id = $1 AND state = 'open' AND deadline <= $2";
        transaction.rows(sql, [Value::from(id), Value::from(now)]).await?;
        let sql = "SELECT state, decided_by, answer FROM approval WHERE id = $1";
        let row = transaction.row(sql, [Value::from(id)]).await?;
        transaction.commit().await?;
        let Some(mut row) = row else { return Ok(Verdict::Expired) };
        match row.text("approval.state")?.as_str() {
            "open" => Ok(Verdict::Open),
            "decided" => Ok(Verdict::Decided {
                by: row.parsed("approval.decided_by")?,
                answer: row.text("approval.answer")?,
            }),
            _ => Ok(Verdict::Expired),
        }
    }
}
