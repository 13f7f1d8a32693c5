//! Turns a finished copy into a save: checks it for the last time, packs what is new and describes it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    thread,
};

use jiff::Timestamp;
use rusqlite::Connection;

use crate::{
    background::Background,
    database::{self, judge},
    error::{Error, Flaw},
    fingerprint::Fingerprints,
    schema::tables,
    secrets::Secrets,
    snapshot::{
        build::{Hashed, Sources, build},
        catalog::{Catalog, FileChunks},
        claims::Claims,
        files::Files,
        manifest::{ENGINE_DATABASE, FORMAT, Gone, INDEX, LEDGER, Manifest, Statistics},
        place::FilePlace,
    },
    store::{Head, Object, ObjectName, Store},
};

/// A memory that is ready to be stored.
pub(crate) struct Upload<'a> {
    pub(crate) engine_version: &'a str,
    pub(crate) now: Timestamp,
    pub(crate) origin: BTreeMap<String, String>,
    pub(crate) parents: Vec<ObjectName>,
    pub(crate) earlier: Option<ObjectName>,
    /// The most packs of earlier saves that may be taken over.
    pub(crate) most_packs: usize,
    pub(crate) database: PathBuf,
    pub(crate) ledger: Option<PathBuf>,
    pub(crate) index: Option<PathBuf>,
    /// Databases that stay as the store has them.
    pub(crate) borrowed: Hashed,
    pub(crate) files: &'a Files,
    /// What the files were when the save began.
    pub(crate) cut: &'a [FileChunks],
    pub(crate) claims: Claims<'a>,
    pub(crate) fingerprints: Fingerprints,
    pub(crate) gone: BTreeMap<String, Gone>,
    pub(crate) secrets: &'a Secrets,
    pub(crate) free: u64,
}

/// What is in the store, though no head points at it yet.
pub(crate) struct Uploaded {
    pub(crate) head: Head,
    pub(crate) sessions: u32,
    pub(crate) bytes: u64,
    /// How many bytes had to travel.
    pub(crate) written: u64,
    /// Tells whether a pack of the save before is in use no more.
    pub(crate) left_packs: bool,
    /// Files that changed though they are not this run's.
    pub(crate) left_out: Vec<FilePlace>,
    pub(crate) statistics: Statistics,
}

impl Upload<'_> {
    /// Stores everything but the head.
    pub(crate) fn store(self, store: &Store, known: Catalog, scratch: &Path) -> Result<Uploaded, Error> {
        let before: BTreeSet<_> = known.packs.iter().map(|pack| pack.name.to_string()).collect();
        let pack = scratch.join("pack");
        let databases = self.databases();
        let sources = Sources {
            databases: databases.clone(),
            files: self.files,
            cut: self.cut,
            claims: self.claims,
            borrowed: self.borrowed,
            secrets: self.secrets,
            most_packs: self.most_packs,
        };
        let (built, migrations) = thread::scope(|scope| {
            let searched = Background::begin(scope, || {
                databases.values().try_for_each(|path| self.secrets.refuse_in(path))
            });
            let checked = Background::begin(scope, || check(&self.database, self.ledger.as_deref()));
            let built = build(sources, known, &pack)?;
            searched.get()?;
            Ok::<_, Error>((built, checked.get()?.clone()))
        })?;

        let sessions = u32::try_from(self.fingerprints.len()).unwrap_or(u32::MAX);
        let fresh = if built.is_packed { built.packs.packs.last().map_or(0, |pack| pack.bytes) } else { 0 };
        let mut manifest = Manifest {
            format: FORMAT,
            engine: self.engine_version.to_owned(),
            saved_at: self.now,
            parents: self.parents,
            earlier: self.earlier,
            origin: self.origin,
            packs: built.packs.packs,
            databases: built.databases,
            files: built.files,
            file_chunks: built.file_chunks,
            migrations,
            sessions: self.fingerprints,
            gone: self.gone,
            statistics: Statistics { sessions, bytes: 0, free: self.free, fresh },
        };
        let bytes = manifest.bytes();
        manifest.statistics.bytes = bytes;
        let after: BTreeSet<_> = manifest.packs.iter().map(|pack| pack.name.to_string()).collect();

        let mut written = 0;
        if built.is_packed
            && let Some(note) = manifest.packs.last()
        {
            written += store.put(Object::Pack(note.name), &pack)?;
        }
        let (name, size) = put_manifest(store, &manifest, scratch)?;
        written += size;
        let left_packs = !before.is_subset(&after);
        let (head, left_out, statistics) = (Head::from(name), built.left_out, manifest.statistics);
        Ok(Uploaded { head, sessions, bytes, written, left_packs, left_out, statistics })
    }

    /// Returns the databases by their names in the manifest.
    fn databases(&self) -> BTreeMap<&'static str, PathBuf> {
        let databases = [
            (ENGINE_DATABASE, Some(&self.database)),
            (LEDGER, self.ledger.as_ref()),
            (INDEX, self.index.as_ref()),
        ];
        databases.into_iter().filter_map(|(name, path)| Some((name, path?.clone()))).collect()
    }
}

/// Makes sure that the database and the ledger are sound and returns the migrations of the database.
fn check(database: &Path, ledger: Option<&Path>) -> Result<BTreeSet<String>, Error> {
    if let Some(ledger) = ledger {
        database::refuse_unsound(&database::open(ledger)?)?;
    }
    let connection = database::open(database)?;
    database::inspect(&connection)?;
    let migrations = migrations(&connection).map_err(judge("read the migrations of the database"))?;
    // The engine would begin to build what is there already, and fail.
    if migrations.is_empty() && tables(&connection, "main").is_ok_and(|tables| tables.contains("migration")) {
        return Err(Flaw::Unsound("it lacks migrations".to_owned()).into());
    }
    Ok(migrations)
}

/// Returns the migrations that a database of the engine went through.
pub(crate) fn migrations(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    if !connection.table_exists(None, "migration")? {
        return Ok(BTreeSet::new());
    }
    connection.prepare("SELECT id FROM migration")?.query_map([], |row| row.get(0))?.collect()
}

fn put_manifest(store: &Store, manifest: &Manifest, scratch: &Path) -> Result<(ObjectName, u64), Error> {
    let bytes = manifest.to_bytes()?;
    let name = ObjectName::from(blake3::hash(&bytes));
    let path = scratch.join("manifest");
    fs_err::write(&path, &bytes)?;
    Ok((name, store.put(Object::Manifest(name), &path)?))
}
