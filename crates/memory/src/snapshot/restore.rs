//! Puts a memory together from its packs, in a folder that nobody else has seen.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs, io,
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::Path,
};

use blake3::Hash;
use rusqlite::Connection;

use super::{
    catalog::FileChunks,
    manifest::{ENGINE_DATABASE, LEDGER, SchemaLevel},
    pack::MAX_CHUNK,
    saved::Saved,
};
use crate::{
    database::judge,
    error::{Error, Flaw},
    ledger,
    merge::at_once,
    private,
    store::Store,
};

/// So much of the disk is left to others.
const ROOM_LEFT: u64 = 64 << 20;

/// Writes one of our own databases into a folder.
pub(crate) fn restore_own(store: &Store, saved: &Saved, folder: &Path, name: &str) -> Result<(), Error> {
    if let Some(pages) = saved.manifest.databases.get(name) {
        refuse_without_room(folder, pages.bytes)?;
        let (bytes, chunks) = saved.catalog.database(pages);
        let chunk = u64::from(pages.chunk);
        write(store, saved, &[RestoreTarget { path: name, bytes, chunk, chunks: &chunks }], folder)?;
    }
    match &saved.rescued {
        Some(rescued) if name == LEDGER && !folder.join(name).exists() => {
            create(&folder.join(name))?.write_all_at(rescued, 0).map_err(Error::from)
        }
        Some(rescued) if name == LEDGER => {
            let rest = tempfile::NamedTempFile::new_in(folder)?;
            fs_err::write(rest.path(), rescued)?;
            ledger::merge(&folder.join(name), rest.path(), &saved.manifest.forgotten().collect::<Vec<_>>())
        }
        Some(_) | None => Ok(()),
    }
}

/// Writes files into a folder.
pub(crate) fn restore_files(
    store: &Store,
    saved: &Saved,
    folder: &Path,
    files: &[FileChunks],
) -> Result<(), Error> {
    refuse_without_room(folder, files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes)))?;
    let mut made = HashSet::new();
    for file in files {
        let path = folder.join(file.place.as_str());
        if let Some(parent) = path.parent()
            && made.insert(parent.to_owned())
        {
            private::folder(parent)?;
        }
    }
    let targets = files.iter().map(|file| RestoreTarget {
        path: file.place.as_str(),
        bytes: file.bytes,
        chunk: u64::from(MAX_CHUNK),
        chunks: &file.chunks,
    });
    write(store, saved, &targets.collect::<Vec<_>>(), folder)
}

/// Makes a database of the engine with these sessions of a save, in a new file of a folder.
pub(crate) fn restore_sessions(
    store: &Store,
    saved: &Saved,
    folder: &Path,
    ids: &BTreeSet<String>,
    at: TableChoice,
) -> Result<(), Error> {
    let bytes = ids.iter().filter_map(|id| saved.sessions.get(id)).map(|entry| entry.bytes);
    refuse_without_room(folder, bytes.fold(0, u64::saturating_add))?;
    let path = folder.join(ENGINE_DATABASE);
    create(&path)?;
    let fail = judge("fill a database");
    let connection = Connection::open(&path).map_err(&fail)?;
    let pragmas = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF";
    connection.execute_batch(pragmas).map_err(&fail)?;
    connection.set_prepared_statement_cache_capacity(64);
    let common = saved.common(store, level(saved, ids, at)?)?;
    at_once(&connection, || {
        common.insert(&connection).map_err(unsound)?;
        saved.each_rows(store, ids, |_, rows| rows.insert(&connection).map_err(unsound))
    })
}

/// Rows that do not fit into their tables are damage, whatever SQLite calls it.
fn unsound(error: rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(code, _) if code.code == rusqlite::ErrorCode::DiskFull => {
            judge("fill a database")(error)
        }
        error => Flaw::Unsound(error.to_string()).into(),
    }
}

/// Which tables a database gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableChoice {
    /// Those that its sessions were written with, for an engine that knows how to go on from there.
    Own,
    /// The newest, for sessions that are brought together with others.
    Newest,
}

/// Returns the level for some sessions: their own, if all have the same.
fn level<'a>(saved: &'a Saved, ids: &BTreeSet<String>, at: TableChoice) -> Result<&'a SchemaLevel, Flaw> {
    let levels: BTreeSet<&str> =
        ids.iter().filter_map(|id| saved.sessions.get(id)).map(|entry| entry.level.as_str()).collect();
    match (at, levels.first(), levels.len()) {
        (TableChoice::Own, Some(only), 1) => {
            let lost = || Flaw::Manifest("a level is missing".to_owned());
            saved.manifest.levels.get(*only).ok_or_else(lost)
        }
        (TableChoice::Own | TableChoice::Newest, ..) => saved.level(),
    }
}

/// A file to be written.
struct RestoreTarget<'a> {
    path: &'a str,
    bytes: u64,
    chunk: u64,
    chunks: &'a [Hash],
}

fn write(store: &Store, saved: &Saved, targets: &[RestoreTarget<'_>], folder: &Path) -> Result<(), Error> {
    let mut goals: HashMap<Hash, Vec<(usize, u64)>> = HashMap::new();
    for (number, target) in targets.iter().enumerate() {
        create(&folder.join(target.path))?.set_len(target.bytes)?;
        for (ordinal, hash) in (0_u64..).zip(target.chunks) {
            goals.entry(*hash).or_default().push((number, ordinal));
        }
    }
    let mut open: Option<(usize, fs::File)> = None;
    saved.catalog.read(store, goals.keys().copied(), &mut |hash, chunk| {
        for (number, ordinal) in &goals[&hash] {
            let target = &targets[*number];
            let from = ordinal * target.chunk;
            if chunk.len() as u64 != target.chunk.min(target.bytes - from) {
                return Err(Flaw::Manifest("a chunk has another length than its place".to_owned()).into());
            }
            if open.as_ref().is_none_or(|(known, _)| known != number) {
                let file = fs::OpenOptions::new().write(true).open(folder.join(target.path))?;
                open = Some((*number, file));
            }
            if let Some((_, file)) = &open {
                file.write_all_at(chunk, from)?;
            }
        }
        Ok(())
    })
}

/// Refuses to fill the disk: whoever runs out of room in the middle leaves none for anybody else.
fn refuse_without_room(folder: &Path, needed: u64) -> Result<(), Error> {
    let room = rustix::fs::statvfs(folder).map_err(io::Error::from)?;
    let room = room.f_bavail.saturating_mul(room.f_frsize);
    if needed.saturating_add(ROOM_LEFT) <= room {
        return Ok(());
    }
    let what = format!("the memory needs {needed} bytes in `{}`, where {room} are free", folder.display());
    Err(io::Error::new(io::ErrorKind::StorageFull, what).into())
}

fn create(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|error| {
        io::Error::new(error.kind(), format!("failed to create file `{}`: {error}", path.display()))
    })
}
