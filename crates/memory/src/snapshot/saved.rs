//! A save in a store, as far as it was looked at: its manifest, where its chunks lie, and what is known of its sessions.

use std::collections::{BTreeSet, HashMap, HashSet};

use blake3::Hash;

use super::{
    catalog::{Catalog, FileChunks},
    leaf::{self, FileNote, MAX_LEAF, SessionEntries},
    manifest::{LEDGER, MAX_RATIO, MAX_SURPLUS, Manifest, Pages, SchemaLevel},
    place::FilePlace,
    rescue,
    rows::{CommonRows, Rows},
    unpack::Copies,
};
use crate::{
    error::{Error, Flaw},
    fingerprint::Fingerprints,
    store::{Head, ObjectName, Store},
};

/// So much of the rows of sessions is held at a time.
const BATCH: u64 = 16 << 20;

/// The most that one session may have.
const MAX_SESSION: u64 = 1 << 30;

/// A save.
#[derive(Debug, Clone)]
pub(crate) struct Saved {
    pub(crate) name: ObjectName,
    pub(crate) manifest: Manifest,
    pub(crate) catalog: Catalog,
    pub(crate) sessions: SessionEntries,
    /// A ledger with the rows that can still be read, where that of the save is damaged.
    pub(crate) rescued: Option<Vec<u8>>,
}

impl Saved {
    /// Looks at the save that a head names.
    pub(crate) fn at(store: &Store, head: &Head) -> Result<Self, Error> {
        let name = head.manifest()?;
        Self::open(store, name, Manifest::fetch(store, name)?)
    }

    /// Looks at a save whose manifest is here.
    pub(crate) fn open(store: &Store, name: ObjectName, manifest: Manifest) -> Result<Self, Error> {
        let catalog = Catalog::fetch(store, &manifest)?;
        let mut saved = Self { name, manifest, catalog, sessions: SessionEntries::new(), rescued: None };
        let leaves = saved.manifest.leaves.iter().map(|leaf| saved.catalog.chunks(&leaf.chunks));
        let leaves: Vec<Vec<Hash>> = leaves.collect();
        let read = saved.fetch(store, leaves.iter().flatten().copied())?;
        let mut sessions = SessionEntries::new();
        for (leaf, chunks) in saved.manifest.leaves.iter().zip(&leaves) {
            leaf::read(&joined(&read, chunks, MAX_LEAF)?, &leaf.first, &mut sessions)?;
        }
        saved.sessions = sessions;
        saved.check()?;
        Ok(saved)
    }

    /// Looks at what is left of a damaged save: its sessions but those that cannot be read. Nothing if none can be.
    pub(crate) fn salvage(
        store: &Store,
        name: ObjectName,
        mut manifest: Manifest,
    ) -> Result<Option<Self>, Error> {
        let catalog = Catalog::salvage(store, &manifest)?;
        manifest.levels.retain(|_, level| catalog.readable(&level.common).is_some());
        let rescued = match manifest.databases.get(LEDGER) {
            Some(pages) if catalog.readable(&pages.chunks).is_none() => {
                rescue::ledger(store, &catalog, pages)?
            }
            Some(_) | None => None,
        };
        manifest.databases.retain(|_, pages| catalog.readable(&pages.chunks).is_some());
        if catalog.readable(&manifest.file_chunks).is_none() {
            (manifest.files, manifest.file_chunks) = (Vec::new(), Vec::new());
        }
        let mut saved = Self { name, manifest, catalog, sessions: SessionEntries::new(), rescued };
        let mut sessions = SessionEntries::new();
        for leaf in &saved.manifest.leaves {
            let Some(chunks) = saved.catalog.readable(&leaf.chunks) else { continue };
            let read = saved.fetch(store, chunks.iter().copied())?;
            leaf::read(&joined(&read, &chunks, MAX_LEAF)?, &leaf.first, &mut sessions)?;
        }
        let has = |names: &[ObjectName]| names.iter().all(|name| saved.catalog.has(&name.hash()));
        sessions.retain(|_, entry| has(&entry.rows) && saved.manifest.levels.contains_key(&entry.level));
        for entry in sessions.values_mut() {
            entry.files.retain(|file| has(&file.2));
        }
        if sessions.is_empty() || !saved.manifest.levels.contains_key(&saved.manifest.level) {
            return Ok(None);
        }
        saved.manifest.statistics.sessions = super::count(sessions.len());
        saved.sessions = sessions;
        saved.check()?;
        Ok(Some(saved))
    }

    /// Takes from an earlier save what this one lost, but for sessions that were let go since.
    pub(crate) fn fill_from(&mut self, earlier: Self, forgotten: &BTreeSet<String>) {
        let Self { manifest, catalog, sessions, .. } = earlier;
        let levels: Vec<_> = manifest
            .levels
            .into_iter()
            .map(|(key, level)| (key, level.migrations, catalog.chunks(&level.common)))
            .collect();
        let ledger =
            manifest.databases.get(LEDGER).map(|pages| (pages.clone(), catalog.chunks(&pages.chunks)));
        self.catalog.take_in(catalog);
        for (key, migrations, chunks) in levels {
            if let Some(common) = self.catalog.runs(&chunks) {
                self.manifest.levels.entry(key).or_insert(SchemaLevel { migrations, common });
            }
        }
        if let Some((pages, chunks)) = ledger.filter(|_| !self.manifest.databases.contains_key(LEDGER))
            && let Some(chunks) = self.catalog.runs(&chunks)
        {
            self.manifest.databases.insert(LEDGER.to_owned(), Pages { chunks, ..pages });
        }
        for (id, entry) in sessions {
            let is_let_go = self.manifest.gone.contains_key(&id) || forgotten.contains(&id);
            if !is_let_go && self.manifest.levels.contains_key(&entry.level) {
                self.sessions.entry(id).or_insert(entry);
            }
        }
        self.manifest.packs.clone_from(&self.catalog.packs);
        self.manifest.statistics.sessions = super::count(self.sessions.len());
    }

    /// Makes sure that it contradicts neither itself nor our limits.
    fn check(&self) -> Result<(), Flaw> {
        let say = |what: String| Err(Flaw::Manifest(what));
        if self.sessions.len() != self.manifest.statistics.sessions as usize {
            return say(format!("it has {} sessions", self.sessions.len()));
        }
        let bytes = self.sessions.values().fold(0_u64, |sum, entry| sum.saturating_add(entry.bytes));
        let stored = self.manifest.packs.iter().fold(0_u64, |sum, pack| sum.saturating_add(pack.size));
        if bytes > stored.saturating_mul(MAX_RATIO).saturating_add(MAX_SURPLUS) {
            return say(format!("it would unpack {bytes} bytes from {stored}"));
        }
        for (id, entry) in &self.sessions {
            if !self.manifest.levels.contains_key(&entry.level) {
                return say("a session is of a level that it does not have".to_owned());
            }
            // Whoever writes to the store could else give a session the files of another.
            if !entry.files.iter().all(|file| file.0.belongs_to(id)) {
                return say("a session has a file that is not its own".to_owned());
            }
        }
        FilePlace::check_all(self.places().iter())
    }

    fn places(&self) -> BTreeSet<FilePlace> {
        let own = self.sessions.values().flat_map(|entry| &entry.files).map(|file| file.0.clone());
        self.manifest.files.iter().map(|(place, _)| place.clone()).chain(own).collect()
    }

    /// Tells whether it has a ledger, or what is left of one.
    pub(crate) fn has_ledger(&self) -> bool {
        self.rescued.is_some() || self.manifest.databases.contains_key(LEDGER)
    }

    /// Returns what comparing sessions takes.
    pub(crate) fn notes(&self) -> Fingerprints {
        self.sessions.iter().map(|(id, entry)| (id.clone(), entry.note())).collect()
    }

    /// Returns the level that it was made at.
    pub(crate) fn level(&self) -> Result<&SchemaLevel, Flaw> {
        let lost = || Flaw::Manifest("it lacks its own level".to_owned());
        self.manifest.levels.get(&self.manifest.level).ok_or_else(lost)
    }

    /// Returns the migrations that the newest of its databases went through.
    pub(crate) fn migrations(&self) -> BTreeSet<String> {
        self.level().map(|level| level.migrations.clone()).unwrap_or_default()
    }

    /// Returns the chunks of what belongs to no session.
    pub(crate) fn beside(&self) -> HashSet<Hash> {
        let Manifest { databases, levels, file_chunks, .. } = &self.manifest;
        let runs =
            databases.values().map(|pages| &pages.chunks).chain(levels.values().map(|level| &level.common));
        runs.chain([file_chunks]).flat_map(|runs| self.catalog.chunks(runs)).collect()
    }

    /// Returns the files that are named after no session, and those of some sessions.
    pub(crate) fn files(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<FileChunks> {
        let mut files = self.catalog.files(&self.manifest);
        for (_, entry) in self.sessions.iter().filter(|(id, _)| is_wanted(id)) {
            files.extend(entry.files.iter().map(|FileNote(place, bytes, chunks)| FileChunks {
                place: place.clone(),
                bytes: *bytes,
                chunks: chunks.iter().map(|name| name.hash()).collect(),
            }));
        }
        files.sort_by(|left, right| left.place.cmp(&right.place));
        files
    }

    /// Fetches chunks.
    pub(crate) fn fetch(
        &self,
        store: &Store,
        chunks: impl IntoIterator<Item = Hash>,
    ) -> Result<HashMap<Hash, Vec<u8>>, Error> {
        let mut fetched = HashMap::new();
        self.catalog.read(store, chunks, &mut |hash, chunk| {
            fetched.insert(hash, chunk.to_vec());
            Ok(())
        })?;
        Ok(fetched)
    }

    /// Fetches those chunks that can be read.
    pub(crate) fn fetch_readable(
        &self,
        store: &Store,
        chunks: &[Hash],
    ) -> Result<HashMap<Hash, Vec<u8>>, Error> {
        let known: Vec<Hash> = chunks.iter().filter(|name| self.catalog.has(name)).copied().collect();
        match self.fetch(store, known.iter().copied()) {
            Err(Error::Flawed(_)) => {
                let lost = self.catalog.unreadable(store, &known, Copies::Either)?;
                self.fetch(store, known.into_iter().filter(|name| !lost.contains(name)))
            }
            fetched => fetched,
        }
    }

    /// Fetches the schema and the rows of a level that belong to no session.
    pub(crate) fn common(&self, store: &Store, level: &SchemaLevel) -> Result<CommonRows, Error> {
        let chunks = self.catalog.chunks(&level.common);
        let read = self.fetch(store, chunks.iter().copied())?;
        Ok(CommonRows::parse(&joined(&read, &chunks, MAX_SESSION)?)?)
    }

    /// Hands out the bytes of the rows of some sessions, a few of them at a time in memory.
    pub(crate) fn each_session<'a>(
        &self,
        store: &Store,
        ids: impl IntoIterator<Item = &'a String>,
        mut with: impl FnMut(&str, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut ids = ids.into_iter().peekable();
        while ids.peek().is_some() {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while bytes < BATCH
                && let Some(id) = ids.next()
            {
                let lost = || Flaw::Manifest(format!("it lacks the session `{id}`"));
                let entry = self.sessions.get(id).ok_or_else(lost)?;
                let chunks: Vec<Hash> = entry.rows.iter().map(|name| name.hash()).collect();
                bytes += entry.bytes;
                batch.push((id, entry, chunks));
            }
            let read = self.fetch(store, batch.iter().flat_map(|(_, _, chunks)| chunks).copied())?;
            for (id, entry, chunks) in &batch {
                let joined = joined(&read, chunks, MAX_SESSION)?;
                if joined.len() as u64 != entry.bytes {
                    return Err(Flaw::Unpacked(format!("the session `{id}` has another length")).into());
                }
                with(id, &joined)?;
            }
        }
        Ok(())
    }

    /// Hands out the rows of some sessions.
    pub(crate) fn each_rows<'a>(
        &self,
        store: &Store,
        ids: impl IntoIterator<Item = &'a String>,
        mut with: impl FnMut(&str, &Rows) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.each_session(store, ids, |id, bytes| {
            let rows = Rows::parse(bytes)?;
            if rows.text("id") != Some(id)
                || rows.integer("time_updated").is_some_and(|time| time != self.sessions[id].updated)
            {
                return Err(Flaw::Unpacked(format!("the rows of `{id}` are another session's")).into());
            }
            with(id, &rows)
        })
    }
}

/// Puts chunks together.
fn joined(read: &HashMap<Hash, Vec<u8>>, chunks: &[Hash], most: u64) -> Result<Vec<u8>, Flaw> {
    let mut bytes = Vec::new();
    for chunk in chunks.iter().filter_map(|hash| read.get(hash)) {
        bytes.extend_from_slice(chunk);
        if bytes.len() as u64 > most {
            return Err(Flaw::TooLarge { what: "a part of the memory".to_owned(), limit: most });
        }
    }
    Ok(bytes)
}
