//! The sessions of a save that the engine was not given: known by their descriptions, fetched when somebody reads them.

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
    sync::{Arc, OnceLock},
};

use blake3::Hash;
use rusqlite::Connection;

use crate::{
    database::{self, judge},
    error::{Error, Flaw},
    sessions::{Info, time},
    snapshot::{
        leaf::{self, SessionEntry},
        manifest::ENGINE_DATABASE,
        part::ChunkPart,
        restore::{TableChoice, restore_sessions},
        saved::Saved,
    },
    store::{Place, Store},
    stores::{StoreSettings, Stores},
};

/// A save with what is needed to read more of it. Sessions that must not be seen are not in it.
#[derive(Debug, Clone)]
pub struct Archive {
    settings: Arc<StoreSettings>,
    place: Place,
    saved: Arc<Saved>,
    /// Opened by the first who needs it; its connections stay open for the others.
    store: Arc<OnceLock<Store>>,
}

impl PartialEq for Archive {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place && self.saved.name == other.saved.name
    }
}

impl Eq for Archive {}

impl Archive {
    /// Remembers a save and where it lies.
    pub(crate) fn new(
        settings: &StoreSettings,
        place: Place,
        mut saved: Saved,
        hidden: &BTreeSet<String>,
    ) -> Self {
        saved.sessions.retain(|id, _| !hidden.contains(id));
        Self { settings: Arc::new(settings.clone()), place, saved: Arc::new(saved), store: Arc::default() }
    }

    /// Returns the save, without the sessions that must not be seen.
    pub(crate) fn saved(&self) -> Arc<Saved> {
        Arc::clone(&self.saved)
    }

    /// Returns what is known of each session.
    pub(crate) fn infos(&self) -> impl Iterator<Item = Info> + '_ {
        self.saved.sessions.iter().map(|(id, entry)| info(id, entry))
    }

    /// Returns what is known of one session.
    pub(crate) fn info(&self, id: &str) -> Option<Info> {
        self.saved.sessions.get(id).map(|entry| info(id, entry))
    }

    /// Returns how much was said in a session, in bytes.
    pub(crate) fn size(&self, id: &str) -> Option<u64> {
        self.saved.sessions.get(id).map(|entry| entry.said)
    }

    /// Opens the file that fetched sessions are put into, made if need be.
    pub(crate) fn open(&self, folder: &Path) -> Result<Connection, Error> {
        let path = folder.join(ENGINE_DATABASE);
        if !path.exists() {
            restore_sessions(self.store()?, &self.saved, folder, &BTreeSet::new(), TableChoice::Newest)?;
        }
        database::open_live(&path)
    }

    /// Makes sure that sessions are in that file.
    pub(crate) fn load(&self, into: &Connection, ids: &BTreeSet<String>) -> Result<(), Error> {
        let fail = judge("look for a fetched session");
        let mut wanted = BTreeSet::new();
        for id in ids.iter().filter(|id| self.saved.sessions.contains_key(*id)) {
            let mut statement = into.prepare_cached("SELECT 1 FROM session WHERE id = ?1").map_err(&fail)?;
            if !statement.exists([id]).map_err(&fail)? {
                wanted.insert(id.clone());
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let insert = judge("put a fetched session in its place");
        crate::merge::at_once(into, || {
            self.saved.each_rows(self.store()?, &wanted, |_, rows| rows.insert(into).map_err(&insert))
        })
    }

    /// Gives an engine that has not started yet one more session, with those that were opened for it.
    pub fn give(&self, engine_data: &Path, session: &str) -> Result<(), Error> {
        let Some(database) = database::find(engine_data)? else { return Ok(()) };
        self.load(&database::open_live(&database)?, &leaf::tree(&self.saved.sessions, session))
    }

    /// Fetches chunks of the save, those that can be read.
    pub(crate) fn sheaves(&self, names: &[Hash]) -> Result<HashMap<Hash, Vec<u8>>, Error> {
        self.saved.fetch_readable(self.store()?, names)
    }

    /// Fetches parts of chunks of the save, those that can be read.
    pub(crate) fn blocks(&self, places: &[ChunkPart]) -> Result<HashMap<ChunkPart, Vec<u8>>, Error> {
        self.saved.catalog.read_parts(self.store()?, places)
    }

    /// Returns the ids of all its sessions.
    pub(crate) fn ids(&self) -> BTreeSet<String> {
        self.saved.sessions.keys().cloned().collect()
    }

    fn store(&self) -> Result<&Store, Error> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let lost = || Error::from(Flaw::Missing(self.saved.name));
        let opened = Stores::open(&self.settings).into_store(self.place).ok_or_else(lost)?;
        Ok(self.store.get_or_init(|| opened))
    }
}

fn info(id: &str, entry: &SessionEntry) -> Info {
    Info {
        id: id.to_owned(),
        title: entry.title.clone(),
        parent: entry.parent.clone(),
        directory: entry.directory.clone(),
        created: time(entry.created),
        updated: time(entry.updated),
        is_archived: entry.archived.is_some(),
        cost: entry.cost,
        messages: entry.messages,
    }
}
