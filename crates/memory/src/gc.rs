//! Deletes what no save needs any more, where the store can delete.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};

use crate::{
    error::Error,
    lineage::{Ancestors, ReturnPath},
    snapshot::manifest::Manifest,
    store::{Listed, Listing, Object, ObjectName, Store},
};

/// Longer than any run: what a run started from stays until it has saved.
pub(crate) const GRACE: SignedDuration = SignedDuration::from_hours(72);

/// So long a person may look at what was set aside.
const ASIDE: SignedDuration = SignedDuration::from_hours(90 * 24);

/// So many saves before the head stay, however old they are: one of them stands in when the head is damaged.
const STAND_INS: usize = 3;

/// What was deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    /// How many objects.
    pub objects: u32,
    /// How many bytes they had.
    pub bytes: u64,
}

/// Deletes manifests and packs that are older than `grace` and that are needed neither by the head and the saves that
/// may stand in for it, nor by the save that an older engine goes back to, nor by a younger manifest, nor by what was
/// set aside in the last ninety days.
pub fn collect_garbage(store: &Store, now: Timestamp, grace: SignedDuration) -> Result<Collected, Error> {
    let Listing::Known(listed) = store.list()? else { return Ok(Collected::default()) };
    let Some(head) = store.head()? else { return Ok(Collected::default()) };
    let name = head.manifest()?;
    let head = Manifest::fetch(store, name)?;
    let mut saves = HashSet::from([name]);
    saves.extend(head.earlier);
    for save in Ancestors::before(store, &head, ReturnPath::StandIns).take(STAND_INS) {
        saves.insert(save?.0);
    }
    let young = listed.iter().filter(|listed| now.duration_since(listed.stored_at) < grace);
    let mut needed: HashSet<Object> = young.map(|listed| listed.object).collect();
    saves.extend(needed.iter().filter_map(|object| match object {
        Object::Manifest(name) => Some(*name),
        Object::Pack(_) => None,
    }));
    for name in saves {
        // A young manifest of another kind or a damaged one needs nothing that we could know of.
        needed.extend(objects_of(store, name)?.unwrap_or_default());
        needed.insert(Object::Manifest(name));
    }
    needed.extend(kept_aside(store, now, &listed)?);

    let mut collected = Collected::default();
    for dead in listed.iter().filter(|listed| !needed.contains(&listed.object)) {
        store.delete(dead.object)?;
        collected.objects += 1;
        collected.bytes += dead.bytes;
    }
    Ok(collected)
}

/// Returns everything that a save consists of, or nothing if its manifest cannot be read.
fn objects_of(store: &Store, name: ObjectName) -> Result<Option<Vec<Object>>, Error> {
    match Manifest::fetch(store, name) {
        Ok(save) => {
            let packs = save.packs.iter().map(|pack| Object::Pack(pack.name));
            Ok(Some(packs.chain([Object::Manifest(name)]).collect()))
        }
        Err(Error::Flawed(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns what belongs to memories that were set aside, and lets go of those that nobody asked for in a long time.
fn kept_aside(store: &Store, now: Timestamp, listed: &[Listed]) -> Result<Vec<Object>, Error> {
    let mut kept = Vec::new();
    for aside in store.asides()? {
        if now.duration_since(aside.since) > ASIDE {
            store.drop_aside(&aside.head)?;
            continue;
        }
        let objects = match aside.head.manifest() {
            Ok(name) => objects_of(store, name)?,
            Err(_) => None,
        };
        // Without its manifest nobody knows what was its own, so all that was there by then is.
        let by_then = || listed.iter().filter(|listed| listed.stored_at <= aside.since);
        kept.extend(objects.unwrap_or_else(|| by_then().map(|listed| listed.object).collect()));
    }
    Ok(kept)
}
