//! The two databases as one: transactions and statements.

use super::{
    Error,
    postgres::{self, Postgres},
    row::{Row, Value},
    sqlite::{self, Sqlite},
};

/// Which database.
#[derive(Debug, Clone)]
pub(super) enum Database {
    /// A file on this machine.
    Sqlite(Sqlite),
    /// A server.
    Postgres(Postgres),
}

impl Database {
    pub(super) async fn begin(&self) -> Result<Transaction, Error> {
        Ok(match self {
            Self::Sqlite(sqlite) => Transaction::Sqlite(sqlite.begin().await?),
            Self::Postgres(postgres) => Transaction::Postgres(postgres.begin().await?),
        })
    }
}

/// Statements that all happen or none. Dropped without a commit, none did.
pub(super) enum Transaction {
    /// In the file.
    Sqlite(sqlite::SqliteWork),
    /// On the server.
    Postgres(postgres::PostgresWork),
}

impl Transaction {
    /// Runs a statement with `$1`, `$2` … and returns the rows of its answer.
    pub(super) async fn rows<const N: usize>(
        &self,
        sql: &str,
        values: [Value; N],
    ) -> Result<Vec<Row>, Error> {
        match self {
            Self::Sqlite(work) => work.rows(sql, values.into()).await,
            Self::Postgres(work) => work.rows(sql, values.into()).await,
        }
    }

    /// Runs a statement and returns the first row of its answer.
    pub(super) async fn row<const N: usize>(
        &self,
        sql: &str,
        values: [Value; N],
    ) -> Result<Option<Row>, Error> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// Runs several statements.
    pub(super) async fn script(&self, sql: &str) -> Result<(), Error> {
        match self {
            Self::Sqlite(work) => work.script(sql).await,
            Self::Postgres(work) => work.script(sql).await,
        }
    }

    pub(super) async fn commit(self) -> Result<(), Error> {
        match self {
            Self::Sqlite(work) => work.commit().await,
            Self::Postgres(work) => work.commit().await,
        }
    }

    /// Ends it as if it had never begun, and keeps the connection, unlike a drop.
    pub(super) async fn cancel(self) -> Result<(), Error> {
        match self {
            Self::Sqlite(work) => work.cancel().await,
            Self::Postgres(work) => work.cancel().await,
        }
    }
}
