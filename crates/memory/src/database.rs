//! The engine's database as untrusted input: where it lies, how it is opened, what makes it sound.
//!
//! The agent's shell can write to this file, and so can whoever writes to the store. Hence no link is followed
//! to it, and it is refused when it holds what the engine never puts there.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use crate::{
    error::{Error, Flaw},
    schema::quoted,
};

/// The most that is kept or restored.
pub(crate) const MAX_DATABASE: u64 = 4 << 30;

/// How long a running engine may keep us waiting.
const PATIENCE: Duration = Duration::from_secs(5);

/// The name of the database in the engine's folder.
pub(crate) const FILE: &str = "opencode.db";

/// Returns the engine's folder in a data folder.
///
/// The path to it is resolved, so that `open` can refuse any link in the rest.
pub(crate) fn home(engine_data: &Path) -> io::Result<PathBuf> {
    Ok(fs_err::canonicalize(engine_data)?.join("opencode"))
}

/// Returns the engine's database, or nothing if it never wrote one.
pub(crate) fn find(engine_data: &Path) -> Result<Option<PathBuf>, Error> {
    let path = home(engine_data).map(|home| home.join(FILE));
    let (path, about) = match path.and_then(|path| Ok((path.clone(), fs_err::symlink_metadata(path)?))) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !about.is_file() {
        return Err(Flaw::Unsound("it is not a plain file".to_owned()).into());
    }
    let log = beside(&path, "-wal").symlink_metadata().map_or(0, |about| about.len());
    if about.len() + log > MAX_DATABASE {
        return Err(Flaw::TooLarge { what: "the database".to_owned(), limit: MAX_DATABASE }.into());
    }
    Ok((about.len() > 0).then_some(path))
}

/// Refuses a place where a database, or what is left of one, lies already.
///
/// SQLite would play a log that was left behind into the file we put there.
pub(crate) fn refuse_occupied(path: &Path) -> Result<(), Error> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let taken = beside(path, suffix);
        if taken.symlink_metadata().is_ok() {
            return Err(Error::Occupied(taken));
        }
    }
    Ok(())
}

/// Opens a database for reading and nothing else.
pub(crate) fn open(path: &Path) -> Result<Connection, Error> {
    let fail = judge("open the database");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).map_err(&fail)?;
    distrust(&connection).map_err(fail)?;
    Ok(connection)
}

/// Opens a copy of our own for changes, which are not safe from a power cut.
pub(crate) fn open_copy(path: &Path) -> Result<Connection, Error> {
    let fail = judge("open the copy of the database");
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).map_err(&fail)?;
    let pragmas = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; \
                   PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -24000";
    connection.execute_batch(pragmas).map_err(&fail)?;
    distrust(&connection).map_err(fail)?;
    Ok(connection)
}

/// Opens the database of a running engine for one change.
pub(crate) fn open_live(path: &Path) -> Result<Connection, Error> {
    let fail = judge("open the engine's database");
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).map_err(&fail)?;
    connection.busy_timeout(PATIENCE).map_err(&fail)?;
    connection.execute_batch("PRAGMA foreign_keys = OFF").map_err(&fail)?;
    distrust(&connection).map_err(fail)?;
    Ok(connection)
}

fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(())
}

/// Refuses a schema that does more than hold rows.
pub(crate) fn refuse_foreign(connection: &Connection) -> Result<(), Error> {
    match foreign(connection).map_err(judge("read the schema of the database"))? {
        Some(foreign) => Err(Flaw::Unsound(format!("the engine makes no {foreign}")).into()),
        None => Ok(()),
    }
}

/// Makes sure of a database's content and returns how many sessions it has.
pub(crate) fn inspect(connection: &Connection) -> Result<u32, Error> {
    refuse_unsound(connection)?;
    let count = connection.query_one("SELECT count(*) FROM session", [], |row| row.get(0));
    count.map_err(judge("count the sessions of the database"))
}

/// Removes rows that point at nothing, and whatever pointed at those: no merge could take them in.
pub(crate) fn remove_orphans(copy: &Connection) -> Result<(), Error> {
    let fail = judge("look for rows that point at nothing");
    loop {
        let mut statement = copy.prepare("PRAGMA main.foreign_key_check").map_err(&fail)?;
        let orphans = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(&fail)?;
        let orphans = orphans.collect::<rusqlite::Result<Vec<(String, Option<i64>)>>>().map_err(&fail)?;
        let mut removed = 0;
        for (table, row) in &orphans {
            let sql = format!("DELETE FROM main.{} WHERE rowid = ?1", quoted(table));
            removed += copy.execute(&sql, [row]).map_err(&fail)?;
        }
        if removed == 0 {
            return Ok(());
        }
        tracing::warn!(removed, "rows that pointed at nothing are not kept");
    }
}

/// Refuses a database whose pages contradict each other, or that does more than hold rows.
pub(crate) fn refuse_unsound(connection: &Connection) -> Result<(), Error> {
    refuse_foreign(connection)?;
    let verdict = connection.query_one("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
    match verdict.map_err(judge("check the database"))?.as_str() {
        "ok" => Ok(()),
        verdict => Err(Flaw::Unsound(verdict.to_owned()).into()),
    }
}

/// Returns a part of the schema that would do more than hold rows.
fn foreign(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT max(iif(type = 'table', 'virtual table', type) || ' ' || name) FROM sqlite_schema \
               WHERE type NOT IN ('table', 'index') OR sql LIKE 'create virtual%'";
    connection.query_one(sql, [], |row| row.get(0))
}

/// Tells damage from trouble: a wrong file is a flaw, a full disk is not.
pub(crate) fn judge(deed: &'static str) -> impl Fn(rusqlite::Error) -> Error {
    move |source| match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) => {
            Flaw::Unsound(source.to_string()).into()
        }
        Some(_) | None => Error::Sqlite { deed, source },
    }
}

/// Returns the name of a file that SQLite keeps beside a database.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
