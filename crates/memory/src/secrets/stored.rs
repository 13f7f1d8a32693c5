//! Looks for secrets in what a store has.

use super::Secrets;
use crate::{
    error::Error,
    snapshot::{saved::Saved, unpack::Copies},
    store::{ObjectName, Store},
};

impl Secrets {
    /// Tells whether a secret stands in a pack of a save, in use or not.
    pub(crate) fn stand_in(&self, store: &Store, save: &Saved) -> Result<bool, Error> {
        let mut is_found = false;
        save.catalog.read(store, save.catalog.all(), &mut |_, chunk| {
            is_found |= self.are_in(chunk);
            Ok(())
        })?;
        Ok(is_found)
    }

    /// Tells whether a value stands in what can be read of one pack of a save.
    pub(crate) fn stand_in_pack(&self, store: &Store, save: &Saved, pack: ObjectName) -> Result<bool, Error> {
        let mut is_found = false;
        let mut look = |_, chunk: &[u8]| {
            is_found |= self.refuse_in_bytes(chunk).is_err();
            Ok(())
        };
        let chunks = save.catalog.chunks_in(pack);
        match save.catalog.read(store, chunks.iter().copied(), &mut look) {
            Err(Error::Flawed(_)) => {
                let lost = save.catalog.unreadable(store, &chunks, Copies::Either)?;
                let left = chunks.into_iter().filter(|chunk| !lost.contains(chunk));
                save.catalog.read(store, left, &mut look)?;
            }
            read => read?,
        }
        Ok(is_found)
    }
}
