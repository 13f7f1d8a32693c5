//! Takes a consistent copy of the engine's database and takes out what must never be stored.

use std::path::Path;

use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
    ffi,
};

use crate::{
    database::{self, judge},
    error::Error,
    schema::columns,
};

/// Emptied in every copy: tokens and secrets, grants that the agent could have written itself, and the event log,
/// which repeats what the messages say.
///
/// `event_sequence` stays, or the engine would count the next event as one that it has seen.
pub(crate) const EMPTIED: [&str; 8] = [
    "account",
    "account_state",
    "control_account",
    "credential",
    "session_share",
    "permission",
    "workspace",
    "event",
];

/// Columns that lead the engine to do something, or somewhere, and that a run sets for itself.
const CLEARED: [(&str, &str, &str); 3] =
    [("session", "workspace_id", "NULL"), ("project", "commands", "NULL"), ("project", "sandboxes", "'[]'")];

/// Copies a database into a new file; the engine may be running and writing.
pub(crate) fn take(database: &Path, copy: &Path) -> Result<(), Error> {
    let fail = judge("copy the database");
    let source = database::open(database)?;
    database::refuse_foreign(&source)?;
    let mut target = Connection::open(copy).map_err(&fail)?;
    target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").map_err(&fail)?;
    duplicate(&source, &mut target).map_err(fail)
}

/// Copies all pages in one step: in smaller ones it starts anew at each write of the engine and never ends.
fn duplicate(source: &Connection, into: &mut Connection) -> rusqlite::Result<()> {
    match Backup::new(source, into)?.step(-1)? {
        StepResult::Done => Ok(()),
        _ => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)),
    }
}

/// Empties what must not be stored.
pub(crate) fn empty(copy: &Connection) -> Result<(), Error> {
    let fail = judge("empty tables of the copy");
    for table in EMPTIED {
        if copy.table_exists(None, table).map_err(&fail)? {
            copy.execute(&format!("DELETE FROM {table}"), []).map_err(&fail)?;
        }
    }
    for (table, column, value) in CLEARED {
        let columns = columns(copy, "main", table).map_err(&fail)?;
        if columns.iter().any(|known| known.name == column) {
            let sql = format!("UPDATE {table} SET {column} = {value} WHERE {column} IS NOT {value}");
            copy.execute(&sql, []).map_err(&fail)?;
        }
    }
    Ok(())
}

/// Removes the files that came with messages, and what the engine made of them: what was attached is not remembered,
/// however the run ended. Returns how many parts went.
pub(crate) fn drop_files(copy: &Connection) -> Result<usize, Error> {
    let fail = judge("leave out attached files");
    if !copy.table_exists(None, "part").map_err(&fail)? {
        return Ok(0);
    }
    let sql = "WITH file AS MATERIALIZED (SELECT id, message_id FROM part \
                   WHERE json_valid(data) AND data ->> '$.type' = 'file') \
               DELETE FROM part WHERE id IN (SELECT id FROM file) \
               OR (message_id IN (SELECT message_id FROM file) AND json_valid(data) AND data ->> '$.synthetic')";
    copy.execute(sql, []).map_err(fail)
}
