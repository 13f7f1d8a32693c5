//! A memory, brought from its store into a folder of its own, to be looked at or changed by a person.
//!
//! Of the sessions only what is read comes; `restore` brings all of them.

use std::path::{Path, PathBuf};

use fro_core::{Fault, remembered::Audience, workflow::PAGES};
use fro_memory::{
    Archive, Error, Index, Keep, Keeping, Kept, Ledger, Provenance, Recall, RecallTarget, Retention,
    SessionSelection, Sessions, Store, StoreSettings, Stores, peek,
};
use jiff::Timestamp;
use tempfile::TempDir;

use super::which::Which;
use crate::{env::Env, report, waiting::Waiting};

/// A memory that was brought.
pub(crate) struct Opened {
    stores: Stores,
    folder: TempDir,
    recall: Recall,
    /// The sessions that were not brought; nothing if all were.
    archive: Option<Archive>,
}

impl Opened {
    /// Brings what it takes to look at a memory.
    pub(crate) fn bring(which: &Which, env: &Env) -> Result<Self, Fault> {
        Self::look(which.stores(env)?, env)
    }

    /// Brings what it takes to look at the memory in these stores.
    pub(crate) fn look(stores: Stores, env: &Env) -> Result<Self, Fault> {
        let folder = tempfile::tempdir()
            .map_err(|error| Fault::in_temporary_folder("cannot make a temporary folder", &error))?;
        let to = RecallTarget { given: SessionSelection::About(NOTHING), ..destination(folder.path()) };
        let paths = (folder.path().join(LEDGER), folder.path().join(INDEX));
        let to = RecallTarget { ledger: Some(&paths.0), index: Some(&paths.1), ..to };
        let waiting = Waiting::begin(env, "reading the memory");
        let (recall, archive) = first(&stores, env, |store| stores.look_into(store.place(), to))?;
        drop(waiting);
        Ok(Self { stores, folder, recall, archive })
    }

    /// Returns the folder with the engine's data.
    pub(crate) fn data(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder alone, which goes with what is returned.
    pub(crate) fn into_folder(self) -> TempDir {
        self.folder
    }

    /// Returns the sessions.
    pub(crate) fn sessions(&self) -> Result<Sessions, Fault> {
        let none = || Fault::ours("the memory has no database of the engine");
        match &self.archive {
            Some(archive) => {
                let fetched = self.data().join("fetched");
                let made = fs_err::create_dir_all(&fetched);
                made.map_err(|error| Fault::in_temporary_folder("cannot make a temporary folder", &error))?;
                Ok(Sessions::open_all(self.data(), archive, &fetched)?)
            }
            None => Sessions::open(self.data())?.ok_or_else(none),
        }
    }

    /// Returns the ledger.
    pub(crate) fn ledger(&self) -> Result<Ledger, Fault> {
        Ok(Ledger::open(self.ledger_file())?)
    }

    /// Returns the search index, up to date.
    pub(crate) fn index(&self, sessions: &Sessions, ledger: &Ledger) -> Result<Index, Fault> {
        let [saved, own] = [INDEX, "fro-bot-own-index.db"].map(|name| self.data().join(name));
        Ok(Index::saved_or_made(&saved, &own, sessions, ledger)?)
    }

    /// Saves what was changed here; `wish` says how. Returns the stores too, for what is left to do there.
    pub(crate) fn save(
        self,
        env: &Env,
        wish: impl FnOnce(Keep<'_>) -> Keep<'_>,
    ) -> Result<(Stores, Saved), Fault> {
        let (ledger, index) = (self.ledger_file(), self.data().join(INDEX));
        let Self { mut stores, folder, recall, archive } = self;
        let provenance = provenance(recall.head().cloned());
        let keep = Keep::new(folder.path(), provenance).with_ledger(&ledger).with_index(&index);
        // What was not brought is not deleted.
        let keep = if archive.is_some() { keep.only([]) } else { keep };
        let keep = keep.pruning(Retention::EVERYTHING).without(env.credentials());
        let keep = wish(keep.from([("by".to_owned(), "fro-bot memory".to_owned())]));
        let saved = save(&mut stores, &keep, env)?;
        Ok((stores, saved))
    }

    /// Does to a whole copy of a memory what `save` would do to it, and tells what would come of it. Nothing of the copy
    /// stays.
    pub(crate) fn rehearse(
        which: &Which,
        env: &Env,
        wish: impl FnOnce(Keep<'_>) -> Keep<'_>,
    ) -> Result<Saved, Fault> {
        let made = || {
            let folder = tempfile::tempdir();
            folder.map_err(|error| Fault::in_temporary_folder("cannot make a temporary folder", &error))
        };
        let (folder, aside) = (made()?, made()?);
        restore(&which.stores(env)?, folder.path(), env)?;
        let stores = Stores::open(&StoreSettings::folder(aside.path().to_owned()));
        let copy = Self { stores, folder, recall: Recall::Cold, archive: None };
        copy.save(env, wish).map(|(_, saved)| saved)
    }

    fn ledger_file(&self) -> PathBuf {
        self.data().join(LEDGER)
    }
}

/// What a save came to.
pub(crate) struct Saved {
    pub(crate) sessions: u32,
    pub(crate) uploaded: u64,
    pub(crate) report: fro_memory::Report,
}

/// The ledger's name in a folder that a memory was brought to.
pub(crate) const LEDGER: &str = "fro-bot-ledger.db";

/// The name of the search index in such a folder.
pub(crate) const INDEX: &str = "fro-bot-index.db";

/// Says that a person saves, now.
pub(crate) fn provenance(parent: Option<fro_memory::Head>) -> Provenance {
    Provenance { now: Timestamp::now(), engine_version: fro_opencode::VERSION.to_owned(), parent }
}

/// A subject that nobody speaks about.
const NOTHING: &str = "";

/// Brings the newest memory of the first store that has one into a folder, every byte verified.
pub(crate) fn restore(stores: &Stores, folder: &Path, env: &Env) -> Result<Recall, Fault> {
    let (ledger, index) = (folder.join(LEDGER), folder.join(INDEX));
    let to = RecallTarget { ledger: Some(&ledger), index: Some(&index), ..destination(folder) };
    first(stores, env, |store| peek(store, to).map(|recall| (recall, None))).map(|(recall, _)| recall)
}

fn destination(folder: &Path) -> RecallTarget<'_> {
    RecallTarget {
        engine_data: folder,
        ledger: None,
        index: None,
        engine_version: Some(fro_opencode::VERSION),
        audience: Audience::Insiders,
        given: SessionSelection::Everything,
    }
}

/// Asks one store after the other, until one has a memory.
fn first(
    stores: &Stores,
    env: &Env,
    ask: impl Fn(&Store) -> Result<(Recall, Option<Archive>), Error>,
) -> Result<(Recall, Option<Archive>), Fault> {
    let mut trouble = None;
    for store in stores.iter() {
        let fault = match ask(store) {
            Ok((warm @ Recall::Warm { .. }, archive)) => return Ok((warm, archive)),
            Ok((Recall::Cold, _)) => continue,
            Ok((Recall::Newer { why }, _)) => Fault::yours(
                format!("the memory in {} cannot be used: {why}", store.place()),
                "use the release that saved it, or one that has a newer engine",
            ),
            Ok((Recall::Damaged { why }, _)) => Fault::yours(
                format!("the memory in {} cannot be used: {why}", store.place()),
                format!(
                    "the next run sets it aside and begins a new one; {PAGES}/rollback.md says how to go back"
                ),
            ),
            Err(error) => error.into(),
        };
        report::complaint(env, &fault);
        trouble.get_or_insert(fault);
    }
    Err(trouble.unwrap_or_else(|| Fault::yours("the memory is empty", "let a run save something first")))
}

/// Saves to all stores, and tells what went wrong in some.
pub(crate) fn save(stores: &mut Stores, keep: &Keep<'_>, env: &Env) -> Result<Saved, Fault> {
    let waiting = Waiting::begin(env, "saving the memory");
    let Keeping { kept, warnings, .. } = stores.keep(keep);
    drop(waiting);
    for warning in warnings {
        report::complaint(env, &Fault::ours(warning));
    }
    match kept {
        Some(Kept::Saved { sessions, uploaded, report, .. }) => Ok(Saved { sessions, uploaded, report }),
        Some(Kept::Raced { .. }) => {
            Err(Fault::yours("others save all the time, so this was not saved", "try again in a while"))
        }
        Some(Kept::Nothing) => Err(Fault::yours(
            "there is no database of the engine, so nothing was saved",
            "give a folder that `fro-bot memory pull` filled",
        )),
        None => Err(Fault::yours("nothing was saved", "fix what the warnings say and try again")),
    }
}
