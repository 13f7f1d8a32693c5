//! Rows as data: what a session says, and what belongs to no session, outside of any database file.
//!
//! The bytes are JSON: table → columns and rows. SQLite keeps apart what JSON does not, so a real number, bytes and text
//! that is no UTF-8 are written as objects of one field. Rows come from a store that others may write to: they go only
//! into tables and columns that are there, and never into those that a memory leaves empty.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use rusqlite::{
    Connection, params_from_iter,
    types::{Value, ValueRef},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap as _};

use crate::{
    copy::EMPTIED,
    error::Flaw,
    schema::{SessionTables, Table, columns, quoted, tables},
};

/// The table that counts a session's events, which has no `session_id`.
const SEQUENCE: &str = "event_sequence";

/// The tables in which the engine notes what was done to its schema.
const MIGRATIONS: [&str; 3] = ["migration", "data_migration", "__drizzle_migrations"];

/// The rows of some tables.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Rows(BTreeMap<String, TableRows>);

/// The rows of one table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableRows {
    columns: Vec<String>,
    rows: Vec<Vec<StoredValue>>,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
struct StoredValue(Value);

/// Everything in a database that belongs to no session: its tables, and their rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommonRows {
    /// The statements that make the tables and indexes.
    schema: Vec<String>,
    /// SQLite's `user_version`.
    version: i64,
    rows: Rows,
}

/// Reads sessions out of a database, one after the other.
pub(crate) struct RowReader<'a> {
    connection: &'a Connection,
    statements: Vec<(String, Vec<String>, String)>,
}

impl<'a> RowReader<'a> {
    /// Looks at the schema once.
    pub(crate) fn prepare(connection: &'a Connection) -> rusqlite::Result<Self> {
        let group = SessionTables::read(connection, "main")?;
        let mut statements = Vec::new();
        for table in &group.tables {
            statements.extend(statement(connection, &table.name, &group.owner("main", table), table)?);
        }
        if connection.table_exists(Some("main"), SEQUENCE)? {
            let names = columns(connection, "main", SEQUENCE)?.into_iter().map(|column| column.name);
            let sql = format!("SELECT * FROM main.{SEQUENCE} WHERE aggregate_id = ?1");
            statements.push((SEQUENCE.to_owned(), names.collect(), sql));
        }
        Ok(Self { connection, statements })
    }

    /// Returns all rows of a session.
    pub(crate) fn session(&self, id: &str) -> rusqlite::Result<Rows> {
        let mut all = BTreeMap::new();
        for (table, columns, sql) in &self.statements {
            let rows = read(self.connection, sql, columns.len(), &[id])?;
            if !rows.is_empty() {
                all.insert(table.clone(), TableRows { columns: columns.clone(), rows });
            }
        }
        Ok(Rows(all))
    }
}

/// Returns how the rows of one session are read from a table; nothing for one that is empty, or stays so in a memory.
fn statement(
    connection: &Connection,
    name: &str,
    owner: &str,
    table: &Table,
) -> rusqlite::Result<Option<(String, Vec<String>, String)>> {
    let from = quoted(name);
    let is_filled = connection.prepare(&format!("SELECT 1 FROM main.{from} LIMIT 1"))?.exists([])?;
    if !is_filled || EMPTIED.contains(&name) {
        return Ok(None);
    }
    let names: Vec<_> = table.columns.iter().map(|column| column.name.clone()).collect();
    let list: Vec<_> = names.iter().map(|name| quoted(name)).collect();
    let keys = table.columns.iter().filter(|column| column.is_key).map(|column| quoted(&column.name));
    let order: Vec<_> = keys.chain(["rowid".to_owned()]).collect();
    let (list, order) = (list.join(", "), order.join(", "));
    let sql = format!("SELECT {list} FROM main.{from} WHERE {owner} = ?1 ORDER BY {order}");
    Ok(Some((name.to_owned(), names, sql)))
}

fn read(
    connection: &Connection,
    sql: &str,
    columns: usize,
    of: &[&str],
) -> rusqlite::Result<Vec<Vec<StoredValue>>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(of))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let cells = (0..columns).map(|place| Ok(StoredValue::from_column(row.get_ref(place)?)));
        all.push(cells.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    Ok(all)
}

impl Rows {
    /// Writes them as JSON.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, std::io::Error> {
        serde_json::to_vec(self).map_err(std::io::Error::from)
    }

    /// Reads what `to_bytes` wrote.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Flaw> {
        let unreadable = |error: serde_json::Error| Flaw::Rows(error.to_string());
        let rows: Self = serde_json::from_slice(bytes).map_err(unreadable)?;
        rows.check()?;
        Ok(rows)
    }

    /// Makes sure that rows have the columns of their table.
    fn check(&self) -> Result<(), Flaw> {
        let fits = |table: &TableRows| table.rows.iter().all(|row| row.len() == table.columns.len());
        let is_fit = self.0.values().all(fits);
        if is_fit { Ok(()) } else { Err(Flaw::Rows("a row has other columns than its table".to_owned())) }
    }

    /// Puts them into a database that does not have them, as far as it has the tables and columns.
    pub(crate) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        for (name, table) in self.0.iter().filter(|(name, _)| !EMPTIED.contains(&name.as_str())) {
            let known = columns(connection, "main", name)?;
            let places: Vec<usize> = (0..table.columns.len())
                .filter(|place| known.iter().any(|column| column.name == table.columns[*place]))
                .collect();
            if places.is_empty() {
                continue;
            }
            let names: Vec<_> = places.iter().map(|place| quoted(&table.columns[*place])).collect();
            let marks = vec!["?"; names.len()].join(", ");
            let sql = format!(
                "INSERT OR IGNORE INTO main.{} ({}) VALUES ({marks})",
                quoted(name),
                names.join(", ")
            );
            let mut statement = connection.prepare_cached(&sql)?;
            for row in &table.rows {
                statement.execute(params_from_iter(places.iter().map(|place| row[*place].bound())))?;
            }
        }
        Ok(())
    }

    /// Returns a value of the only row of a table.
    fn field(&self, table: &str, column: &str) -> Option<&Value> {
        let table = self.0.get(table)?;
        let place = table.columns.iter().position(|name| name == column)?;
        table.rows.first().map(|row| &row[place].0)
    }

    /// Returns a text of the session's own row.
    pub(crate) fn text(&self, column: &str) -> Option<&str> {
        match self.field("session", column)? {
            Value::Text(text) => Some(text),
            Value::Null | Value::Integer(_) | Value::Real(_) | Value::Blob(_) => None,
        }
    }

    /// Returns a number of the session's own row.
    pub(crate) fn integer(&self, column: &str) -> Option<i64> {
        match self.field("session", column)? {
            Value::Integer(number) => Some(*number),
            Value::Null | Value::Text(_) | Value::Real(_) | Value::Blob(_) => None,
        }
    }

    /// Returns what the session cost.
    pub(crate) fn cost(&self) -> f64 {
        match self.field("session", "cost") {
            Some(Value::Real(number)) => *number,
            #[expect(clippy::cast_precision_loss, reason = "nobody pays as many dollars")]
            Some(Value::Integer(number)) => *number as f64,
            Some(Value::Null | Value::Text(_) | Value::Blob(_)) | None => 0.0,
        }
    }

    /// Returns how many messages there are.
    pub(crate) fn messages(&self) -> usize {
        self.0.get("message").map_or(0, |table| table.rows.len())
    }

    /// Returns how much is in the column `data` of a table, in bytes.
    pub(crate) fn said(&self, table: &str) -> u64 {
        let Some(table) = self.0.get(table) else { return 0 };
        let Some(place) = table.columns.iter().position(|name| name == "data") else { return 0 };
        table.rows.iter().map(|row| row[place].length()).sum()
    }
}

impl CommonRows {
    /// Reads everything that belongs to no session.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let group = SessionTables::read(connection, "main")?;
        let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                   ORDER BY type = 'index', name";
        let schema = connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let version = connection.query_one("PRAGMA user_version", [], |row| row.get(0))?;
        let mut rows = BTreeMap::new();
        for name in tables(connection, "main")? {
            let is_own = group.table(&name).is_some() || name == SEQUENCE;
            if is_own || EMPTIED.contains(&name.as_str()) {
                continue;
            }
            let columns: Vec<_> = columns(connection, "main", &name)?.into_iter().map(|c| c.name).collect();
            let sql = format!("SELECT * FROM main.{} ORDER BY rowid", quoted(&name));
            let found = read(connection, &sql, columns.len(), &[])?;
            if !found.is_empty() {
                rows.insert(name, TableRows { columns, rows: found });
            }
        }
        Ok(Self { schema, version, rows: Rows(rows) })
    }

    /// Writes it as JSON.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, std::io::Error> {
        serde_json::to_vec(self).map_err(std::io::Error::from)
    }

    /// Reads what `to_bytes` wrote, if it makes nothing but tables and indexes.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Flaw> {
        let common: Self = serde_json::from_slice(bytes).map_err(|error| Flaw::Rows(error.to_string()))?;
        common.rows.check()?;
        match common.schema.iter().find(|sql| !is_plain(sql)) {
            Some(sql) => Err(Flaw::Unsound(format!("the engine makes no {}", beginning(sql)))),
            None => Ok(common),
        }
    }

    /// Fills an empty database.
    pub(crate) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        for sql in &self.schema {
            connection.execute(sql, [])?;
        }
        connection.pragma_update(None, "user_version", self.version)?;
        self.rows.insert(connection)
    }

    /// Puts the rows into a database of another making, which knows best what was done to its schema.
    pub(crate) fn insert_rows(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut rows = self.rows.clone();
        rows.0.retain(|table, _| !MIGRATIONS.contains(&table.as_str()));
        rows.insert(connection)
    }

    /// Tells whether two databases have the same tables and indexes.
    pub(crate) fn is_shaped_like(&self, other: &Self) -> bool {
        self.schema == other.schema && self.version == other.version
    }
}

/// Tells whether a statement only makes a table or an index: nothing that runs by itself, nothing that asks.
fn is_plain(sql: &str) -> bool {
    let words: Vec<String> = sql
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let begins =
        matches!(words.as_slice(), ["create", "table" | "index", ..] | ["create", "unique", "index", ..]);
    begins && !words.contains(&"select")
}

/// Returns the first words of a statement, after its verb.
fn beginning(sql: &str) -> String {
    sql.split_whitespace().skip(1).take(2).collect::<Vec<_>>().join(" ").to_lowercase()
}

impl StoredValue {
    fn from_column(value: ValueRef<'_>) -> Self {
        Self(match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Real(number) => Value::Real(number),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Value::Text(text.to_owned()),
                // The engine writes no such text; as bytes nothing of it is lost.
                Err(_) => Value::Blob(text.to_vec()),
            },
            ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
        })
    }

    fn bound(&self) -> &Value {
        &self.0
    }

    fn length(&self) -> u64 {
        match &self.0 {
            Value::Text(text) => text.len() as u64,
            Value::Blob(bytes) => bytes.len() as u64,
            Value::Null | Value::Integer(_) | Value::Real(_) => 0,
        }
    }
}

impl Serialize for StoredValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let field = |serializer: S, name: &str, text: String| {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry(name, &text)?;
            map.end()
        };
        match &self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Real(number) => field(serializer, "real", format!("{:016x}", number.to_bits())),
            Value::Blob(bytes) => field(serializer, "bytes", HEXLOWER.encode(bytes)),
        }
    }
}

/// A cell as JSON has it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Integer(i64),
    Text(String),
    Real { real: String },
    Bytes { bytes: String },
}

impl<'de> Deserialize<'de> for StoredValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(written) = Option::<Written>::deserialize(deserializer)? else {
            return Ok(Self(Value::Null));
        };
        Ok(Self(match written {
            Written::Integer(number) => Value::Integer(number),
            Written::Text(text) => Value::Text(text),
            Written::Real { real } => {
                let bits = u64::from_str_radix(&real, 16).map_err(de::Error::custom)?;
                Value::Real(f64::from_bits(bits))
            }
            Written::Bytes { bytes } => {
                Value::Blob(HEXLOWER.decode(bytes.as_bytes()).map_err(de::Error::custom)?)
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_comes_back() {
        let connection = Connection::open_in_memory().unwrap();
        let schema = "CREATE TABLE session (id text PRIMARY KEY, a, b, c, d, e); \
                      CREATE TABLE message (id text PRIMARY KEY, session_id text, data text); \
                      CREATE TABLE project (id text PRIMARY KEY); INSERT INTO project VALUES ('p'); \
                      INSERT INTO session VALUES ('s', NULL, -9223372036854775808, 0.1, x'00ff', 'é\"\\'), \
                          ('other', 1, 2, 3, 4, 5); \
                      INSERT INTO message VALUES ('m2', 's', '{}'), ('m1', 's', 'abc'), ('m3', 'other', '')";
        connection.execute_batch(schema).unwrap();
        let rows = RowReader::prepare(&connection).unwrap().session("s").unwrap();
        let bytes = rows.to_bytes().unwrap();
        insta::assert_snapshot!(String::from_utf8_lossy(&bytes), @r#"{"message":{"columns":["id","session_id","data"],"rows":[["m1","s","abc"],["m2","s","{}"]]},"session":{"columns":["id","a","b","c","d","e"],"rows":[["s",null,-9223372036854775808,{"real":"3fb999999999999a"},{"bytes":"00ff"},"é\"\\"]]}}"#);
        assert_eq!(Rows::parse(&bytes).unwrap(), rows);
        assert_eq!((rows.messages(), rows.said("message")), (2, 5));

        let other = Connection::open_in_memory().unwrap();
        let common = CommonRows::read(&connection).unwrap();
        CommonRows::parse(&common.to_bytes().unwrap()).unwrap().insert(&other).unwrap();
        rows.insert(&other).unwrap();
        assert_eq!(RowReader::prepare(&other).unwrap().session("s").unwrap(), rows);
        assert_eq!(CommonRows::read(&other).unwrap(), common);
    }

    #[test]
    fn a_schema_that_does_more_than_hold_rows_is_refused() {
        for sql in [
            "CREATE TRIGGER t AFTER INSERT ON message BEGIN DELETE FROM session; END",
            "CREATE VIEW v AS SELECT 1",
            "CREATE VIRTUAL TABLE f USING fts5(x)",
            "CREATE TABLE t AS WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT * FROM n",
            "ATTACH '/etc/passwd' AS x",
        ] {
            let common = CommonRows { schema: vec![sql.to_owned()], version: 0, rows: Rows::default() };
            assert!(CommonRows::parse(&common.to_bytes().unwrap()).is_err(), "{sql}");
        }
    }
}
