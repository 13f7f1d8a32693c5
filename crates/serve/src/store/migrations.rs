//! The shape of the database, by numbered steps. A step that was once published is never changed.

use super::{
    Error,
    database::{Database, Transaction},
    row::Value,
};

/// Each step, for SQLite and for Postgres.
const STEPS: [(&str, &str); 6] = [
    (include_str!("migrations/1.sqlite.sql"), include_str!("migrations/1.postgres.sql")),
    (include_str!("migrations/2.sqlite.sql"), include_str!("migrations/2.postgres.sql")),
    (include_str!("migrations/3.sqlite.sql"), include_str!("migrations/3.postgres.sql")),
    (include_str!("migrations/4.sqlite.sql"), include_str!("migrations/4.postgres.sql")),
    (include_str!("migrations/5.sqlite.sql"), include_str!("migrations/5.postgres.sql")),
    (include_str!("migrations/6.sqlite.sql"), include_str!("migrations/6.postgres.sql")),
];

/// Which shape a database has, and which one this program gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaVersion {
    /// The step that was done last; none in an empty database.
    pub found: i64,
    /// The last step that is known here.
    pub known: i64,
}

/// Tells which shape a database has, and changes nothing.
pub(super) async fn version(database: &Database) -> Result<SchemaVersion, Error> {
    let transaction = database.begin().await?;
    let sql = match &transaction {
        Transaction::Sqlite(_) => "SELECT count(*) FROM sqlite_master WHERE name = 'schema_version'",
        Transaction::Postgres(_) => "SELECT count(*) FROM pg_tables WHERE tablename = 'schema_version'",
    };
    let there = transaction.row(sql, []).await?.map_or(Ok(0), |mut row| row.number("count"))?;
    let found = match there {
        0 => None,
        _ => transaction.row("SELECT number FROM schema_version", []).await?,
    };
    let found = found.map_or(Ok(0), |mut row| row.number("schema_version.number"))?;
    transaction.cancel().await?;
    Ok(SchemaVersion { found, known: known() })
}

fn known() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Brings a database up to date. Of several processes that start at once, one does it.
pub(super) async fn apply(database: &Database) -> Result<(), Error> {
    let transaction = database.begin().await?;
    if let Transaction::Postgres(_) = &transaction {
        // The number is ours alone: "fro-bot" as letters.
        transaction
            .row("SELECT pg_advisory_xact_lock($1)::text", [Value::from(28_836_041_733_926_772)])
            .await?;
    }
    transaction.script("CREATE TABLE IF NOT EXISTS schema_version (number BIGINT NOT NULL)").await?;
    let row = transaction.row("SELECT number FROM schema_version", []).await?;
    let found = row.map(|mut row| row.number("schema_version.number")).transpose()?;
    let known = known();
    if found.is_some_and(|found| found > known) {
        return Err(Error::Newer { found: found.unwrap_or(0), known });
    }
    let done = usize::try_from(found.unwrap_or(0)).unwrap_or(0);
    for (sqlite, postgres) in &STEPS[done..] {
        let step = match &transaction {
            Transaction::Sqlite(_) => sqlite,
            Transaction::Postgres(_) => postgres,
        };
        transaction.script(step).await?;
    }
    let sql = match found {
        Some(_) => "UPDATE schema_version SET number = $1",
        None => "INSERT INTO schema_version (number) VALUES ($1)",
    };
    transaction.rows(sql, [Value::from(known)]).await?;
    transaction.commit().await
}
