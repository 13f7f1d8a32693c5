//! The other side's version of a session becomes a session of its own, under ids that follow from its content.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, MatchKind};
use rusqlite::{Connection, params_from_iter, types::Value};

use super::rows;
use crate::schema::{SessionTables, quoted};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The part of an id that follows its time.
const RANDOM: usize = 14;

/// Copies the other side's session beside the target's and returns the id of the copy.
///
/// The ids are derived from what the copy says, so that a save which is tried again does not fork twice.
pub(crate) fn fork(
    connection: &Connection,
    group: &SessionTables,
    other: &SessionTables,
    session: &str,
) -> rusqlite::Result<String> {
    let digest = digest(connection, other, session)?;
    let ids = ids(connection, other, session, &digest)?;
    let copy = ids.get(session).cloned().unwrap_or_else(|| derived(session, &digest));
    let is_there: bool =
        connection.query_one("SELECT EXISTS (SELECT 1 FROM main.session WHERE id = ?1)", [&copy], |row| {
            row.get(0)
        })?;
    if is_there {
        return Ok(copy);
    }
    let (old, new): (Vec<_>, Vec<_>) = ids.into_iter().unzip();
    let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&old);
    let finder = finder.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    for table in group.tables.iter().filter(|table| table.name != "session_share") {
        let Some(columns) = rows::shared(connection, table)? else { continue };
        let name = quoted(&table.name);
        let places: Vec<_> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
        let insert =
            format!("INSERT INTO main.{name} ({}) VALUES ({})", columns.join(", "), places.join(", "));
        for row in session_rows(connection, other, table, &columns, session)? {
            let row = row.into_iter().map(|value| match value {
                Value::Text(text) => Value::Text(finder.replace_all(&text, &new)),
                value => value,
            });
            connection.execute(&insert, params_from_iter(row))?;
        }
    }
    connection.execute("UPDATE main.session SET title = title || ' (fork #1)' WHERE id = ?1", [&copy])?;
    rows::raise_sequence(connection, session, &copy)?;
    Ok(copy)
}

fn session_rows(
    connection: &Connection,
    other: &SessionTables,
    table: &crate::schema::Table,
    columns: &[String],
    session: &str,
) -> rusqlite::Result<Vec<Vec<Value>>> {
    let Some(there) = other.table(&table.name) else { return Ok(Vec::new()) };
    let (owner, name) = (other.owner("other", there), quoted(&table.name));
    let sql = format!("SELECT {} FROM other.{name} WHERE {owner} = ?1 ORDER BY rowid", columns.join(", "));
    let mut statement = connection.prepare(&sql)?;
    let rows =
        statement.query_map([session], |row| (0..columns.len()).map(|place| row.get(place)).collect())?;
    rows.collect()
}

/// Hashes what the session says, without the columns that change when it moves.
fn digest(connection: &Connection, other: &SessionTables, session: &str) -> rusqlite::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(session.as_bytes());
    for name in ["message", "part"] {
        let Some(table) = other.table(name) else { continue };
        for row in session_rows(connection, other, table, &["id".to_owned(), "data".to_owned()], session)? {
            for value in row {
                if let Value::Text(text) = value {
                    hasher.update(&(text.len() as u64).to_le_bytes());
                    hasher.update(text.as_bytes());
                }
            }
        }
    }
    Ok(hasher.finalize())
}

/// Maps every id of the session to a new one.
fn ids(
    connection: &Connection,
    other: &SessionTables,
    session: &str,
    digest: &blake3::Hash,
) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut ids = BTreeMap::from([(session.to_owned(), derived(session, digest))]);
    for table in &other.tables {
        if table.columns.iter().any(|column| column.name == "id" && column.is_key) {
            for row in session_rows(connection, other, table, &["id".to_owned()], session)? {
                if let Some(Value::Text(id)) = row.into_iter().next() {
                    let new = derived(&id, digest);
                    ids.insert(id, new);
                }
            }
        }
    }
    Ok(ids)
}

/// Returns an id with the same prefix and time, so that the order stays, and another end.
fn derived(id: &str, digest: &blake3::Hash) -> String {
    let cut = id.char_indices().rev().nth(RANDOM - 1).map_or(0, |(cut, _)| cut);
    let cut = cut.max(id.find('_').map_or(0, |end| end + 1));
    let hash = blake3::Hasher::new().update(digest.as_bytes()).update(id.as_bytes()).finalize();
    let end = hash.as_bytes().iter().take(RANDOM).map(|byte| char::from(BASE62[usize::from(*byte) % 62]));
    format!("{}{}", &id[..cut], end.collect::<String>())
}
