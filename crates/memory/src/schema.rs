//! Which rows belong to a session, found by looking at the schema, so that a new table of the engine falls in by itself.

use std::collections::BTreeSet;

use rusqlite::Connection;

/// Tables of the event log: neither part of what a session says nor merged.
const EVENTS: [&str; 2] = ["event", "event_sequence"];

/// The tables whose rows belong to sessions.
#[derive(Debug, Clone)]
pub(crate) struct SessionTables {
    pub(crate) tables: Vec<Table>,
}

/// A table whose rows belong to sessions.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    owner: Owner,
}

/// A column as SQLite describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) is_key: bool,
    /// Tells whether an insert must name it.
    pub(crate) is_required: bool,
}

/// How to get from a row to its session.
#[derive(Debug, Clone)]
enum Owner {
    Column(String),
    Row { column: String, table: String, key: String },
}

impl SessionTables {
    /// Looks at a database under the name by which it is attached.
    pub(crate) fn read(connection: &Connection, schema: &str) -> rusqlite::Result<Self> {
        let mut group = Self { tables: Vec::new() };
        let mut rest = Vec::new();
        for name in tables(connection, schema)?.into_iter().filter(|name| !EVENTS.contains(&name.as_str())) {
            let columns = columns(connection, schema, &name)?;
            let own = if name == "session" { "id" } else { "session_id" };
            if columns.iter().any(|column| column.name == own) {
                group.tables.push(Table { name, columns, owner: Owner::Column(own.to_owned()) });
            } else {
                rest.push((name, columns));
            }
        }
        loop {
            let before = rest.len();
            for (name, columns) in std::mem::take(&mut rest) {
                match group.reached_by(connection, schema, &name)? {
                    Some(owner) => group.tables.push(Table { name, columns, owner }),
                    None => rest.push((name, columns)),
                }
            }
            if rest.len() == before {
                return Ok(group);
            }
        }
    }

    /// Returns the table of this name.
    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    fn reached_by(
        &self,
        connection: &Connection,
        schema: &str,
        table: &str,
    ) -> rusqlite::Result<Option<Owner>> {
        let sql = "SELECT \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1, ?2)";
        let mut statement = connection.prepare(sql)?;
        let links = statement.query_map([table, schema], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, Option<String>>(2)?))
        })?;
        for link in links {
            let (parent, column, key): (String, String, _) = link?;
            if self.table(&parent).is_some() {
                let key = key.unwrap_or_else(|| "id".to_owned());
                return Ok(Some(Owner::Row { column, table: parent, key }));
            }
        }
        Ok(None)
    }

    /// Returns an expression for the session of a row of this table.
    pub(crate) fn owner(&self, schema: &str, table: &Table) -> String {
        match &table.owner {
            Owner::Column(column) => format!("{}.{}", quoted(&table.name), quoted(column)),
            Owner::Row { column, table: parent, key } => {
                let inner = self.table(parent).map_or("NULL".to_owned(), |parent| self.owner(schema, parent));
                let (parent, key) = (quoted(parent), quoted(key));
                let (table, column) = (quoted(&table.name), quoted(column));
                format!("(SELECT {inner} FROM {schema}.{parent} WHERE {parent}.{key} = {table}.{column})")
            }
        }
    }
}

/// Returns the names of a database's tables.
pub(crate) fn tables(connection: &Connection, schema: &str) -> rusqlite::Result<BTreeSet<String>> {
    let sql = format!(
        "SELECT name FROM {schema}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    );
    connection.prepare(&sql)?.query_map([], |row| row.get(0))?.collect()
}

/// Returns the columns of a table.
pub(crate) fn columns(connection: &Connection, schema: &str, table: &str) -> rusqlite::Result<Vec<Column>> {
    let sql = "SELECT name, pk > 0, \"notnull\" AND dflt_value IS NULL FROM pragma_table_info(?1, ?2)";
    let column = |row: &rusqlite::Row<'_>| {
        Ok(Column { name: row.get(0)?, is_key: row.get(1)?, is_required: row.get(2)? })
    };
    connection.prepare(sql)?.query_map([table, schema], column)?.collect()
}

/// Writes a name so that SQL takes it as one, whatever is in it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
