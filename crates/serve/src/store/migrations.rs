//! The shape of the database, by numbered steps. A step that was once published is never changed.

use super::{
    Error,
    database::{Database, Transaction},
    row::Value,
};

/// Each step, for SQLite and for Postgres.
const STEPS: [(&str, &str); 2] = [
    (include_str!("migrations/1.sqlite.sql"), include_str!("migrations/1.postgres.sql")),
    (include_str!("migrations/2.sqlite.sql"), include_str!("migrations/2.postgres.sql")),
];

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
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
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
