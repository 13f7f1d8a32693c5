//! Turns what is to be saved into objects of a store: packs what is new and describes the whole.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::Connection;

use crate::{
    error::{Error, Flaw},
    keep::Searched,
    schema::tables,
    snapshot::{
        catalog::{Catalog, FileChunks},
        count,
        leaf::{self, SessionEntries},
        manifest::{
            ChunkRun, FORMAT, INDEX, LEDGER, Leaf, Manifest, Pages, RemovedSession, SEARCHED_FOR,
            SchemaLevel, Statistics,
        },
        packer::{PAGE, Packed, Packer},
    },
    store::{Head, Object, ObjectName, Store},
};

/// The chunks of each level's schema and rows that belong to no session, with its migrations.
pub(crate) type SchemaLevels = BTreeMap<String, (BTreeSet<String>, Vec<Hash>)>;

/// The file of the pack in the making.
pub(crate) const PACK: &str = "pack";

/// A memory that is ready to be stored.
pub(crate) struct Upload<'a> {
    /// What the store has already.
    pub(crate) known: &'a Catalog,
    /// The folder with the pack.
    pub(crate) scratch: &'a Path,
    pub(crate) engine_version: &'a str,
    pub(crate) now: Timestamp,
    pub(crate) origin: BTreeMap<String, String>,
    pub(crate) searched: Searched,
    pub(crate) parents: Vec<ObjectName>,
    pub(crate) earlier: Option<ObjectName>,
    /// The most packs of earlier saves that may be taken over.
    pub(crate) most_packs: usize,
    pub(crate) ledger: Option<Own>,
    pub(crate) index: Option<PathBuf>,
    /// The files that are named after no session.
    pub(crate) files: Vec<FileChunks>,
    pub(crate) sessions: SessionEntries,
    pub(crate) level: String,
    pub(crate) levels: SchemaLevels,
    pub(crate) gone: BTreeMap<String, RemovedSession>,
}

/// One of our own databases.
pub(crate) enum Own {
    /// As it lies here.
    Local(PathBuf),
    /// As the store has it: its length and its chunks.
    Stored(u64, Vec<Hash>),
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
    pub(crate) statistics: Statistics,
}

/// The chunks of everything that a manifest speaks of.
struct Described {
    databases: BTreeMap<&'static str, (u64, Vec<Hash>)>,
    leaves: Vec<(String, Vec<Hash>)>,
}

impl Upload<'_> {
    /// Stores everything but the head.
    pub(crate) fn store(mut self, store: &Store, mut packer: Packer<'_>) -> Result<Uploaded, Error> {
        let scratch = self.scratch;
        let described = self.describe(&mut packer)?;
        let Packed { packs, has_new, free, moved_from } = packer.end(store, self.most_packs)?;
        let searched = self.searched.note(packs.packs.iter().map(|pack| pack.name), &moved_from);
        self.origin.insert(SEARCHED_FOR.to_owned(), searched);
        let before: BTreeSet<_> = self.known.packs.iter().map(|pack| pack.name.to_string()).collect();
        let manifest = self.manifest(&described, &packs, has_new, free)?;
        let after: BTreeSet<_> = manifest.packs.iter().map(|pack| pack.name.to_string()).collect();
        let mut written = 0;
        if has_new && let Some(note) = manifest.packs.last() {
            written += store.put(Object::Pack(note.name), &scratch.join(PACK))?;
        }
        let (name, size) = put_manifest(store, &manifest, scratch)?;
        written += size;
        let (left_packs, statistics) = (!before.is_subset(&after), manifest.statistics);
        let (head, sessions, bytes) = (Head::from(name), statistics.sessions, statistics.bytes);
        Ok(Uploaded { head, sessions, bytes, written, left_packs, statistics })
    }

    /// Packs what is not packed yet, and says that the rest is in use.
    fn describe(&mut self, packer: &mut Packer<'_>) -> Result<Described, Error> {
        let mut databases = BTreeMap::new();
        match self.ledger.take() {
            Some(Own::Local(path)) => drop(databases.insert(LEDGER, packer.add_database(&path)?)),
            Some(Own::Stored(bytes, chunks)) => drop(databases.insert(LEDGER, (bytes, chunks))),
            None => {}
        }
        if let Some(index) = &self.index {
            databases.insert(INDEX, packer.add_database(index)?);
        }
        let mut leaves = Vec::new();
        for (first, bytes) in leaf::cut(&self.sessions)? {
            let chunks = packer.add_among_others(&bytes)?.into_iter().map(ObjectName::hash).collect();
            leaves.push((first, chunks));
        }
        packer.keep(databases.values().flat_map(|(_, chunks)| chunks).copied());
        packer.keep(self.levels.values().flat_map(|(_, chunks)| chunks).copied());
        packer.keep(self.files.iter().flat_map(|file| &file.chunks).copied());
        for entry in self.sessions.values() {
            let files = entry.files.iter().flat_map(|file| &file.2);
            packer.keep(entry.rows.iter().chain(files).map(|name| name.hash()));
        }
        Ok(Described { databases, leaves })
    }

    fn manifest(
        self,
        described: &Described,
        packs: &Catalog,
        has_new: bool,
        free: u64,
    ) -> Result<Manifest, Error> {
        let runs = |chunks: &[Hash]| -> Result<Vec<ChunkRun>, Error> {
            let lost = || Error::Files(std::io::Error::other("a chunk was lost while packing"));
            packs.runs(chunks).ok_or_else(lost)
        };
        let mut databases = BTreeMap::new();
        for (name, (bytes, chunks)) in &described.databases {
            let pages = Pages { bytes: *bytes, chunk: PAGE, chunks: runs(chunks)? };
            databases.insert((*name).to_owned(), pages);
        }
        let mut levels = BTreeMap::new();
        for (key, (migrations, chunks)) in self.levels {
            levels.insert(key, SchemaLevel { migrations, common: runs(&chunks)? });
        }
        let mut leaves = Vec::new();
        for (first, chunks) in &described.leaves {
            leaves.push(Leaf { first: first.clone(), chunks: runs(chunks)? });
        }
        let file_chunks: Vec<Hash> = self.files.iter().flat_map(|file| &file.chunks).copied().collect();
        let fresh = if has_new { packs.packs.last().map_or(0, |pack| pack.bytes) } else { 0 };
        let owned = self.sessions.values().flat_map(|entry| &entry.files).map(|file| file.1);
        let bytes = described.databases.values().map(|(bytes, _)| *bytes);
        let bytes = bytes.chain(self.files.iter().map(|file| file.bytes)).chain(owned);
        let bytes = bytes.chain(self.sessions.values().map(|entry| entry.bytes)).sum();
        let sessions = count(self.sessions.len());
        Ok(Manifest {
            format: FORMAT,
            engine: self.engine_version.to_owned(),
            saved_at: self.now,
            parents: self.parents,
            earlier: self.earlier,
            origin: self.origin,
            packs: packs.packs.clone(),
            databases,
            file_chunks: runs(&file_chunks)?,
            files: self.files.into_iter().map(|file| (file.place, file.bytes)).collect(),
            level: self.level,
            levels,
            leaves,
            gone: self.gone,
            statistics: Statistics { sessions, bytes, free, fresh },
        })
    }
}

/// Returns the migrations that a database of the engine went through.
pub(crate) fn migrations(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    if !connection.table_exists(None, "migration")? {
        return Ok(BTreeSet::new());
    }
    connection.prepare("SELECT id FROM migration")?.query_map([], |row| row.get(0))?.collect()
}

/// Refuses a database that lacks its migrations: the engine would begin to build what is there already, and fail.
pub(crate) fn refuse_without_migrations(
    connection: &Connection,
    migrations: &BTreeSet<String>,
) -> Result<(), Flaw> {
    let is_wanting =
        migrations.is_empty() && tables(connection, "main").is_ok_and(|tables| tables.contains("migration"));
    if is_wanting { Err(Flaw::Unsound("it lacks migrations".to_owned())) } else { Ok(()) }
}

/// Returns the name of a level: databases that went through the same migrations have the same tables.
pub(crate) fn level_of(migrations: &BTreeSet<String>) -> String {
    let mut hasher = blake3::Hasher::new();
    for id in migrations {
        hasher.update(id.as_bytes()).update(&[0]);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

fn put_manifest(store: &Store, manifest: &Manifest, scratch: &Path) -> Result<(ObjectName, u64), Error> {
    let bytes = manifest.to_bytes()?;
    let name = ObjectName::from(blake3::hash(&bytes));
    let path = scratch.join("manifest");
    fs_err::write(&path, &bytes)?;
    Ok((name, store.put(Object::Manifest(name), &path)?))
}
