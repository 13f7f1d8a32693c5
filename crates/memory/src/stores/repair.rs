//! Makes a damaged memory usable again, on a person's word.

use jiff::Timestamp;

use super::{Stores, mirror, whole::WholeMemory};
use crate::{
    error::{Error, Flaw},
    keep::Provenance,
    lineage,
    newest::stray,
    recall::Recall,
    snapshot::{manifest::Manifest, mend::mend},
    store::{Head, Place, Store},
};

/// What was done to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// The store has no memory.
    Empty,
    /// Nothing had to be done.
    Sound,
    /// What was damaged was brought from another store.
    Mended {
        /// What was wrong.
        why: Flaw,
        /// The store that had it.
        from: Place,
    },
    /// What lies there twice was made whole again from the copy that was left.
    Renewed {
        /// In how many objects.
        objects: u32,
    },
    /// The newest save was set aside, and the last whole one before it is the newest now.
    PutBack {
        /// What was wrong.
        why: Flaw,
        /// When the save was made that stands now.
        saved_at: Timestamp,
        /// How many sessions it has.
        sessions: u32,
    },
    /// There was nothing to go back to: the memory was set aside, and the next run begins anew.
    SetAside {
        /// What was wrong.
        why: Flaw,
    },
}

impl Stores {
    /// Repairs every store.
    pub fn repair(&self, now: Timestamp) -> Vec<(Place, Result<Repair, Error>)> {
        let indexes = 0..self.members.len();
        indexes.map(|index| (self.members[index].store.place(), self.repair_one(index, now))).collect()
    }

    fn repair_one(&self, index: usize, now: Timestamp) -> Result<Repair, Error> {
        let store = &self.members[index].store;
        let Some(head) = store.head()? else {
            if stray(store)?.is_none() {
                return Ok(Repair::Empty);
            }
            return match go_back(store, now, Flaw::Headless)? {
                Repair::SetAside { .. } => Ok(Repair::Empty),
                repaired @ (Repair::PutBack { .. }
                | Repair::Empty
                | Repair::Sound
                | Repair::Renewed { .. }
                | Repair::Mended { .. }) => Ok(repaired),
            };
        };
        let objects = renew(store, &head)?;
        let Some(why) = flaw(store, &head)? else {
            return Ok(if objects > 0 { Repair::Renewed { objects } } else { Repair::Sound });
        };
        if let Some(from) = self.mend(index, &head) {
            return Ok(Repair::Mended { why, from });
        }
        go_back(store, now, why)
    }

    /// Brings what the head needs from a store that has all of it.
    fn mend(&self, index: usize, head: &Head) -> Option<Place> {
        let (store, name) = (&self.members[index].store, head.manifest().ok()?);
        let others = self.members.iter().enumerate().filter(|(other, _)| *other != index);
        for other in others.map(|(_, member)| &member.store) {
            let mended = flaw(other, head).is_ok_and(|flaw| flaw.is_none())
                && mirror::mend(other, store, name).is_ok()
                && flaw(store, head).is_ok_and(|flaw| flaw.is_none());
            if mended {
                return Some(other.place());
            }
        }
        None
    }
}

/// Writes copies that are left over damaged ones, as far as that makes objects whole, and returns in how many.
fn renew(store: &Store, head: &Head) -> Result<u32, Error> {
    let renewed = head.manifest().map_err(Error::from).and_then(|name| mend(store, name));
    match renewed {
        Err(Error::Flawed(_)) => Ok(0),
        renewed => renewed,
    }
}

/// Returns what is wrong with the save that a head names.
fn flaw(store: &Store, head: &Head) -> Result<Option<Flaw>, Error> {
    let looked = head.manifest().map_err(Error::from);
    let looked = looked.and_then(|name| lineage::inspect(store, name, Manifest::fetch(store, name)?));
    match looked {
        Ok(()) => Ok(None),
        Err(Error::Flawed(why)) => Ok(Some(why)),
        Err(error) => Err(error),
    }
}

/// Saves the last whole save anew, in the place of a damaged one.
fn go_back(store: &Store, now: Timestamp, why: Flaw) -> Result<Repair, Error> {
    let (memory, recall) = WholeMemory::fetch(store)?;
    let Recall::Warm { head, sessions, saved_at, engine, .. } = recall else {
        return Ok(Repair::SetAside { why });
    };
    let provenance = Provenance { now, engine_version: engine, parent: Some(head) };
    memory.keep(provenance).save(store)?;
    Ok(Repair::PutBack { why, saved_at, sessions })
}
