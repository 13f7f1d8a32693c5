//! Looks at some of what is taken over from earlier saves, so that nothing travels on unseen for ever.
//!
//! A run reads what it continues, and nothing else. Bytes that went bad elsewhere, and values that are known to be secret
//! only now, would stay until somebody reads them. So every save reads a stretch of the packs, each where the one before
//! ended: a small memory whole, a large one in turn.

use super::{Attempt, Next};
use crate::{
    error::Error,
    snapshot::{
        catalog::Bookmark,
        leaf::SessionEntry,
        manifest::{LOOKED_OVER, Manifest},
    },
    store::ObjectName,
};

/// So many bytes of packs are read by each save.
const STRETCH: u64 = 512 << 10;

/// What was seen.
#[derive(Default)]
pub(super) struct LookedOver {
    /// A value that is secret stands in what was read.
    pub(super) has_secret: bool,
    /// Sessions that cannot be read any more.
    pub(super) spoilt: Vec<String>,
    /// Where the next save goes on; nothing if all was read.
    pub(super) until: Option<Bookmark>,
}

impl Attempt<'_, '_> {
    /// Reads a stretch of what the head has.
    pub(super) fn look_over(&self, next: &Next<'_>) -> Result<LookedOver, Error> {
        let Some(theirs) = next.theirs else { return Ok(LookedOver::default()) };
        let (chunks, until) = theirs.catalog.stretch(bookmark(&theirs.manifest), STRETCH);
        let mut looked = LookedOver { until, ..LookedOver::default() };
        let read = theirs.catalog.read(self.store, chunks.iter().copied(), &mut |_, chunk| {
            looked.has_secret |= self.secrets.refuse_in_bytes(chunk).is_err();
            Ok(())
        });
        match read {
            Err(Error::Flawed(why)) => {
                tracing::warn!("a part of the memory cannot be read: {why}");
                let lost = theirs.catalog.unreadable(self.store, &chunks)?;
                let is_lost = |names: &[ObjectName]| names.iter().any(|name| lost.contains(&name.hash()));
                let is_spoilt = |entry: &SessionEntry| {
                    is_lost(&entry.rows) || entry.files.iter().any(|file| is_lost(&file.2))
                };
                let spoilt = next.sessions.iter().filter(|(_, entry)| is_spoilt(entry));
                looked.spoilt = spoilt.map(|(id, _)| id.clone()).collect();
            }
            read => read?,
        }
        Ok(looked)
    }
}

/// Returns where the save before ended.
fn bookmark(manifest: &Manifest) -> Option<Bookmark> {
    let (pack, chunk) = manifest.origin.get(LOOKED_OVER)?.split_once(' ')?;
    Some(Bookmark(ObjectName::parse(pack)?, chunk.parse().ok()?))
}
