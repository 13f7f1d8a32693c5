//! Which message holds which piece of an answer, so that a worker that takes over overwrites what the last one posted.
//!
//! A worker that dies leaves half an answer in the thread. The next one says the same pieces again, by their place: a
//! piece with the same words is left alone, one with other words changes the message that is there, and what is left
//! over at the end is taken back. Nothing appears twice.

use fro_core::chat::{Deed, MessageId};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::{
    Error, Store, outbox,
    queue::{self, Lease},
    row::Value,
};

/// A piece of an answer, as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where in the answer, from 0.
    pub position: i64,
    /// The message that it is, once it was posted.
    pub message: Option<MessageId>,
}

impl Store {
    /// Says a piece of a turn's answer. Only whoever has the turn can.
    pub async fn say(&self, lease: Lease, position: i64, deed: &Deed, now: Timestamp) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let thread = queue::hold(&transaction, lease).await?;
        let digest = digest(deed);
        let part = [Value::from(lease.turn), Value::from(position)];
        let sql = "SELECT digest FROM part WHERE turn = $1 AND position = $2";
        let was = transaction.row(sql, part.clone()).await?;
        match was.map(|mut row| row.text("part.digest")).transpose()? {
            Some(was) if was == digest => {}
            Some(was) => {
                let sql = "UPDATE part SET digest = $3 WHERE turn = $1 AND position = $2";
                let [turn, place] = part.clone();
                transaction.rows(sql, [turn, place, Value::Text(digest)]).await?;
                // What was taken back is not there to be changed.
                let deed = if was.is_empty() { deed.clone() } else { as_change(deed) };
                outbox::put_for(&transaction, thread, &deed, now, part).await?;
            }
            None => {
                let [turn, place] = part.clone();
                let sql = "INSERT INTO part (turn, position, digest) VALUES ($1, $2, $3)";
                transaction.rows(sql, [turn, place, Value::Text(digest)]).await?;
                outbox::put_for(&transaction, thread, deed, now, part).await?;
            }
        }
        transaction.commit().await
    }

    /// Takes back what an earlier try said beyond the end of the answer.
    pub async fn end_at(&self, lease: Lease, end: i64, now: Timestamp) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let channel = queue::hold(&transaction, lease).await?;
        let sql = "UPDATE part SET digest = '' WHERE turn = $1 AND position >= $2 AND digest <> '' RETURNING position";
        for mut row in transaction.rows(sql, [Value::from(lease.turn), Value::from(end)]).await? {
            let part = [Value::from(lease.turn), Value::from(row.number("part.position")?)];
            outbox::put_for(&transaction, channel, &Deed::TakeBack { channel }, now, part).await?;
        }
        transaction.commit().await
    }

    /// Returns what was said of a turn's answer, in order.
    pub async fn places(&self, turn: i64) -> Result<Vec<Place>, Error> {
        let transaction = self.begin().await?;
        let sql = "SELECT position, message FROM part WHERE turn = $1 AND digest <> '' ORDER BY position";
        let rows = transaction.rows(sql, [Value::from(turn)]).await?;
        transaction.commit().await?;
        let read = |mut row: super::row::Row| {
            Ok(Place { position: row.number("part.position")?, message: row.maybe_parsed("part.message")? })
        };
        rows.into_iter().map(read).collect()
    }
}

/// Returns what a piece says now, for the message that is there.
fn as_change(deed: &Deed) -> Deed {
    match deed {
        Deed::Say { channel, text, buttons, menu, file, handed, .. } => Deed::Change {
            channel: *channel,
            text: text.clone(),
            buttons: buttons.clone(),
            menu: menu.clone(),
            file: file.clone(),
            handed: handed.clone(),
        },
        Deed::OpenThread { .. } | Deed::Change { .. } | Deed::TakeBack { .. } | Deed::Begin { .. } => {
            deed.clone()
        }
    }
}

fn digest(deed: &Deed) -> String {
    let Value::Text(text) = Value::json(deed) else { return String::new() };
    data_encoding::HEXLOWER.encode(&Sha256::digest(text))
}
