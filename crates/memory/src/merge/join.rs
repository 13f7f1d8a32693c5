//! Two continuations of one session become one: the other side's new turns are moved behind the target's.
//!
//! Turns stay whole and in order, because only times are shifted: in the column, and in the JSON that must agree with
//! it. Joining the same thing again changes nothing.

use rusqlite::Connection;

use super::rows;
use crate::schema::{SessionTables, quoted};

/// Tables whose rows are joined here one by one.
const KNOWN: [&str; 5] = ["session", "message", "part", "todo", "session_share"];

/// Columns of a session that are sums over its messages, with their place in a message.
const SUMS: [(&str, &str); 6] = [
    ("cost", "$.cost"),
    ("tokens_input", "$.tokens.input"),
    ("tokens_output", "$.tokens.output"),
    ("tokens_reasoning", "$.tokens.reasoning"),
    ("tokens_cache_read", "$.tokens.cache.read"),
    ("tokens_cache_write", "$.tokens.cache.write"),
];

/// Tells whether joining would hide or mix up what was said.
///
/// A compaction hides what came before it, a revert hides what comes after, and tables that we do not know cannot be
/// told how to follow each other.
pub(crate) fn is_hard(
    connection: &Connection,
    group: &SessionTables,
    session: &str,
) -> rusqlite::Result<bool> {
    let exists =
        |sql: &str| connection.query_one(&format!("SELECT EXISTS ({sql})"), [session], |row| row.get(0));
    let compacted = "SELECT 1 FROM other.part WHERE session_id = ?1 AND json_valid(data) \
                     AND data ->> '$.type' = 'compaction' AND message_id NOT IN (SELECT id FROM main.message)";
    if group.table("part").is_some() && exists(compacted)? {
        return Ok(true);
    }
    if has_column(group, "session", "revert") {
        let reverted = "SELECT 1 FROM main.session WHERE id = ?1 AND revert IS NOT NULL \
                        UNION ALL SELECT 1 FROM other.session WHERE id = ?1 AND revert IS NOT NULL";
        if exists(reverted)? {
            return Ok(true);
        }
    }
    for table in group.tables.iter().filter(|table| !KNOWN.contains(&table.name.as_str())) {
        let Some(shared) = rows::shared(connection, table)? else { continue };
        let (columns, name) = (shared.join(", "), quoted(&table.name));
        let (main, other) = (group.owner("main", table), group.owner("other", table));
        let missing = format!(
            "SELECT {columns} FROM other.{name} WHERE {other} = ?1 EXCEPT SELECT {columns} FROM main.{name} WHERE {main} = ?1"
        );
        if exists(&missing)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Joins the other side's turns to the target's.
pub(crate) fn join(
    connection: &Connection,
    group: &SessionTables,
    session: &str,
    has_base: bool,
) -> rusqlite::Result<()> {
    if has_column(group, "message", "time_created") {
        newer_messages(connection, group, session)?;
        new_messages(connection, group, session)?;
    }
    new_parts(connection, group, session)?;
    if has_base {
        session_row(connection, group, session)?;
    }
    if group.table("todo").is_some() {
        todo(connection, group, session, has_base)?;
    }
    sums(connection, group, session)?;
    rows::raise_sequence(connection, session, session)
}

/// A message that both sides have and wrote on: the newer one stands, with its parts.
fn newer_messages(connection: &Connection, group: &SessionTables, session: &str) -> rusqlite::Result<()> {
    let (Some(table), Some(parts)) = (group.table("message"), group.table("part")) else { return Ok(()) };
    let sql = "SELECT other.message.id FROM other.message JOIN main.message USING (id) WHERE other.message.session_id = ?1 \
               AND other.message.time_updated > main.message.time_updated";
    let newer: Vec<String> =
        connection.prepare(sql)?.query_map([session], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for id in newer {
        connection.execute("DELETE FROM main.part WHERE message_id = ?1", [&id])?;
        connection.execute("DELETE FROM main.message WHERE id = ?1", [&id])?;
        for (table, key) in [(table, "id"), (parts, "message_id")] {
            let Some(shared) = rows::shared(connection, table)? else { continue };
            let (name, columns) = (quoted(&table.name), shared.join(", "));
            let sql = format!(
                "INSERT INTO main.{name} ({columns}) SELECT {columns} FROM other.{name} WHERE {key} = ?1"
            );
            connection.execute(&sql, [&id])?;
        }
    }
    Ok(())
}

/// Inserts the messages that only the other side has, as far behind as it takes.
fn new_messages(connection: &Connection, group: &SessionTables, session: &str) -> rusqlite::Result<()> {
    let Some(table) = group.table("message") else { return Ok(()) };
    let Some(shared) = rows::shared(connection, table)? else { return Ok(()) };
    let last = "SELECT max(max(time_created, coalesce(iif(json_valid(data), data ->> '$.time.completed', 0), 0))) \
                FROM main.message WHERE session_id = ?1";
    let first = "SELECT min(time_created) FROM other.message WHERE session_id = ?1 AND id NOT IN (SELECT id FROM main.message)";
    let shift: i64 = connection.query_one(
        &format!("SELECT max(0, 1 + coalesce(({last}), 0) - coalesce(({first}), 0))"),
        [session],
        |row| row.get(0),
    )?;
    let moved: Vec<_> = shared.iter().map(|column| moved(column, shift)).collect();
    let sql = format!(
        "INSERT INTO main.message ({}) SELECT {} FROM other.message WHERE session_id = ?1 AND id NOT IN (SELECT id FROM main.message)",
        shared.join(", "),
        moved.join(", ")
    );
    connection.execute(&sql, [session]).map(drop)
}

/// Returns a column of a message as it is after a shift.
fn moved(column: &str, shift: i64) -> String {
    match column {
        _ if shift == 0 => column.to_owned(),
        "\"time_created\"" | "\"time_updated\"" => format!("{column} + {shift}"),
        "\"data\"" => {
            let step = |data: &str, place: &str| {
                format!(
                    "iif(json_type({data}, '{place}') IS NULL, {data}, json_set({data}, '{place}', ({data} ->> '{place}') + {shift}))"
                )
            };
            let shifted = step(&step("data", "$.time.created"), "$.time.completed");
            format!("iif(json_valid(data), {shifted}, data)")
        }
        _ => column.to_owned(),
    }
}

fn new_parts(connection: &Connection, group: &SessionTables, session: &str) -> rusqlite::Result<()> {
    let Some(table) = group.table("part") else { return Ok(()) };
    let Some(shared) = rows::shared(connection, table)? else { return Ok(()) };
    let columns = shared.join(", ");
    let sql = format!(
        "INSERT INTO main.part ({columns}) SELECT {columns} FROM other.part WHERE session_id = ?1 \
         AND id NOT IN (SELECT id FROM main.part) AND message_id IN (SELECT id FROM main.message WHERE session_id = ?1)"
    );
    connection.execute(&sql, [session]).map(drop)
}

/// Takes over what the other side changed about the session itself.
fn session_row(connection: &Connection, group: &SessionTables, session: &str) -> rusqlite::Result<()> {
    let Some(table) = group.table("session") else { return Ok(()) };
    let based: Vec<_> = crate::schema::columns(connection, "base", "session")?;
    for column in rows::shared(connection, table)?.unwrap_or_default() {
        if !based.iter().any(|known| quoted(&known.name) == column) {
            continue;
        }
        let sql = format!(
            "UPDATE main.session SET {column} = (SELECT {column} FROM other.session WHERE id = ?1) WHERE id = ?1 \
             AND (SELECT {column} FROM other.session WHERE id = ?1) IS NOT (SELECT {column} FROM base.session WHERE id = ?1) \
             AND EXISTS (SELECT 1 FROM base.session WHERE id = ?1)"
        );
        connection.execute(&sql, [session])?;
    }
    Ok(())
}

/// Takes the whole list of one side: the other's if it changed, for lines of two lists make none.
fn todo(
    connection: &Connection,
    group: &SessionTables,
    session: &str,
    has_base: bool,
) -> rusqlite::Result<()> {
    let Some(table) = group.table("todo") else { return Ok(()) };
    let Some(shared) = rows::shared(connection, table)? else { return Ok(()) };
    let columns = shared.join(", ");
    let before = if has_base { "base" } else { "main" };
    let lines = |schema: &str| format!("SELECT {columns} FROM {schema}.todo WHERE session_id = ?1");
    let (other, before) = (lines("other"), lines(before));
    let differs = format!(
        "SELECT EXISTS (SELECT * FROM ({other}) EXCEPT {before}) OR EXISTS (SELECT * FROM ({before}) EXCEPT {other})"
    );
    let is_changed: bool = connection.query_one(&differs, [session], |row| row.get(0))?;
    let is_empty: bool = connection.query_one(
        "SELECT NOT EXISTS (SELECT 1 FROM main.todo WHERE session_id = ?1)",
        [session],
        |row| row.get(0),
    )?;
    if is_changed && (has_base || is_empty) {
        connection.execute("DELETE FROM main.todo WHERE session_id = ?1", [session])?;
        connection.execute(&format!("INSERT INTO main.todo ({columns}) {other}"), [session])?;
    }
    Ok(())
}

/// Counts anew what the engine keeps as sums over the messages.
fn sums(connection: &Connection, group: &SessionTables, session: &str) -> rusqlite::Result<()> {
    for (column, place) in SUMS.iter().filter(|(column, _)| has_column(group, "session", column)) {
        let sql = format!(
            "UPDATE main.session SET {column} = (SELECT coalesce(sum(iif(json_valid(data), data ->> '{place}', 0)), 0) \
             FROM main.message WHERE session_id = ?1) WHERE id = ?1"
        );
        connection.execute(&sql, [session])?;
    }
    if has_column(group, "session", "time_updated") && has_column(group, "message", "time_updated") {
        let sql = "UPDATE main.session SET time_updated = max(time_updated, \
                   coalesce((SELECT max(time_updated) FROM main.message WHERE session_id = ?1), 0)) WHERE id = ?1";
        connection.execute(sql, [session])?;
    }
    Ok(())
}

fn has_column(group: &SessionTables, table: &str, column: &str) -> bool {
    group.table(table).is_some_and(|table| table.columns.iter().any(|known| known.name == column))
}
