//! The rows of whole sessions: removed, or copied from one database to another.

use rusqlite::Connection;

use crate::schema::{Column, SessionTables, Table, columns, quoted};

/// Removes sessions with everything that belongs to them.
pub(crate) fn remove_all(
    connection: &Connection,
    group: &SessionTables,
    sessions: &[String],
) -> rusqlite::Result<()> {
    if sessions.is_empty() {
        return Ok(());
    }
    connection.execute_batch("CREATE TEMP TABLE doomed (id text PRIMARY KEY)")?;
    for session in sessions {
        connection.execute("INSERT OR IGNORE INTO temp.doomed VALUES (?1)", [session])?;
    }
    // Rows that hang on other rows go first, while it can still be seen whose they are.
    for table in group.tables.iter().rev() {
        let (owner, name) = (group.owner("main", table), quoted(&table.name));
        connection
            .execute(&format!("DELETE FROM main.{name} WHERE {owner} IN (SELECT id FROM temp.doomed)"), [])?;
    }
    for table in ["event", "event_sequence"] {
        if connection.table_exists(Some("main"), table)? {
            let sql = format!("DELETE FROM main.{table} WHERE aggregate_id IN (SELECT id FROM temp.doomed)");
            connection.execute(&sql, [])?;
        }
    }
    connection.execute_batch("DROP TABLE temp.doomed")
}

/// Copies a session that is not there yet from the attached database `other`.
pub(crate) fn copy(connection: &Connection, group: &SessionTables, session: &str) -> rusqlite::Result<()> {
    for table in &group.tables {
        let Some(shared) = shared(connection, table)? else { continue };
        let (name, columns) = (quoted(&table.name), shared.join(", "));
        let owner = group.owner("other", table);
        let sql = format!(
            "INSERT OR IGNORE INTO main.{name} ({columns}) SELECT {columns} FROM other.{name} WHERE {owner} = ?1"
        );
        connection.execute(&sql, [session])?;
    }
    bring_project(connection, session)
}

/// Raises a session's place in the event log to the higher of both, so that the engine never counts an event twice.
pub(crate) fn raise_sequence(connection: &Connection, from: &str, session: &str) -> rusqlite::Result<()> {
    for schema in ["main", "other"] {
        if !connection.table_exists(Some(schema), "event_sequence")? {
            return Ok(());
        }
    }
    let sql = "INSERT INTO main.event_sequence (aggregate_id, seq) \
               SELECT ?2, seq FROM other.event_sequence WHERE aggregate_id = ?1 \
               ON CONFLICT (aggregate_id) DO UPDATE SET seq = max(seq, excluded.seq), owner_id = NULL";
    connection.execute(sql, [from, session]).map(drop)
}

/// Returns the quoted columns that both databases have, or nothing if the other one lacks the table.
pub(crate) fn shared(connection: &Connection, table: &Table) -> rusqlite::Result<Option<Vec<String>>> {
    let theirs = columns(connection, "other", &table.name)?;
    if theirs.is_empty() {
        return Ok(None);
    }
    let is_shared = |column: &&Column| theirs.iter().any(|known| known.name == column.name);
    Ok(Some(table.columns.iter().filter(is_shared).map(|column| quoted(&column.name)).collect()))
}

/// Tells whether a row of the other database says enough for this one.
pub(crate) fn is_enough(connection: &Connection, group: &SessionTables) -> rusqlite::Result<bool> {
    for table in &group.tables {
        let theirs = columns(connection, "other", &table.name)?;
        let lacks =
            |column: &Column| column.is_required && !theirs.iter().any(|known| known.name == column.name);
        if !theirs.is_empty() && table.columns.iter().any(lacks) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Brings the project of a session along; one that is there stays as it is.
fn bring_project(connection: &Connection, session: &str) -> rusqlite::Result<()> {
    for schema in ["main", "other"] {
        if !connection.table_exists(Some(schema), "project")? {
            return Ok(());
        }
    }
    let theirs = columns(connection, "other", "project")?;
    let shared: Vec<_> = columns(connection, "main", "project")?
        .into_iter()
        .filter(|column| theirs.iter().any(|known| known.name == column.name))
        .map(|column| quoted(&column.name))
        .collect();
    let columns = shared.join(", ");
    let sql = format!(
        "INSERT OR IGNORE INTO main.project ({columns}) SELECT {columns} FROM other.project \
         WHERE id = (SELECT project_id FROM main.session WHERE id = ?1)"
    );
    connection.execute(&sql, [session]).map(drop)
}
