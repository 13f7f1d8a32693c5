//! Deletes what no save needs any more, where the store can delete.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};

use crate::{
    error::Error,
    snapshot::manifest::Manifest,
    store::{Listing, Object, Store},
};

/// Longer than any run: what a run started from stays until it has saved.
pub(crate) const GRACE: SignedDuration = SignedDuration::from_hours(72);

/// What was deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    /// How many objects.
    pub objects: u32,
    /// How many bytes they had.
    pub bytes: u64,
}

/// Deletes manifests and packs that are older than `grace` and that neither the head, nor the save that an older engine
/// goes back to, nor a younger manifest names.
pub fn collect(store: &Store, now: Timestamp, grace: SignedDuration) -> Result<Collected, Error> {
    let Listing::Known(listed) = store.list()? else { return Ok(Collected::default()) };
    let Some(head) = store.head()? else { return Ok(Collected::default()) };
    let is_young = |stored_at: Timestamp| now.duration_since(stored_at) < grace;

    let mut needed = HashSet::from([Object::Manifest(head.manifest()?)]);
    needed.extend(Manifest::fetch(store, head.manifest()?)?.earlier.map(Object::Manifest));
    needed.extend(listed.iter().filter(|listed| is_young(listed.stored_at)).map(|listed| listed.object));
    let manifests: Vec<_> = needed.iter().copied().collect();
    for object in manifests {
        if let Object::Manifest(name) = object {
            match Manifest::fetch(store, name) {
                Ok(manifest) => needed.extend(manifest.packs.iter().map(|pack| Object::Pack(pack.name))),
                // A young manifest of another kind or a damaged one needs nothing that we could know of.
                Err(Error::Flawed(_)) if name != head.manifest()? => {}
                Err(error) => return Err(error),
            }
        }
    }
    let mut collected = Collected::default();
    for dead in listed.iter().filter(|listed| !needed.contains(&listed.object)) {
        store.delete(dead.object)?;
        collected.objects += 1;
        collected.bytes += dead.bytes;
    }
    Ok(collected)
}
