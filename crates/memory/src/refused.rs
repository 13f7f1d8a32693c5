//! A database that the engine cannot open, though every byte of it is right: its rows go into one of the engine's making.
//!
//! The engine tells by the rows of `migration` what it still has to do. If some are missing, it begins to build what is
//! there already, and ends. Nobody but the engine knows which rows there should be.

use std::path::{Path, PathBuf};

use crate::{
    database::{self, judge},
    error::Error,
    merge::at_once,
    snapshot::rows::{CommonRows, RowReader},
};

/// Takes the database away from an engine that could not start with it, into a folder that it cannot reach.
pub fn take_away(engine_data: &Path, into: &Path) -> Result<Option<PathBuf>, Error> {
    let Some(database) = database::find(engine_data)? else { return Ok(None) };
    fs_err::create_dir_all(into)?;
    let away = into.join(database::FILE);
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let from = database::beside(&database, suffix);
        if from.symlink_metadata().is_ok() {
            fs_err::rename(from, database::beside(&away, suffix))?;
        }
    }
    Ok(Some(away))
}

/// Gives back a database that was taken away, in the place of whatever the engine has.
pub fn give_back(taken: &Path, engine_data: &Path) -> Result<(), Error> {
    let place = database::home(engine_data)?.join(database::FILE);
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let (from, to) = (database::beside(taken, suffix), database::beside(&place, suffix));
        match fs_err::remove_file(&to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        if from.symlink_metadata().is_ok() {
            fs_err::rename(from, to)?;
        }
    }
    Ok(())
}

/// Puts the rows of a database that was taken away into the one that an engine has made since, which does not run.
///
/// Only what the engine notes of its own schema stays as it made it.
pub fn transplant(taken: &Path, engine_data: &Path) -> Result<usize, Error> {
    let Some(database) = database::find(engine_data)? else { return Ok(0) };
    let fail = judge("bring the rows of a database into a new one");
    let old = database::open_live(taken)?;
    database::refuse_foreign(&old)?;
    let new = database::open_live(&database)?;
    let reader = RowReader::prepare(&old).map_err(&fail)?;
    let ids = old.prepare("SELECT id FROM session").and_then(|mut statement| {
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
    });
    let ids = ids.map_err(&fail)?;
    at_once(&new, || {
        CommonRows::read(&old).and_then(|common| common.insert_rows(&new)).map_err(&fail)?;
        ids.iter().try_for_each(|id| reader.session(id)?.insert(&new)).map_err(&fail)
    })?;
    Ok(ids.len())
}
