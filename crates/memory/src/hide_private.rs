//! Tells which sessions are hidden from an engine whose words the public will read.
//!
//! The agent's shell can read the whole database, so what must not be seen must not be there. The ledger says which
//! sessions are public; one that it does not know is private.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use fro_core::{
    ancestry::{Ancestry, Parent},
    remembered::Audience,
};
use rusqlite::{Connection, Row};

use crate::{
    database::{self, judge},
    error::Error,
    schema::tables,
    snapshot::leaf::SessionEntries,
};

/// Returns the private sessions of a save, by its ledger.
pub(crate) fn private(sessions: &SessionEntries, ledger: &Path) -> Result<BTreeSet<String>, Error> {
    let mut known = BTreeMap::new();
    if ledger.exists() {
        known = audiences(&database::open(ledger)?).map_err(judge("hide private sessions"))?;
    }
    let is_private = |session: &&String| {
        ancestry(sessions, session).audience(|id| known.get(*id).copied()) == Audience::Insiders
    };
    Ok(sessions.keys().filter(is_private).cloned().collect())
}

/// Returns what a session was opened for, and that in turn.
pub(crate) fn ancestry<'a>(sessions: &'a SessionEntries, session: &'a str) -> Ancestry<&'a str> {
    Ancestry::trace(session, |id| {
        let noted = sessions.get(*id).and_then(|entry| entry.parent.as_deref());
        Parent::verify(noted, |parent| sessions.contains_key(*parent))
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
