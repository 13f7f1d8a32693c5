//! What is saved beside the engine's database: our ledger, and the search index.

use std::path::{Path, PathBuf};

use super::{Attempt, Known};
use crate::{
    database,
    error::Error,
    index::Index,
    keep::Report,
    ledger,
    snapshot::{
        build::{Hashed, PAGE},
        manifest::{INDEX, LEDGER},
        restore::restore_database,
    },
};

impl Attempt<'_, '_> {
    /// Returns our ledger with the rows of theirs, or theirs as it lies in the store.
    pub(super) fn ledger(
        &self,
        theirs: Option<&Known>,
        scratch: &Path,
    ) -> Result<(Option<PathBuf>, Hashed), Error> {
        let pages = theirs.and_then(|known| Some((known, known.manifest.databases.get(LEDGER)?)));
        match (&self.local.ledger, pages) {
            (None, None) => Ok((None, Hashed::new())),
            (None, Some((known, pages))) if pages.chunk == PAGE => {
                Ok((None, Hashed::from([(LEDGER, known.catalog.database(pages))])))
            }
            (None, Some((known, _))) => {
                restore_database(self.store, &known.manifest, scratch, LEDGER)?;
                Ok((Some(scratch.join(LEDGER)), Hashed::new()))
            }
            (Some(ours), None) => Ok((Some(ours.clone()), Hashed::new())),
            (Some(ours), Some((known, _))) => {
                if self.local.base.as_ref().is_some_and(|base| base.name == known.name) {
                    return Ok((Some(ours.clone()), Hashed::new()));
                }
                restore_database(self.store, &known.manifest, scratch, LEDGER)?;
                let merged = scratch.join(LEDGER);
                ledger::merge(&merged, ours, &self.forgotten(known))?;
                Ok((Some(merged), Hashed::new()))
            }
        }
    }

    /// Returns a search index of what is saved: that of the head, with what is new.
    ///
    /// It can be made anew at any time, so trouble with it is no reason not to save. Words that were taken out or
    /// forgotten would stay in it, so it is then made anew.
    pub(super) fn index(
        &self,
        theirs: Option<&Known>,
        (database, ledger): (&Path, Option<&Path>),
        scratch: &Path,
        report: &Report,
    ) -> Option<PathBuf> {
        let known = self.keep.index?;
        let index = scratch.join(INDEX);
        let is_clean = report.redacted == 0 && report.forgotten.is_empty();
        let is_unmoved = theirs.map(|theirs| theirs.name) == self.local.base.as_ref().map(|base| base.name);
        let made = || -> Result<(), Error> {
            match theirs.filter(|theirs| is_clean && theirs.manifest.databases.contains_key(INDEX)) {
                Some(_) if is_unmoved && known.exists() => drop(fs_err::copy(known, &index)?),
                Some(theirs) => restore_database(self.store, &theirs.manifest, scratch, INDEX)?,
                None => {}
            }
            let ledger = ledger.map(database::open).transpose()?;
            let read = Index::open(&index)?.read_from(&database::open(database)?, ledger.as_ref())?;
            tracing::debug!(read, "sessions were read into the search index");
            Ok(())
        };
        match made() {
            Ok(()) => Some(index),
            Err(error) => {
                tracing::warn!("the search index was not saved: {}", error.story());
                None
            }
        }
    }

    /// Returns the sessions that nothing brings back.
    fn forgotten<'b>(&'b self, theirs: &'b Known) -> Vec<&'b String> {
        theirs.manifest.forgotten().chain(&self.forget).collect()
    }
}
