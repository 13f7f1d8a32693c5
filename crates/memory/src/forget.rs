//! Removes sessions for good, with their children and whatever else speaks of them.

use std::{collections::BTreeSet, path::Path};

use rusqlite::Connection;

use crate::{
    database::{self, judge},
    error::Error,
    merge::rows,
    schema::{SessionTables, tables},
    snapshot::{
        count,
        manifest::{ENGINE_DATABASE, INDEX, LEDGER, Manifest},
    },
};

/// Removes sessions with their children from a database, and returns all of them.
pub(crate) fn in_database(
    connection: &Connection,
    sessions: &BTreeSet<String>,
) -> Result<Vec<String>, Error> {
    let fail = judge("forget sessions");
    let mut doomed: Vec<String> = Vec::new();
    let mut next: Vec<String> = sessions.iter().cloned().collect();
    while let Some(id) = next.pop() {
        if doomed.contains(&id) {
            continue;
        }
        let mut statement =
            connection.prepare("SELECT id FROM session WHERE parent_id = ?1").map_err(&fail)?;
        let children = statement.query_map([&id], |row| row.get(0)).map_err(&fail)?;
        next.extend(children.collect::<rusqlite::Result<Vec<String>>>().map_err(&fail)?);
        doomed.push(id);
    }
    if !doomed.is_empty() {
        let group = SessionTables::of(connection, "main").map_err(&fail)?;
        rows::remove_all(connection, &group, &doomed).map_err(fail)?;
    }
    Ok(doomed)
}

/// Removes sessions from a memory that was restored into this folder, and returns how many went.
///
/// The search index still knows their words, so it goes too; it is made anew.
pub(crate) fn in_folder(
    manifest: &Manifest,
    folder: &Path,
    sessions: &BTreeSet<String>,
) -> Result<u32, Error> {
    if sessions.is_empty() {
        return Ok(0);
    }
    let gone = in_database(&database::open_copy(&folder.join(ENGINE_DATABASE))?, sessions)?;
    let fail = judge("forget runs in the ledger");
    if manifest.databases.contains_key(LEDGER) {
        let ledger = database::open_copy(&folder.join(LEDGER))?;
        if tables(&ledger, "main").map_err(&fail)?.contains("run") {
            for session in &gone {
                ledger.execute("DELETE FROM run WHERE session = ?1", [session]).map_err(&fail)?;
            }
        }
    }
    if manifest.databases.contains_key(INDEX) {
        fs_err::remove_file(folder.join(INDEX))?;
    }
    for (place, _) in &manifest.files {
        if gone.iter().any(|session| place.belongs_to(session)) {
            fs_err::remove_file(folder.join(place.as_str()))?;
        }
    }
    Ok(count(gone.iter().filter(|id| manifest.sessions.contains_key(*id)).count()))
}
