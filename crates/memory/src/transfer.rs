//! Sessions as lines of data, from a database that the agent can write to one that it cannot.
//!
//! Whatever the agent did to its file, the harness copies its bytes and only a child that holds nothing opens it: that
//! prints the rows of the run's sessions, and the harness puts them, as values, into a copy that it took before the agent
//! said its first word. So the schema, the pages and all other sessions that are saved are not the agent's.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, Read as _, Write},
    path::Path,
};

use data_encoding::BASE64;
use rusqlite::{
    Connection,
    types::{ToSqlOutput, Value, ValueRef},
};
use rustix::{
    fs::{Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
};
use serde::{Deserialize, Serialize};

use crate::{
    copy,
    database::{self, judge},
    error::{Error, Flaw},
    merge::{at_once, rows},
    private,
    schema::{SessionTables, columns, quoted},
};

/// Tables beside those of sessions whose rows come along, and how to get from one of theirs to its session.
const BESIDE: [(&str, &str); 2] = [
    ("event_sequence", "aggregate_id IN temp.family"),
    ("project", "id IN (SELECT project_id FROM main.session WHERE id IN temp.family)"),
];

/// A row of a table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    table: String,
    row: BTreeMap<String, Cell>,
}

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Cell {
    #[serde(rename = "i")]
    Integer(i64),
    /// The bits of a number, of which no text loses any.
    #[serde(rename = "r")]
    Real(u64),
    #[serde(rename = "t")]
    Text(String),
    #[serde(rename = "b")]
    Blob(String),
}

/// Copies the database of an engine whose agent has not said a word yet into a data folder of our own.
pub fn set_apart(engine_data: &Path, ours: &Path) -> Result<(), Error> {
    let Some(database) = database::find(engine_data)? else { return Ok(()) };
    let folder = ours.join("opencode");
    private::folder(&folder)?;
    copy::take(&database, &folder.join(database::FILE))
}

/// Copies the bytes of a database that the agent may have written into a data folder of our own. No link is followed,
/// and nobody looks at what they say.
pub fn quarantine(engine_data: &Path, into: &Path) -> Result<(), Error> {
    let (Some(house), Some(data)) = (engine_data.parent(), engine_data.file_name()) else { return Ok(()) };
    let house = fs_err::File::open(house)?;
    let folder = into.join("opencode");
    private::folder(&folder)?;
    let mut left = database::MAX_DATABASE;
    for suffix in ["", "-wal"] {
        let name = format!("{}{suffix}", database::FILE);
        let path = Path::new(data).join("opencode").join(&name);
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let file = match openat2(house.file(), &path, flags, Mode::empty(), beneath) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(Flaw::Unsound(format!("`{name}` cannot be opened: {error}")).into()),
        };
        if !file.metadata()?.is_file() {
            return Err(Flaw::Unsound(format!("`{name}` is not a plain file")).into());
        }
        let copied = io::copy(&mut file.take(left + 1), &mut fs_err::File::create(folder.join(&name))?)?;
        left = left
            .checked_sub(copied)
            .ok_or(Flaw::TooLarge { what: "the database".to_owned(), limit: database::MAX_DATABASE })?;
    }
    Ok(())
}

/// Prints the rows of sessions and their children. The database may be anything; this runs where nothing is to be had.
pub fn export_sessions(engine_data: &Path, sessions: &[String], out: &mut impl Write) -> Result<(), Error> {
    let Some(database) = database::find(engine_data)? else { return Ok(()) };
    let connection = database::open(&database)?;
    database::refuse_foreign(&connection)?;
    let fail = judge("read the run's sessions");
    let group = SessionTables::read(&connection, "main").map_err(&fail)?;
    find_family(&connection, &group, sessions).map_err(&fail)?;
    for table in &group.tables {
        let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let of_family = format!("{} IN temp.family", group.owner("main", table));
        print_rows(&connection, (&table.name, &names), &of_family, out)?;
    }
    for (table, of_family) in BESIDE {
        let known = columns(&connection, "main", table).map_err(&fail)?;
        let names: Vec<_> = known.iter().map(|column| column.name.as_str()).collect();
        print_rows(&connection, (table, &names), of_family, out)?;
    }
    Ok(())
}

/// Puts rows that `export_sessions` printed into our own copy, in place of what that knows of the same sessions.
///
/// They are the agent's words: whether a session is this run's is decided when it is saved.
pub fn import_sessions(ours: &Path, told: &[u8]) -> Result<(), Error> {
    let Some(database) = database::find(ours)? else {
        return Err(Flaw::Unsound("there was none before the agent came".to_owned()).into());
    };
    let lines = told.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let lines: Vec<Line> = lines.map(serde_json::from_slice).collect::<Result<_, _>>().map_err(unsound)?;
    let sessions = lines.iter().filter(|line| line.table == "session").filter_map(|line| line.row.get("id"));
    let sessions: BTreeSet<_> = sessions.filter_map(Cell::text).map(str::to_owned).collect();
    let fail = judge("take in the run's sessions");
    let connection = database::open_copy(&database)?;
    let group = SessionTables::read(&connection, "main").map_err(&fail)?;
    let mut known = BTreeMap::new();
    for name in group.tables.iter().map(|table| table.name.as_str()).chain(BESIDE.map(|(name, _)| name)) {
        let names = columns(&connection, "main", name).map_err(&fail)?.into_iter().map(|column| column.name);
        known.insert(name.to_owned(), names.collect::<BTreeSet<_>>());
    }
    at_once(&connection, || {
        let sessions: Vec<_> = sessions.into_iter().collect();
        rows::remove_all(&connection, &group, &sessions).map_err(&fail)?;
        lines.iter().try_for_each(|line| insert(&connection, &known, line))
    })
}

/// Fills `temp.family` with sessions and all their children.
fn find_family(connection: &Connection, group: &SessionTables, sessions: &[String]) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE TEMP TABLE family (id text PRIMARY KEY) WITHOUT ROWID")?;
    for session in sessions {
        connection.execute("INSERT OR IGNORE INTO temp.family VALUES (?1)", [session])?;
    }
    let has_parents = group
        .table("session")
        .is_some_and(|table| table.columns.iter().any(|column| column.name == "parent_id"));
    let grow = "INSERT OR IGNORE INTO temp.family SELECT id FROM main.session \
                WHERE typeof(id) = 'text' AND parent_id IN temp.family";
    while has_parents && connection.execute(grow, [])? > 0 {}
    Ok(())
}

fn print_rows(
    connection: &Connection,
    (table, names): (&str, &[&str]),
    of_family: &str,
    out: &mut impl Write,
) -> Result<(), Error> {
    if names.is_empty() {
        return Ok(());
    }
    let fail = judge("read the run's sessions");
    let list: Vec<_> = names.iter().map(|name| quoted(name)).collect();
    let sql = format!("SELECT {} FROM main.{} WHERE {of_family}", list.join(", "), quoted(table));
    let mut statement = connection.prepare(&sql).map_err(&fail)?;
    let mut rows = statement.query([]).map_err(&fail)?;
    while let Some(row) = rows.next().map_err(&fail)? {
        let mut line = Line { table: table.to_owned(), row: BTreeMap::new() };
        for (place, name) in names.iter().enumerate() {
            let value = row.get_ref(place).map_err(&fail)?;
            line.row.extend(Cell::from_column(value).map(|cell| ((*name).to_owned(), cell)));
        }
        serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Inserts a row whose table and columns we know; what is there already stays.
fn insert(
    connection: &Connection,
    known: &BTreeMap<String, BTreeSet<String>>,
    line: &Line,
) -> Result<(), Error> {
    let Some(columns) = known.get(&line.table) else {
        return Err(Flaw::Unsound("the engine has no such table".to_owned()).into());
    };
    if line.row.is_empty() || !line.row.keys().all(|name| columns.contains(name)) {
        return Err(Flaw::Unsound("the engine has no such column".to_owned()).into());
    }
    let names: Vec<_> = line.row.keys().map(|name| quoted(name)).collect();
    let places: Vec<_> = (1..=names.len()).map(|place| format!("?{place}")).collect();
    let sql = format!(
        "INSERT OR IGNORE INTO main.{} ({}) VALUES ({})",
        quoted(&line.table),
        names.join(", "),
        places.join(", ")
    );
    let values = line.row.values().map(Cell::value).collect::<Result<Vec<_>, _>>()?;
    let fail = judge("take in the run's sessions");
    let mut statement = connection.prepare_cached(&sql).map_err(&fail)?;
    statement.execute(rusqlite::params_from_iter(values)).map_err(fail).map(drop)
}

fn unsound(error: impl std::fmt::Display) -> Error {
    Flaw::Unsound(format!("what was read of it is no row: {error}")).into()
}

impl Cell {
    /// Nothing is said of what is not there.
    fn from_column(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(Self::Integer(number)),
            ValueRef::Real(number) => Some(Self::Real(number.to_bits())),
            ValueRef::Text(text) => Some(Self::Text(String::from_utf8_lossy(text).into_owned())),
            ValueRef::Blob(bytes) => Some(Self::Blob(BASE64.encode(bytes))),
        }
    }

    fn value(&self) -> Result<ToSqlOutput<'_>, Error> {
        Ok(match self {
            Self::Integer(number) => ToSqlOutput::from(*number),
            Self::Real(bits) => ToSqlOutput::from(f64::from_bits(*bits)),
            Self::Text(text) => ToSqlOutput::from(text.as_str()),
            Self::Blob(text) => {
                ToSqlOutput::Owned(Value::Blob(BASE64.decode(text.as_bytes()).map_err(unsound)?))
            }
        })
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Integer(_) | Self::Real(_) | Self::Blob(_) => None,
        }
    }
}
