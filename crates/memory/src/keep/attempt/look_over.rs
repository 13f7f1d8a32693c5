//! Looks at some of what is taken over from earlier saves, so that nothing travels on unseen for ever.
//!
//! A run reads what it continues, and nothing else. Bytes that went bad elsewhere, and values that are known to be secret
//! only now, would stay until somebody reads them. So every save reads a stretch of the packs, each where the one before
//! ended: a small memory whole, a large one in turn.

use blake3::Hash;

use super::Attempt;
use crate::{
    error::Error,
    snapshot::{
        catalog::{Bookmark, Damaged},
        leaf::{SessionEntries, SessionEntry},
        manifest::{LOOKED_OVER, Manifest},
        saved::Saved,
        unpack::Copies,
    },
    store::ObjectName,
};

/// So many bytes of packs are read by each save: with what a small save writes, less than half a megabyte moves.
const STRETCH: u64 = 192 << 10;

/// What was seen.
#[derive(Default)]
pub(super) struct LookedOver {
    /// A value that is secret stands in what was read.
    pub(super) has_secret: bool,
    /// Chunks that are not as they should be.
    pub(super) damaged: Damaged,
    /// Where the next save goes on; nothing if all was read.
    pub(super) until: Option<Bookmark>,
}

impl LookedOver {
    /// Returns the sessions that cannot be read any more.
    pub(super) fn spoilt(&self, sessions: &SessionEntries) -> Vec<String> {
        let is_lost =
            |names: &[ObjectName]| names.iter().any(|name| self.damaged.lost.contains(&name.hash()));
        let is_spoilt =
            |entry: &SessionEntry| is_lost(&entry.rows) || entry.files.iter().any(|file| is_lost(&file.2));
        sessions.iter().filter(|(_, entry)| is_spoilt(entry)).map(|(id, _)| id.clone()).collect()
    }
}

impl Attempt<'_, '_> {
    /// Reads a stretch of what the head has.
    pub(super) fn look_over(&self, theirs: Option<&Saved>) -> Result<LookedOver, Error> {
        let Some(theirs) = theirs else { return Ok(LookedOver::default()) };
        let (chunks, until) = theirs.catalog.stretch(bookmark(&theirs.manifest), STRETCH);
        let mut looked = LookedOver { until, ..LookedOver::default() };
        let beside = theirs.beside();
        let mut look = |hash: Hash, chunk: &[u8]| {
            // What only looks like a credential is taken out of sessions, and would be found elsewhere by every save.
            looked.has_secret |= if beside.contains(&hash) {
                self.secrets.refuse_in_bytes(chunk).is_err()
            } else {
                self.secrets.are_in(chunk)
            };
            Ok(())
        };
        let catalog = &theirs.catalog;
        let read = catalog.read_copies(self.store, chunks.iter().copied(), Copies::First, &mut look);
        let read = read.and_then(|()| {
            catalog.read_copies(self.store, chunks.iter().copied(), Copies::Second, &mut |_, _| Ok(()))
        });
        match read {
            Err(Error::Flawed(why)) => {
                tracing::warn!("a part of the memory cannot be read: {why}");
                looked.damaged = catalog.examine(self.store, &chunks)?;
            }
            read => read?,
        }
        looked.damaged.weak.extend(&catalog.weak);
        Ok(looked)
    }
}

/// Returns where the save before ended.
fn bookmark(manifest: &Manifest) -> Option<Bookmark> {
    let (pack, chunk) = manifest.origin.get(LOOKED_OVER)?.split_once(' ')?;
    Some(Bookmark(ObjectName::parse(pack)?, chunk.parse().ok()?))
}
