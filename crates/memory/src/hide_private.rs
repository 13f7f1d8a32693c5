//! Hides private sessions from an engine whose words the public will read.
//!
//! The agent's shell can read the whole database, so what must not be seen must not be there. The ledger says which
//! sessions are public; one that it does not know is private.

use std::{collections::BTreeMap, path::Path};

use fro_core::{
    ancestry::{Ancestry, Parent},
    remembered::Audience,
};
use rusqlite::{Connection, Row};

use crate::{
    database::{self, judge},
    error::Error,
    merge::rows,
    schema::{SessionTables, tables},
    snapshot::{
        count,
        manifest::{ENGINE_DATABASE, LEDGER, Manifest},
    },
    wipe::wipe,
};

/// Removes private sessions from a memory that was restored into this folder, and returns how many there were.
pub(crate) fn hide_private(manifest: &Manifest, folder: &Path) -> Result<u32, Error> {
    let fail = judge("hide private sessions");
    let mut known = BTreeMap::new();
    if manifest.databases.contains_key(LEDGER) {
        let ledger = database::open(&folder.join(LEDGER))?;
        known = audiences(&ledger).map_err(&fail)?;
    }
    let mut hidden = Vec::new();
    for session in manifest.sessions.keys() {
        match ancestry(manifest, session).audience(|id| known.get(*id).copied()) {
            Audience::Everyone => {}
            Audience::Insiders => hidden.push(session.clone()),
        }
    }
    let database = folder.join(ENGINE_DATABASE);
    let connection = database::open_copy(&database)?;
    let group = SessionTables::of(&connection, "main").map_err(&fail)?;
    rows::remove_all(&connection, &group, &hidden).map_err(&fail)?;
    drop(connection);
    wipe(&database)?;

    let visible: Vec<_> = manifest.sessions.keys().filter(|session| !hidden.contains(session)).collect();
    for (place, _) in &manifest.files {
        // A file whose session cannot be told may be anybody's.
        let path = folder.join(place.as_str());
        if path.exists() && !visible.iter().any(|session| place.belongs_to(session)) {
            fs_err::remove_file(path)?;
        }
    }
    Ok(count(hidden.len()))
}

fn ancestry<'a>(manifest: &'a Manifest, session: &'a str) -> Ancestry<&'a str> {
    Ancestry::trace(session, |id| {
        let noted = manifest.sessions.get(*id).and_then(|note| note.parent.as_deref());
        Parent::of(noted, |parent| manifest.sessions.contains_key(*parent))
    })
}

/// Returns who may hear the sessions of the ledger: everyone if all runs of a session were public.
pub(crate) fn audiences(ledger: &Connection) -> rusqlite::Result<BTreeMap<String, Audience>> {
    if !tables(ledger, "main")?.contains("run") {
        return Ok(BTreeMap::new());
    }
    let sql = "SELECT session, min(iif(json_valid(data), coalesce(data ->> '$.visibility' = 'public', 0), 0)) = 1 \
               FROM run WHERE session IS NOT NULL GROUP BY session";
    let read = |row: &Row<'_>| {
        let audience = if row.get(1)? { Audience::Everyone } else { Audience::Insiders };
        Ok((row.get(0)?, audience))
    };
    ledger.prepare(sql)?.query_map([], read)?.collect()
}
