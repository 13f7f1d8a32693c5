//! A memory, brought from its store into a folder of its own, to be looked at or changed by a person.

use std::path::{Path, PathBuf};

use fro_core::Fault;
use fro_memory::{
    Destination, Given, Index, Keep, Keeping, Kept, Ledger, Provenance, Recall, Retention, Sessions, Stores,
    Visibility, peek,
};
use jiff::Timestamp;
use tempfile::TempDir;

use super::which::Which;
use crate::{env::Env, report};

/// A memory that was brought.
pub(crate) struct Opened {
    stores: Stores,
    folder: TempDir,
    recall: Recall,
}

impl Opened {
    /// Brings a memory, every byte verified.
    pub(crate) fn bring(which: &Which, env: &Env) -> Result<Self, Fault> {
        let stores = which.stores(env)?;
        let folder = tempfile::tempdir()
            .map_err(|error| Fault::in_temporary_folder("cannot make a temporary folder", &error))?;
        let recall = restore(&stores, folder.path(), env)?;
        Ok(Self { stores, folder, recall })
    }

    /// Returns the folder with the engine's data.
    pub(crate) fn data(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the sessions.
    pub(crate) fn sessions(&self) -> Result<Sessions, Fault> {
        Sessions::open(self.data())?.ok_or_else(|| Fault::ours("the memory has no database of the engine"))
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
        let Self { mut stores, folder, recall } = self;
        let provenance = provenance(recall.head().cloned());
        let keep = Keep::new(folder.path(), provenance).with_ledger(&ledger).with_index(&index);
        let keep = keep.pruning(Retention::EVERYTHING).without(env.credentials());
        let keep = wish(keep.from([("by".to_owned(), "fro-bot memory".to_owned())]));
        let saved = save(&mut stores, &keep, env)?;
        Ok((stores, saved))
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

/// Brings the newest memory of the first store that has one into a folder.
pub(crate) fn restore(stores: &Stores, folder: &Path, env: &Env) -> Result<Recall, Fault> {
    let (ledger, index) = (folder.join(LEDGER), folder.join(INDEX));
    let destination = Destination {
        engine_data: folder,
        ledger: Some(&ledger),
        index: Some(&index),
        engine_version: Some(fro_opencode::VERSION),
        audience: Visibility::Private,
        given: Given::Everything,
    };
    let mut trouble = None;
    for store in stores.iter() {
        let fault = match peek(store, destination) {
            Ok(warm @ Recall::Warm { .. }) => return Ok(warm),
            Ok(Recall::Cold) => continue,
            Ok(Recall::Damaged { why }) => Fault::yours(
                format!("the memory in {} cannot be used: {why}", store.place()),
                "the next run sets it aside and begins a new one; `docs/rollback.md` says how to go back",
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
    let Keeping { kept, warnings, .. } = stores.keep(keep);
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
        None => Err(Fault::yours("nothing was saved", "mend what the warnings tell and try again")),
    }
}
