//! What an attempt builds on: the head, or the last whole save before a damaged one.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    error::{Error, Flaw},
    fingerprint::Fingerprints,
    lineage::{self, HeadRelation},
    merge::MergeVerdict,
    newest,
    snapshot::saved::Saved,
    store::{Head, Store},
};

/// Where a save goes.
#[derive(Default)]
pub(in crate::keep) struct Ground {
    /// The save that it is put on.
    pub(super) theirs: Option<Arc<Saved>>,
    /// Sessions that were removed for good in saves that are damaged.
    pub(in crate::keep) forgotten: BTreeSet<String>,
    /// What is wrong with the head, if the save is put on another one.
    pub(super) damage: Option<Flaw>,
    /// How many sessions of the head cannot be read any more.
    pub(super) lost: u32,
}

impl Ground {
    /// Looks at the head, unless it is the save that the run started from, which was looked at already.
    pub(in crate::keep) fn at(
        store: &Store,
        head: Option<&Head>,
        base: Option<&Arc<Saved>>,
    ) -> Result<Self, Error> {
        let Some(head) = head else { return Self::without_head(store) };
        if let Some(base) = base.filter(|base| head.manifest() == Ok(base.name)) {
            return Ok(Self { theirs: Some(Arc::clone(base)), ..Self::default() });
        }
        match Saved::at(store, head) {
            Ok(known) => Ok(Self { theirs: Some(Arc::new(known)), ..Self::default() }),
            Err(Error::Flawed(why)) => Self::before(store, head, why),
            Err(error) => Err(error),
        }
    }

    /// Goes on with what was saved last, where the head is gone.
    fn without_head(store: &Store) -> Result<Self, Error> {
        let Some(newest) = newest::stray(store)? else { return Ok(Self::default()) };
        let damage = Some(Flaw::Headless);
        if let Some((saved, lost)) = lineage::heal(store, &newest)? {
            return Ok(Self { theirs: Some(Arc::new(saved)), damage, lost, ..Self::default() });
        }
        let Some(stand_in) = lineage::last_whole(store, &newest)? else { return Ok(Self::default()) };
        let theirs = Some(Arc::new(Saved::at(store, &Head::from(stand_in.name))?));
        Ok(Self { theirs, forgotten: stand_in.forgotten, damage, lost: 0 })
    }

    /// Goes on with what is left of a damaged head, or else with the last whole save before it. The head is set aside.
    pub(in crate::keep) fn before(store: &Store, head: &Head, why: Flaw) -> Result<Self, Error> {
        if let Some((saved, lost)) = lineage::heal(store, head)? {
            store.note_aside(head)?;
            return Ok(Self { theirs: Some(Arc::new(saved)), damage: Some(why), lost, ..Self::default() });
        }
        let Some(stand_in) = lineage::last_whole(store, head)? else {
            store.set_aside(head)?;
            return Ok(Self { damage: Some(why), ..Self::default() });
        };
        store.note_aside(head)?;
        let theirs = Saved::at(store, &Head::from(stand_in.name))?;
        Ok(Self { theirs: Some(Arc::new(theirs)), forgotten: stand_in.forgotten, damage: Some(why), lost: 0 })
    }

    /// Tells whether a save goes on another one than the head.
    pub(in crate::keep) fn is_stand_in(&self) -> bool {
        self.damage.is_some()
    }

    /// Tells whether the head is not where it was looked for, because there was nothing to put a save on.
    pub(in crate::keep) fn is_lost(&self) -> bool {
        self.theirs.is_none() && self.damage.is_some()
    }
}

/// How what is in the store stands to what a run started from.
pub(super) enum Since {
    /// The store has no newer save.
    Nothing,
    /// These saves were made, with these sessions.
    Saves(Vec<Fingerprints>),
    /// What the run started from has all that is in the store, and more.
    Back,
    /// How the two saves are related cannot be told.
    Unknown,
}

impl Since {
    pub(super) fn between(
        store: &Store,
        base: Option<&Saved>,
        theirs: Option<&Saved>,
    ) -> Result<Self, Error> {
        let (base, theirs) = match (base, theirs) {
            (None, None) => return Ok(Self::Nothing),
            (Some(base), Some(theirs)) if base.name == theirs.name => return Ok(Self::Nothing),
            (Some(base), Some(theirs)) => (base, theirs),
            (Some(_), None) | (None, Some(_)) => return Ok(Self::Unknown),
        };
        let standing =
            HeadRelation::compare(store, (theirs.name, &theirs.manifest), (base.name, &base.manifest))?;
        Ok(match standing {
            HeadRelation::Ahead(saves) => {
                let mut notes = Vec::new();
                for (name, manifest) in saves {
                    match Saved::open(store, name, manifest) {
                        Ok(between) => notes.push(between.notes()),
                        Err(Error::Flawed(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
                Self::Saves(notes)
            }
            HeadRelation::Back => Self::Back,
            HeadRelation::Apart => Self::Unknown,
        })
    }

    /// Corrects a verdict: what a save had just as we have it is in the store, with whatever was done to it later.
    pub(super) fn correct(&self, ours: &Fingerprints, id: &str, verdict: MergeVerdict) -> MergeVerdict {
        let Self::Saves(saves) = self else { return verdict };
        let Some(note) = ours.get(id) else { return verdict };
        let is_known =
            saves.iter().any(|save| save.get(id).is_some_and(|known| known.fingerprint == note.fingerprint));
        if is_known { MergeVerdict::Theirs } else { verdict }
    }
}
