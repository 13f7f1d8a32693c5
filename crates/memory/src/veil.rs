//! Hides private sessions from an engine whose words the public will read.
//!
//! The agent's shell can read the whole database, so what must not be seen must not be there. The ledger says which
//! sessions are public; one that it does not know is private.

use std::{collections::BTreeSet, path::Path};

use rusqlite::Connection;

use crate::{
    database::{self, judge},
    error::Error,
    group::{Group, tables},
    merge::rows,
    snapshot::{
        count,
        manifest::{ENGINE_DATABASE, LEDGER, Manifest},
    },
    wipe::wipe,
};

/// Removes private sessions from a memory that was restored into this folder, and returns how many there were.
pub(crate) fn hide_private(manifest: &Manifest, folder: &Path) -> Result<u32, Error> {
    let fail = judge("hide private sessions");
    let mut public = BTreeSet::new();
    if manifest.databases.contains_key(LEDGER) {
        let ledger = database::open(&folder.join(LEDGER))?;
        public = public_sessions(&ledger).map_err(&fail)?;
    }
    let mut hidden = Vec::new();
    for session in manifest.sessions.keys() {
        if !public.contains(root(manifest, session)) {
            hidden.push(session.clone());
        }
    }
    let database = folder.join(ENGINE_DATABASE);
    let connection = database::open_copy(&database)?;
    let group = Group::of(&connection, "main").map_err(&fail)?;
    rows::remove_all(&connection, &group, &hidden).map_err(&fail)?;
    drop(connection);
    wipe(&database)?;

    let visible: Vec<_> = manifest.sessions.keys().filter(|session| !hidden.contains(session)).collect();
    for (place, _) in &manifest.files {
        // A file whose session cannot be told may be anybody's.
        if !visible.iter().any(|session| place.belongs_to(session)) {
            fs_err::remove_file(folder.join(place.as_str()))?;
        }
    }
    Ok(count(hidden.len()))
}

/// Returns the session that a session was opened for in the end.
fn root<'a>(manifest: &'a Manifest, session: &'a str) -> &'a str {
    let mut root = session;
    // A ring of parents has no root; after so many steps none is looked for.
    for _ in 0..manifest.sessions.len() {
        match manifest.sessions.get(root).and_then(|note| note.parent.as_deref()) {
            Some(parent) => root = parent,
            None => break,
        }
    }
    root
}

/// Returns the sessions all of whose runs were public.
fn public_sessions(ledger: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    if !tables(ledger, "main")?.contains("run") {
        return Ok(BTreeSet::new());
    }
    let sql = "SELECT session FROM run WHERE session IS NOT NULL GROUP BY session \
               HAVING min(iif(json_valid(data), coalesce(data ->> '$.visibility' = 'public', 0), 0)) = 1";
    ledger.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}
