//! Takes a consistent copy of the engine's database and takes out what must never be stored.
//!
//! No page is moved but once: when a memory is adopted, it is rewritten so that SQLite can give back free pages later.
//! After that the pages keep their places, and a save is as small as what was said.

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

/// Free pages, in percent of all, from which on they are given back.
const MUCH_FREE: u64 = 10;

/// Free pages, in percent of all, for which even a database that cannot give them back is rewritten.
const MOSTLY_FREE: u64 = 50;

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

/// Whether the store knows pages of a database already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adoption {
    First,
    Known,
}

/// Gives back free pages, without moving more than it must, and returns how many bytes stay free.
pub(crate) fn shrink(copy: &Connection, adoption: Adoption) -> Result<u64, Error> {
    let fail = judge("give back free pages");
    let number =
        |name: &str| copy.query_one(&format!("PRAGMA {name}"), [], |row| row.get::<_, u32>(0).map(u64::from));
    let (pages, free) = (number("page_count").map_err(&fail)?, number("freelist_count").map_err(&fail)?);
    let is_fixed = number("auto_vacuum").map_err(&fail)? == 0;
    if is_fixed && (adoption == Adoption::First || free * 100 > pages * MOSTLY_FREE) {
        copy.execute_batch("PRAGMA auto_vacuum = 2; VACUUM").map_err(&fail)?;
    } else if free * 100 > pages * MUCH_FREE {
        // Each step gives back one page.
        let mut statement = copy.prepare("PRAGMA incremental_vacuum").map_err(&fail)?;
        let mut rows = statement.query([]).map_err(&fail)?;
        while rows.next().map_err(&fail)?.is_some() {}
    }
    Ok(number("freelist_count").map_err(&fail)? * number("page_size").map_err(&fail)?)
}
