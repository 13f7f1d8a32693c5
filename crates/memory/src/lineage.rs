//! How saves follow each other: what came before one, nearest first, and what stands in for one that is damaged.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use jiff::Timestamp;

use crate::{
    error::{Error, Refusal},
    recall,
    snapshot::{
        count,
        manifest::{LEDGER, Manifest},
        saved::Saved,
    },
    store::{Head, ObjectName, Store},
};

/// The most saves that are looked at on the way back.
const MOST: usize = 64;

/// So many saves before a damaged one are asked for what it lost.
const HELPERS: usize = 8;

/// Which way back is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReturnPath {
    /// Through everything that a save contains.
    Parents,
    /// Only to saves that may stand in for it.
    StandIns,
}

/// The saves before one, nearest first. One that cannot be read is passed over.
pub(crate) struct Ancestors<'a> {
    store: &'a Store,
    way: ReturnPath,
    next: VecDeque<ObjectName>,
    seen: HashSet<ObjectName>,
}

impl<'a> Ancestors<'a> {
    /// Begins before this save.
    pub(crate) fn before(store: &'a Store, save: &Manifest, way: ReturnPath) -> Self {
        let mut past = Self { store, way, next: VecDeque::new(), seen: HashSet::new() };
        past.go_on(save);
        past
    }

    fn go_on(&mut self, save: &Manifest) {
        let before = match self.way {
            ReturnPath::Parents => &save.parents,
            ReturnPath::StandIns => save.stand_ins(),
        };
        self.next
            .extend(before.iter().copied().filter(|name| self.seen.len() < MOST && self.seen.insert(*name)));
    }
}

impl Iterator for Ancestors<'_> {
    type Item = Result<(ObjectName, Manifest), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(name) = self.next.pop_front() {
            match Manifest::fetch(self.store, name) {
                Ok(save) => {
                    self.go_on(&save);
                    return Some(Ok((name, save)));
                }
                Err(Error::Flawed(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}

/// How the newest save stands to the one that a run started from.
pub(crate) enum HeadRelation {
    /// It came after it; these saves lie between, itself among them.
    Ahead(Vec<(ObjectName, Manifest)>),
    /// It came before it: somebody put an older save back.
    Back,
    /// Neither is known to contain the other.
    Apart,
}

impl HeadRelation {
    /// Compares two saves that are not the same.
    pub(crate) fn compare(
        store: &Store,
        newest: (ObjectName, &Manifest),
        base: (ObjectName, &Manifest),
    ) -> Result<Self, Error> {
        let mut between = vec![(newest.0, newest.1.clone())];
        if newest.1.parents.contains(&base.0) {
            return Ok(Self::Ahead(between));
        }
        for save in Ancestors::before(store, newest.1, ReturnPath::Parents) {
            let (name, save) = save?;
            if name == base.0 {
                return Ok(Self::Ahead(between));
            }
            between.push((name, save));
        }
        for save in Ancestors::before(store, base.1, ReturnPath::Parents) {
            if save?.0 == newest.0 {
                return Ok(Self::Back);
            }
        }
        Ok(Self::Apart)
    }
}

/// A save that may be used in the place of a damaged one.
pub(crate) struct StandIn {
    pub(crate) name: ObjectName,
    pub(crate) manifest: Manifest,
    /// Sessions that were removed for good since.
    pub(crate) forgotten: BTreeSet<String>,
}

/// The saves that may stand in for a damaged head: those that it contains, nearest first, then whatever else the store
/// knows of, newest first. Whether they are whole is for the caller to find out.
pub(crate) struct StandIns<'a> {
    store: &'a Store,
    past: Option<Ancestors<'a>>,
    others: Option<Vec<Head>>,
    seen: HashSet<ObjectName>,
    forgotten: BTreeSet<String>,
}

impl<'a> StandIns<'a> {
    /// Begins before this head.
    pub(crate) fn for_head(store: &'a Store, head: &Head) -> Result<Self, Error> {
        let mut stand_ins =
            Self { store, past: None, others: None, seen: HashSet::new(), forgotten: BTreeSet::new() };
        let Ok(name) = head.manifest() else { return Ok(stand_ins) };
        stand_ins.seen.insert(name);
        match Manifest::fetch(store, name) {
            Ok(save) => {
                stand_ins.forgotten.extend(save.forgotten().cloned());
                stand_ins.past = Some(Ancestors::before(store, &save, ReturnPath::Parents));
            }
            Err(Error::Flawed(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(stand_ins)
    }

    fn offer(&mut self, name: ObjectName, manifest: Manifest) -> StandIn {
        let forgotten = self.forgotten.clone();
        self.forgotten.extend(manifest.forgotten().cloned());
        StandIn { name, manifest, forgotten }
    }
}

impl Iterator for StandIns<'_> {
    type Item = Result<StandIn, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(save) = self.past.as_mut().and_then(Iterator::next) {
            match save {
                Ok((name, manifest)) if self.seen.insert(name) => {
                    return Some(Ok(self.offer(name, manifest)));
                }
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        if self.others.is_none() {
            // A store that cannot tell has none.
            let mut others = newest_first(self.store).unwrap_or_default();
            others.truncate(MOST);
            others.reverse();
            self.others = Some(others);
        }
        while let Some(head) = self.others.as_mut().and_then(Vec::pop) {
            let Ok(name) = head.manifest() else { continue };
            if !self.seen.insert(name) {
                continue;
            }
            match Manifest::fetch(self.store, name) {
                Ok(manifest) => return Some(Ok(self.offer(name, manifest))),
                Err(Error::Flawed(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}

/// Returns heads of all saves, as far as the store can tell, newest first.
///
/// A bucket knows the second in which something was stored, so of the saves of one second those come first that no other
/// of them contains.
fn newest_first(store: &Store) -> Result<Vec<Head>, Error> {
    if let Store::ActionsCache(cache) = store {
        return cache.other_heads();
    }
    let listed = store.manifests()?;
    let newest = listed.first().map(|(at, _)| at.as_second());
    let tied = listed.partition_point(|(at, _)| Some(at.as_second()) == newest).min(MOST);
    let mut heads: Vec<Head> = listed.into_iter().map(|(_, head)| head).collect();
    let mut contained: HashSet<ObjectName> = HashSet::new();
    if tied > 1 {
        for head in &heads[..tied] {
            match Manifest::fetch(store, head.manifest()?) {
                Ok(save) => contained.extend(save.parents),
                Err(Error::Flawed(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    heads[..tied].sort_by_key(|head| head.manifest().is_ok_and(|name| contained.contains(&name)));
    Ok(heads)
}

/// Returns the newest save of a store whose head is gone; nothing if nothing was ever saved, or all of it was set aside.
pub(crate) fn stray(store: &Store) -> Result<Option<Head>, Error> {
    if let Store::ActionsCache(_) = store {
        return Ok(None);
    }
    let heads = match newest_first(store) {
        // Without the right to list nobody knows.
        Err(error) if error.refusal() == Some(Refusal::Denied) => return Ok(None),
        heads => heads?,
    };
    if heads.is_empty() {
        return Ok(None);
    }
    let asides: HashSet<String> =
        store.asides()?.into_iter().map(|aside| aside.head.as_str().to_owned()).collect();
    Ok(heads.into_iter().find(|head| !asides.contains(head.as_str())))
}

/// Saves that came after the one that the head names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewerSaves {
    /// How many.
    pub saves: u32,
    /// When the last of them was made.
    pub last: Timestamp,
}

/// Finds the saves that contain the one that the head names: it was put back, or runs ended before they could move it.
pub fn later(store: &Store) -> Result<Option<NewerSaves>, Error> {
    let Some(Ok(head)) = store.head()?.map(|head| head.manifest()) else { return Ok(None) };
    let mut saves: HashMap<ObjectName, Manifest> = HashMap::new();
    for (_, other) in store.manifests()?.into_iter().take(MOST) {
        let Ok(name) = other.manifest() else { continue };
        match Manifest::fetch(store, name) {
            Ok(save) => drop(saves.insert(name, save)),
            Err(Error::Flawed(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let mut after = HashSet::from([head]);
    loop {
        let known = after.len();
        let follows = |save: &&ObjectName| saves[*save].parents.iter().any(|parent| after.contains(parent));
        let new: Vec<ObjectName> = saves.keys().filter(follows).copied().collect();
        after.extend(new);
        if after.len() == known {
            break;
        }
    }
    let times = after.iter().filter(|name| **name != head).filter_map(|name| saves.get(name));
    let last = times.map(|save| save.saved_at).max();
    Ok(last.map(|last| NewerSaves { saves: count(after.len() - 1), last }))
}

/// Reads all that a save has and makes sure of it.
pub(crate) fn inspect(store: &Store, name: ObjectName, manifest: Manifest) -> Result<(), Error> {
    let scratch = tempfile::tempdir()?;
    recall::restore_whole(store, &Saved::open(store, name, manifest)?, scratch.path())
}

/// Finds out whether all that a save has can be read.
pub(crate) fn is_whole(store: &Store, name: ObjectName, manifest: Manifest) -> Result<bool, Error> {
    match inspect(store, name, manifest) {
        Ok(()) => Ok(true),
        Err(Error::Flawed(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the last whole save before a damaged head.
pub(crate) fn last_whole(store: &Store, head: &Head) -> Result<Option<StandIn>, Error> {
    for stand_in in StandIns::for_head(store, head)? {
        let stand_in = stand_in?;
        if is_whole(store, stand_in.name, stand_in.manifest.clone())? {
            return Ok(Some(stand_in));
        }
    }
    Ok(None)
}

/// Returns what is left of a damaged save, with what it lost as an earlier one has it, and how many sessions are lost
/// for good. Nothing if not one of its sessions can be read.
pub(crate) fn heal(store: &Store, head: &Head) -> Result<Option<(Saved, u32)>, Error> {
    let fetched =
        head.manifest().map_err(Error::from).and_then(|name| Ok((name, Manifest::fetch(store, name)?)));
    let (name, manifest) = match fetched {
        Err(Error::Flawed(_)) => return Ok(None),
        fetched => fetched?,
    };
    let wanted = manifest.statistics.sessions;
    let forgotten: BTreeSet<String> = manifest.forgotten().cloned().collect();
    // What was taken out of all that was saved before must not come back.
    let past = Ancestors::before(store, &manifest, ReturnPath::StandIns);
    let Some(mut saved) = salvaged(store, name, manifest)? else { return Ok(None) };
    for save in past.take(HELPERS) {
        if saved.manifest.statistics.sessions >= wanted && saved.manifest.databases.contains_key(LEDGER) {
            break;
        }
        let (name, manifest) = save?;
        if let Some(earlier) = salvaged(store, name, manifest)? {
            saved.fill_from(earlier, &forgotten);
        }
    }
    let lost = wanted.saturating_sub(saved.manifest.statistics.sessions);
    Ok(Some((saved, lost)))
}

/// Looks at what is left of a save; one that contradicts itself has nothing.
fn salvaged(store: &Store, name: ObjectName, manifest: Manifest) -> Result<Option<Saved>, Error> {
    match Saved::salvage(store, name, manifest) {
        Err(Error::Flawed(_)) => Ok(None),
        salvaged => salvaged,
    }
}
