//! Restores the last undamaged save of a store into a folder of its own, from which it can be saved again.

use std::path::PathBuf;

use fro_core::remembered::Audience;
use tempfile::TempDir;

use crate::{
    error::Error,
    keep::{Keep, Provenance},
    prune::Retention,
    recall::{Recall, RecallTarget, SessionSelection, recall_to},
    store::Store,
};

/// A memory in a folder, which goes with it.
pub(super) struct WholeMemory {
    engine_data: PathBuf,
    ledger: PathBuf,
    index: PathBuf,
    _folder: TempDir,
}

impl WholeMemory {
    /// Brings everything that the newest whole save of a store has, and says which save that is.
    pub(super) fn fetch(store: &Store) -> Result<(Self, Recall), Error> {
        let folder = tempfile::tempdir()?;
        let [engine_data, ledger, index] =
            ["data", "ledger.db", "index.db"].map(|name| folder.path().join(name));
        let to = RecallTarget {
            engine_data: &engine_data,
            ledger: Some(&ledger),
            index: Some(&index),
            engine_version: None,
            audience: Audience::Insiders,
            given: SessionSelection::Everything,
        };
        let recall = recall_to(store, to)?;
        Ok((Self { engine_data, ledger, index, _folder: folder }, recall))
    }

    /// Returns a save of everything in it.
    pub(super) fn keep(&self, provenance: Provenance) -> Keep<'_> {
        let keep = Keep::new(&self.engine_data, provenance).pruning(Retention::EVERYTHING);
        keep.with_ledger(&self.ledger).with_index(&self.index)
    }
}
