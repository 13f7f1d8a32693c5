//! Who decided what: rows that are only ever added, each with a hash over itself and the row before it.
//!
//! The database refuses to change or remove a row. Whoever has the database itself can still rewrite all of it; so the
//! last hash is printed by every check, and one that was noted elsewhere can be asked for later.

use fro_core::chat::{AuditEntry, GuildId};
use sha2::{Digest as _, Sha256};

use super::{
    Error, Store,
    database::Transaction,
    row::{Row, Value},
};

/// Rows that are read at a time.
const PAGE: i64 = 500;

/// An entry where it stands in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    /// Its number, from 1.
    pub number: i64,
    /// What was decided.
    pub entry: AuditEntry,
    /// Its hash.
    pub hash: String,
}

/// The end of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// How many entries there are.
    pub entries: i64,
    /// The hash of the last one, empty if there is none.
    pub hash: String,
}

/// A chain that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A row is missing or stands out of order.
    #[error("entry {0} is missing")]
    Missing(i64),
    /// A row does not fit the one before it.
    #[error("entry {0} does not continue the entry before it")]
    Detached(i64),
    /// A row is not what it was when it was written.
    #[error("entry {0} was changed after it was written")]
    Changed(i64),
    /// The last rows are missing, or there are more than were written.
    #[error("the audit ends at entry {found}, but {written} were written")]
    Cut {
        /// The last entry that is there.
        found: i64,
        /// How many there should be.
        written: i64,
    },
    /// A hash that was noted earlier is nowhere in the chain.
    #[error("no entry has the hash {0}: the audit was rewritten since it was noted")]
    Unknown(String),
}

impl Store {
    /// Writes down a decision that changes nothing here, such as a refusal.
    pub async fn record(&self, entry: &AuditEntry) -> Result<(), Error> {
        let transaction = self.begin().await?;
        append(&transaction, entry).await?;
        transaction.commit().await
    }

    /// Returns the last entries of a guild, newest first.
    pub async fn audited(&self, guild: GuildId, limit: i64) -> Result<Vec<Audited>, Error> {
        let transaction = self.begin().await?;
        let (mut found, mut before) = (Vec::new(), i64::MAX);
        while found.len() < usize::try_from(limit).unwrap_or(0) {
            let page = below(&transaction, before, PAGE).await?;
            let Some(last) = page.last() else { break };
            before = last.number;
            found.extend(page.into_iter().filter(|audited| audited.entry.guild == guild));
        }
        found.truncate(usize::try_from(limit).unwrap_or(0));
        transaction.commit().await?;
        Ok(found)
    }

    /// Checks the whole chain, and that a hash which was noted earlier is in it.
    pub async fn verify_audit(&self, noted: Option<&str>) -> Result<Result<Head, Broken>, Error> {
        let transaction = self.begin().await?;
        let mut chain = Chain { head: Head { entries: 0, hash: String::new() }, noted };
        loop {
            let sql =
                "SELECT number, body, previous, hash FROM audit WHERE number > $1 ORDER BY number LIMIT $2";
            let rows = transaction.rows(sql, [Value::from(chain.head.entries), Value::from(PAGE)]).await?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                if let Err(broken) = chain.follow(Chained::read(row)?) {
                    return Ok(Err(broken));
                }
            }
        }
        let head = head(&transaction).await?;
        transaction.commit().await?;
        Ok(chain.end(&head))
    }
}

/// Adds an entry, in the transaction of what it tells.
pub(super) async fn append(transaction: &Transaction, entry: &AuditEntry) -> Result<(), Error> {
    // The update is the lock: a second writer waits here until this transaction has ended.
    let sql = "UPDATE audit_head SET number = number + 1 RETURNING number, hash";
    let mut row = first(transaction.row(sql, []).await?)?;
    let (number, previous) = (row.number("audit_head.number")?, row.text("audit_head.hash")?);
    let Value::Text(body) = Value::json(entry) else { return Err(missing()) };
    let hash = hash(number, &previous, &body);
    let values = [Value::from(number), Value::Text(body), Value::Text(previous), Value::text(&hash)];
    let sql = "INSERT INTO audit (number, body, previous, hash) VALUES ($1, $2, $3, $4)";
    transaction.rows(sql, values).await?;
    transaction.rows("UPDATE audit_head SET hash = $1", [Value::Text(hash)]).await?;
    Ok(())
}

/// Returns the last entries before a number, newest first.
pub(super) async fn below(transaction: &Transaction, number: i64, most: i64) -> Result<Vec<Audited>, Error> {
    let sql =
        "SELECT number, body, previous, hash FROM audit WHERE number < $1 ORDER BY number DESC LIMIT $2";
    let rows = transaction.rows(sql, [Value::from(number), Value::from(most)]).await?;
    let audited = |row| {
        let link = Chained::read(row)?;
        Ok(Audited { number: link.number, entry: link.entry()?, hash: link.hash })
    };
    rows.into_iter().map(audited).collect()
}

async fn head(transaction: &Transaction) -> Result<Head, Error> {
    let mut row = first(transaction.row("SELECT number, hash FROM audit_head", []).await?)?;
    Ok(Head { entries: row.number("audit_head.number")?, hash: row.text("audit_head.hash")? })
}

fn first(row: Option<Row>) -> Result<Row, Error> {
    row.ok_or_else(missing)
}

fn missing() -> Error {
    super::row::unexpected("audit_head", "its one row is not there")
}

fn hash(number: i64, previous: &str, body: &str) -> String {
    let mut hash = Sha256::new();
    // Lengths are part of it, or the same bytes could be cut elsewhere.
    hash.update(format!("fro-bot audit 1\n{number}\n{previous}\n{}\n{body}", body.len()));
    data_encoding::HEXLOWER.encode(&hash.finalize())
}

/// A row of the chain as it was read.
struct Chained {
    number: i64,
    body: String,
    previous: String,
    hash: String,
}

impl Chained {
    fn read(mut row: Row) -> Result<Self, Error> {
        Ok(Self {
            number: row.number("audit.number")?,
            body: row.text("audit.body")?,
            previous: row.text("audit.previous")?,
            hash: row.text("audit.hash")?,
        })
    }

    fn entry(&self) -> Result<AuditEntry, Error> {
        serde_json::from_str(&self.body).map_err(|error| super::row::unexpected("audit.body", error))
    }
}

/// The chain as far as it was followed.
struct Chain<'a> {
    head: Head,
    noted: Option<&'a str>,
}

impl Chain<'_> {
    fn follow(&mut self, row: Chained) -> Result<(), Broken> {
        let expected = self.head.entries + 1;
        if row.number != expected {
            return Err(Broken::Missing(expected));
        }
        if row.previous != self.head.hash {
            return Err(Broken::Detached(row.number));
        }
        if row.hash != hash(row.number, &row.previous, &row.body) {
            return Err(Broken::Changed(row.number));
        }
        self.noted = self.noted.filter(|noted| *noted != row.hash);
        self.head = Head { entries: row.number, hash: row.hash };
        Ok(())
    }

    fn end(self, written: &Head) -> Result<Head, Broken> {
        if self.head != *written {
            return Err(Broken::Cut { found: self.head.entries, written: written.entries });
        }
        match self.noted {
            Some(noted) => Err(Broken::Unknown(noted.to_owned())),
            None => Ok(self.head),
        }
    }
}
