//! What the daemon keeps: one database, SQLite by default and Postgres by URL, between `serve` and `work`.
//!
//! Each table has its own file with the statements that touch it; they are the same for both databases but where one
//! says so. Whatever is decided is written together with its audit row, in one transaction.

pub(crate) mod accounts;
pub(crate) mod approvals;
pub(crate) mod audit;
mod database;
pub(crate) mod gateway;
pub(crate) mod intake;
pub(crate) mod links;
pub(crate) mod migrations;
pub(crate) mod offered;
pub(crate) mod outbox;
pub(crate) mod overview;
pub(crate) mod parts;
pub(crate) mod policies;
mod postgres;
pub(crate) mod queue;
pub(crate) mod recollection;
mod row;
mod seen;
mod sqlite;
pub(crate) mod standing;
pub(crate) mod status;
mod sweep;
pub(crate) mod threads;
mod turns;
mod workers;

use std::path::PathBuf;

use fro_core::{Fault, Secret, fault::Retry};
use jiff::Timestamp;
use rusqlite::ErrorCode;
use tokio_postgres::error::SqlState;

use self::{
    database::{Database, Transaction},
    migrations::SchemaVersion,
};

/// Where the daemon keeps what it knows.
#[derive(Debug, Clone)]
pub enum Address {
    /// A file of SQLite.
    File(PathBuf),
    /// A URL of Postgres, which may have a password in it.
    Url(Secret),
}

impl Address {
    /// Reads a URL of Postgres, or else a path.
    pub fn read(text: &str) -> Self {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            Self::Url(Secret::new(text))
        } else {
            Self::File(PathBuf::from(text))
        }
    }
}

/// The daemon's database.
#[derive(Debug, Clone)]
pub struct Store {
    database: Database,
}

/// What went wrong with the database.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address of the database is none.
    #[error("cannot read the address of the database: {0}")]
    Address(String),
    /// The file of the database cannot be made.
    #[error("cannot make the folder of the database")]
    Folder(#[source] std::io::Error),
    /// SQLite said no.
    #[error("the database refused: {deed}")]
    Sqlite {
        /// What was to be done.
        deed: String,
        /// What it said.
        source: rusqlite::Error,
    },
    /// Postgres said no, or was not there.
    #[error("the database refused: {deed}")]
    Postgres {
        /// What was to be done.
        deed: String,
        /// What it said.
        source: tokio_postgres::Error,
    },
    /// No TLS can be spoken.
    #[error("cannot speak TLS to the database")]
    Tls(#[source] rustls::Error),
    /// The database has been used by a newer version of this program.
    #[error("the database has version {found}, this fro-bot knows up to {known}")]
    Newer {
        /// Its version.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// The database holds what this program never writes.
    #[error("the database holds something unexpected in `{column}`: {what}")]
    Unexpected {
        /// In which column.
        column: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// The turn is in other hands by now, or done.
    #[error("turn {turn} is not this worker's any more")]
    Stale {
        /// Which turn.
        turn: i64,
    },
}

impl Error {
    /// Tells who has to act.
    pub fn fault(&self) -> Fault {
        let mut what = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            what = format!("{what}: {error}");
            cause = error.source();
        }
        match self {
            Self::Address(_) => {
                Fault::yours(what, "give a path, or a URL like `postgres://user@host/database`")
            }
            Self::Folder(_) => Fault::yours(what, "give a path in a folder that this user can write to"),
            Self::Newer { .. } => Fault::yours(what, "start the fro-bot that is newer, or restore a backup"),
            Self::Sqlite { source, .. } => match remedy(source) {
                Some(hint) => Fault::yours(what, hint),
                None => Fault::upstream(what, Retry::Later),
            },
            Self::Postgres { source, .. } if is_turned_away(source) => {
                Fault::yours(what, "check the user, the password and the database of the URL")
            }
            Self::Postgres { .. } | Self::Tls(_) => Fault::upstream(what, Retry::Later),
            Self::Unexpected { .. } | Self::Stale { .. } => Fault::ours(what),
        }
    }
}

/// Says what to do about a file that SQLite cannot use. What passes by itself, such as a lock, has no remedy.
fn remedy(error: &rusqlite::Error) -> Option<&'static str> {
    match error.sqlite_error_code()? {
        ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
            Some("give a path in a folder that this user can write to")
        }
        ErrorCode::DiskFull | ErrorCode::SystemIoFailure => {
            Some("make room on the disk of the database, and see that it is sound")
        }
        ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
            Some("give the path of a database that `fro-bot serve` made, or restore a backup")
        }
        _ => None,
    }
}

/// Tells whether a server is there and does not want us: it has no such user or database, or not with this password.
fn is_turned_away(error: &tokio_postgres::Error) -> bool {
    let turned_away = [
        SqlState::INVALID_PASSWORD,
        SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        SqlState::INVALID_CATALOG_NAME,
        SqlState::INSUFFICIENT_PRIVILEGE,
    ];
    error.code().is_some_and(|code| turned_away.contains(code))
}

impl Store {
    /// Opens the database, which is made or brought up to date if need be.
    pub async fn open(address: &Address) -> Result<Self, Error> {
        let database = connect(address)?;
        migrations::apply(&database).await?;
        Ok(Self { database })
    }

    /// Tells which shape a database has. A file that is not there is made, and stays empty.
    pub async fn version(address: &Address) -> Result<SchemaVersion, Error> {
        migrations::version(&connect(address)?).await
    }

    async fn begin(&self) -> Result<Transaction, Error> {
        self.database.begin().await
    }
}

fn connect(address: &Address) -> Result<Database, Error> {
    Ok(match address {
        Address::File(path) => Database::Sqlite(sqlite::Sqlite::open(path)?),
        Address::Url(url) => Database::Postgres(postgres::Postgres::open(url)?),
    })
}

/// Times are kept as milliseconds.
fn milliseconds(time: Timestamp) -> i64 {
    time.as_millisecond()
}
