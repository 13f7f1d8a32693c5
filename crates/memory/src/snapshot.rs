//! Takes a consistent copy of the engine's database without what must never be stored.
//!
//! Invariant: bytes that were not scrubbed never get a file name. The raw copy lives in a temporary database of
//! SQLite's, which has none, so a killed run leaves no credential behind.

use std::{os::unix::ffi::OsStrExt as _, path::Path};

use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
    ffi,
    types::{ToSqlOutput, ValueRef},
};

use crate::{
    database::{self, judge},
    error::Error,
};

/// Emptied in every copy: tokens and secrets, and the event log, which repeats what the messages say.
///
/// `event_sequence` stays, or the engine would count the next event as one that it has seen.
const EMPTIED: [&str; 6] =
    ["account", "account_state", "control_account", "credential", "session_share", "event"];

/// Writes a scrubbed copy of the database to a new file and returns how many sessions it has.
///
/// The engine may be running and writing.
pub(crate) fn take(database: &Path, copy: &Path) -> Result<u32, Error> {
    let fail = judge("copy the database");
    let source = database::open(database)?;
    let mut private = Connection::open("").map_err(&fail)?;
    duplicate(&source, &mut private).map_err(&fail)?;
    let sessions = database::inspect(&private)?;
    scrub(&private).map_err(&fail)?;
    write_live_rows(&private, copy).map_err(&fail)?;
    Ok(sessions)
}

/// Copies all pages in one step: in smaller ones it starts anew at each write of the engine and never ends.
fn duplicate(source: &Connection, into: &mut Connection) -> rusqlite::Result<()> {
    match Backup::new(source, into)?.step(-1)? {
        StepResult::Done => Ok(()),
        _ => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)),
    }
}

fn scrub(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA foreign_keys = OFF")?;
    for table in EMPTIED {
        if connection.table_exists(None, table)? {
            connection.execute(&format!("DELETE FROM {table}"), [])?;
        }
    }
    Ok(())
}

/// Writes the rows that are left into a fresh file.
///
/// Deleting would not be enough: older values that the engine replaced still stand in the dead space of the pages,
/// and a page copy would carry them along.
fn write_live_rows(connection: &Connection, copy: &Path) -> rusqlite::Result<()> {
    let path = ToSqlOutput::Borrowed(ValueRef::Text(copy.as_os_str().as_bytes()));
    connection.execute("VACUUM INTO ?1", [path]).map(drop)
}
