//! A short hash of everything a session says, so that two of them can be compared without their rows.

use std::{collections::BTreeMap, fmt};

use blake3::{Hash, Hasher};
use rusqlite::{Connection, types::ValueRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    schema::{SessionTables, Table, quoted},
    snapshot::manifest::SessionNote,
};

/// Columns of `session` that are rewritten when it moves to another checkout.
const MOVING: [&str; 4] = ["directory", "path", "workspace_id", "project_id"];

/// The hash of a session's rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint([u8; 16]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = u128::from_str_radix(&text, 16).ok().filter(|_| text.len() == 32);
        number.map(|number| Self(number.to_be_bytes())).ok_or_else(|| de::Error::custom("not a fingerprint"))
    }
}

/// What a database says of its sessions.
pub(crate) type Fingerprints = BTreeMap<String, SessionNote>;

/// Fingerprints every session of a database.
///
/// Row hashes are sorted, not the rows: that is what makes one pass in the order of the file enough. Empty columns do
/// not count, so that a column which a newer engine added changes nothing.
pub(crate) fn fingerprints(connection: &Connection, schema: &str) -> rusqlite::Result<Fingerprints> {
    let group = SessionTables::read(connection, schema)?;
    let mut rows: BTreeMap<String, Vec<Hash>> = BTreeMap::new();
    for table in &group.tables {
        each_row(connection, schema, &group, table, |session, hash| {
            if let Some(hashes) = rows.get_mut(session) {
                hashes.push(hash);
            } else {
                rows.insert(session.to_owned(), vec![hash]);
            }
        })?;
    }
    let parents = parents(connection, schema, &group)?;
    Ok(parents
        .into_iter()
        .map(|(id, parent)| {
            let fingerprint = combined(rows.remove(&id).unwrap_or_default());
            (id, SessionNote { fingerprint, parent })
        })
        .collect())
}

fn combined(mut rows: Vec<Hash>) -> Fingerprint {
    rows.sort_unstable_by_key(|row| *row.as_bytes());
    let mut hasher = Hasher::new();
    for hash in &rows {
        hasher.update(hash.as_bytes());
    }
    let mut fingerprint = [0; 16];
    hasher.finalize_xof().fill(&mut fingerprint);
    Fingerprint(fingerprint)
}

fn parents(
    connection: &Connection,
    schema: &str,
    group: &SessionTables,
) -> rusqlite::Result<BTreeMap<String, Option<String>>> {
    let has_parents = group
        .table("session")
        .is_some_and(|table| table.columns.iter().any(|column| column.name == "parent_id"));
    let parent = if has_parents { "parent_id" } else { "NULL" };
    let sql = format!("SELECT id, {parent} FROM {schema}.session");
    connection.prepare(&sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn each_row(
    connection: &Connection,
    schema: &str,
    group: &SessionTables,
    table: &Table,
    mut with: impl FnMut(&str, Hash),
) -> rusqlite::Result<()> {
    let mut names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
    names.retain(|name| table.name != "session" || !MOVING.contains(name));
    names.sort_unstable();
    let columns: Vec<_> = names.iter().map(|name| quoted(name)).collect();
    let (owner, columns, from) = (group.owner(schema, table), columns.join(", "), quoted(&table.name));
    let sql = format!("SELECT {owner}, {columns} FROM {schema}.{from}");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut hasher = Hasher::new();
    while let Some(row) = rows.next()? {
        let ValueRef::Text(session) = row.get_ref(0)? else { continue };
        hasher.reset();
        field(&mut hasher, b't', table.name.as_bytes());
        for (place, name) in (1..).zip(&names) {
            value(&mut hasher, name, row.get_ref(place)?);
        }
        with(&String::from_utf8_lossy(session), hasher.finalize());
    }
    Ok(())
}

fn value(hasher: &mut Hasher, name: &str, value: ValueRef<'_>) {
    if value == ValueRef::Null {
        return;
    }
    field(hasher, b'c', name.as_bytes());
    match value {
        ValueRef::Null => {}
        ValueRef::Integer(number) => field(hasher, b'i', &number.to_le_bytes()),
        ValueRef::Real(number) => field(hasher, b'r', &number.to_bits().to_le_bytes()),
        ValueRef::Text(text) => field(hasher, b's', text),
        ValueRef::Blob(bytes) => field(hasher, b'b', bytes),
    }
}

fn field(hasher: &mut Hasher, kind: u8, bytes: &[u8]) {
    hasher.update(&[kind]);
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}
