//! What is saved beside the sessions: our ledger, and the search index.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use blake3::Hash;

use super::{Attempt, NextSave};
use crate::{
    database,
    error::Error,
    index::{Blocks, Index},
    keep::Report,
    ledger,
    snapshot::{
        manifest::{ENGINE_DATABASE, INDEX, LEDGER},
        packer::{PAGE, Packer},
        restore::{TableChoice, restore_own, restore_sessions},
        saved::Saved,
    },
    upload::Own,
    wipe::wipe,
};

impl Attempt<'_, '_> {
    /// Returns our ledger with the rows of theirs, or theirs as it lies in the store.
    pub(super) fn ledger(&self, next: &NextSave<'_>, report: &mut Report) -> Result<Option<Own>, Error> {
        let NextSave { theirs, scratch, .. } = *next;
        let merged = scratch.join(LEDGER);
        let path = match (&self.local.ledger, theirs.filter(|known| known.has_ledger())) {
            (None, None) => return Ok(None),
            (None, Some(known)) => {
                if let Some(stored) = stored_ledger(known).filter(|_| report.redacted == 0) {
                    return Ok(Some(stored));
                }
                restore_own(self.store, known, scratch, LEDGER)?;
                merged
            }
            (Some(ours), None) => ours.clone(),
            (Some(ours), Some(known)) => {
                if self.local.base.as_ref().is_some_and(|base| base.name == known.name) {
                    ours.clone()
                } else {
                    restore_own(self.store, known, scratch, LEDGER)?;
                    ledger::merge(&merged, ours, &self.forgotten(known))?;
                    merged
                }
            }
        };
        let copy = database::open_copy(&path)?;
        report.redacted += self.secrets.scrub(&copy)?;
        ledger::strip(&copy)?;
        drop(copy);
        wipe(&path)?;
        database::refuse_unsound(&database::open(&path)?)?;
        Ok(Some(Own::Local(path)))
    }

    /// Returns a search index of what is saved: that of the head, with what is new.
    ///
    /// It can be made anew at any time, so trouble with it is no reason not to save. Words that were taken out or
    /// forgotten would stay in it, so it is then put in order.
    pub(super) fn index(
        &self,
        next: &NextSave<'_>,
        ledger: Option<&Own>,
        (report, packer): (&Report, &mut Packer<'_>),
    ) -> Option<PathBuf> {
        let known = self.keep.index?;
        let made = self.updated_index(next, (known, ledger), report);
        let made = made.and_then(|index| pack_blocks(&index, known, packer).map(|()| index));
        made.inspect_err(|error| tracing::warn!("the search index was not saved: {}", error.story())).ok()
    }

    fn updated_index(
        &self,
        next: &NextSave<'_>,
        (known, ledger): (&Path, Option<&Own>),
        report: &Report,
    ) -> Result<PathBuf, Error> {
        let NextSave { theirs, scratch, .. } = *next;
        let path = scratch.join(INDEX);
        let is_unmoved = theirs.map(|theirs| theirs.name) == self.local.base.as_ref().map(|base| base.name);
        match theirs {
            // The blocks that were fetched for questions stay where they are: the store has them.
            Some(_) if is_unmoved && known.exists() => drop(fs_err::copy(known, &path)?),
            Some(theirs) => restore_own(self.store, theirs, scratch, INDEX)?,
            // What was never saved may have an index all the same: one that was carried over.
            None if known.exists() => drop(fs_err::copy(known, &path)?),
            None => {}
        }
        let ledger = match ledger {
            Some(Own::Local(path)) => Some(database::open(path)?),
            Some(Own::Stored(..)) | None => None,
        };
        let mut index = Index::open(&path)?;
        if let Some(theirs) = theirs.filter(|_| index.is_new()) {
            let folder = scratch.join("all");
            fs_err::create_dir(&folder)?;
            let all = theirs.sessions.keys().filter(|id| next.sessions.contains_key(*id)).cloned().collect();
            restore_sessions(self.store, theirs, &folder, &all, TableChoice::Newest)?;
            index.read_from(&database::open(&folder.join(ENGINE_DATABASE))?, ledger.as_ref())?;
        }
        for source in &next.sources {
            let connection = database::open(&source.database)?;
            index.update(&connection, &source.sessions, &next.sessions, ledger.as_ref())?;
        }
        index.retain(|session| next.sessions.contains_key(session))?;
        let here = Blocks::beside(known);
        let fetch = |names: &[Hash]| {
            let found = names.iter().filter_map(|name| Some((*name, here.read((*name).into())?)));
            let mut found: HashMap<Hash, Vec<u8>> = found.collect();
            let missing: Vec<Hash> =
                names.iter().filter(|name| !found.contains_key(*name)).copied().collect();
            if let Some(theirs) = theirs {
                found.extend(theirs.fetch_readable(self.store, &missing)?);
            }
            Ok(found)
        };
        if report.redacted > 0 || !report.forgotten.is_empty() {
            index.put_in_order(&fetch)?;
        } else {
            index.compact(&fetch)?;
        }
        Ok(path)
    }

    /// Returns the sessions that nothing brings back.
    fn forgotten<'b>(&'b self, theirs: &'b Saved) -> Vec<&'b String> {
        theirs.manifest.forgotten().chain(&self.forget).collect()
    }
}

/// Returns the ledger of a save as it lies in the store, if it can stay as it is.
fn stored_ledger(known: &Saved) -> Option<Own> {
    let pages = known.manifest.databases.get(LEDGER)?;
    let (bytes, chunks) = known.catalog.database(pages);
    (pages.chunk == PAGE && known.rescued.is_none()).then_some(Own::Stored(bytes, chunks))
}

/// Packs the sheaves of an index that are here, and says that the others are still in use.
fn pack_blocks(index: &Path, known: &Path, packer: &mut Packer<'_>) -> Result<(), Error> {
    let Some(index) = Index::existing(index) else { return Ok(()) };
    let (sheaves, blocks) = index.sheaves()?;
    for sheaf in sheaves {
        let name = sheaf.name;
        match blocks.read(name).or_else(|| Blocks::beside(known).read(name)) {
            Some(bytes) => packer.add_parts(&bytes, sheaf.lengths())?,
            None if packer.knows(&name.hash()) => packer.keep_parts(name.hash(), sheaf.lengths()),
            None => index.lose(name)?,
        }
    }
    Ok(())
}
