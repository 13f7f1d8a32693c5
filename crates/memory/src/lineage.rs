//! The order of saves: which came before which, nearest first, and which stands in for a damaged one.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    iter::Peekable,
};

use jiff::Timestamp;

use crate::{
    error::Error,
    newest::{NumberedHead, newest_first},
    recall,
    snapshot::{
        count,
        manifest::{LEDGER, Manifest},
        saved::Saved,
    },
    store::{Head, ObjectName, Store},
};

/// The most saves that are looked at on the way back.
pub(crate) const MOST: usize = 64;

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

/// The saves before one, the latest first. One that cannot be read is passed over.
pub(crate) struct Ancestors<'a> {
    store: &'a Store,
    way: ReturnPath,
    /// Known and not handed out yet.
    next: Vec<(ObjectName, Manifest)>,
    failed: Option<Error>,
    seen: HashSet<ObjectName>,
}

impl<'a> Ancestors<'a> {
    /// Begins before this save.
    pub(crate) fn before(store: &'a Store, save: &Manifest, way: ReturnPath) -> Self {
        let mut past = Self { store, way, next: Vec::new(), failed: None, seen: HashSet::new() };
        past.go_on(save);
        past
    }

    fn go_on(&mut self, save: &Manifest) {
        let before = match self.way {
            ReturnPath::Parents => &save.parents,
            ReturnPath::StandIns => save.stand_ins(),
        };
        for name in before {
            if self.seen.len() >= MOST || !self.seen.insert(*name) {
                continue;
            }
            match Manifest::fetch(self.store, *name) {
                Ok(save) => self.next.push((*name, save)),
                Err(Error::Flawed(_)) => {}
                Err(error) => self.failed = Some(error),
            }
        }
    }
}

impl Iterator for Ancestors<'_> {
    type Item = Result<(ObjectName, Manifest), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        // A save has two parents if others saved meanwhile: what the run started from is then older than what came between.
        let latest = (0..self.next.len()).rev().max_by_key(|at| self.next[*at].1.generation())?;
        let (name, save) = self.next.remove(latest);
        self.go_on(&save);
        Some(Ok((name, save)))
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

/// The saves that may stand in for a damaged head, the latest first: those that it contains, and whatever else the store
/// knows of. Whether they are whole is for the caller to find out.
///
/// Where the numbers of those that it contains leave one out, a link is damaged, and the others are looked at too. What is
/// as late as the head comes last: somebody put an older save back.
pub(crate) struct StandIns<'a> {
    store: &'a Store,
    past: Option<Peekable<Ancestors<'a>>>,
    /// The number of the head, and of what was offered last.
    head: Option<u64>,
    last: Option<u64>,
    others: Option<VecDeque<NumberedHead>>,
    seen: HashSet<ObjectName>,
    forgotten: BTreeSet<String>,
}

impl<'a> StandIns<'a> {
    /// Begins before this head.
    pub(crate) fn for_head(store: &'a Store, head: &Head) -> Result<Self, Error> {
        let mut stand_ins = Self {
            store,
            past: None,
            head: None,
            last: None,
            others: None,
            seen: HashSet::new(),
            forgotten: BTreeSet::new(),
        };
        let Ok(name) = head.manifest() else { return Ok(stand_ins) };
        stand_ins.seen.insert(name);
        match Manifest::fetch(store, name) {
            Ok(save) => {
                stand_ins.forgotten.extend(save.forgotten().cloned());
                stand_ins.head = save.generation();
                stand_ins.last = stand_ins.head;
                stand_ins.past = Some(Ancestors::before(store, &save, ReturnPath::Parents).peekable());
            }
            Err(Error::Flawed(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(stand_ins)
    }

    fn offer(&mut self, name: ObjectName, manifest: Manifest) -> StandIn {
        let forgotten = self.forgotten.clone();
        self.forgotten.extend(manifest.forgotten().cloned());
        self.last = manifest.generation();
        StandIn { name, manifest, forgotten }
    }

    /// Returns whatever else the store knows of that comes before what the head contains.
    fn other(&mut self, contained: Option<&Manifest>) -> Option<ObjectName> {
        let (store, head) = (self.store, self.head);
        let others = self.others.get_or_insert_with(|| {
            // A store that cannot tell has none.
            let mut others = newest_first(store).unwrap_or_default();
            others.truncate(MOST);
            let is_late = |other: &NumberedHead| head.is_some() && other.number >= head;
            let (late, mut before): (Vec<_>, Vec<_>) = others.into_iter().partition(is_late);
            before.extend(late);
            before.into()
        });
        let number = others.front()?.number;
        let is_first = contained.is_none_or(|save| number > save.generation() && number < head);
        if is_first { others.pop_front()?.head.manifest().ok() } else { None }
    }
}

impl Iterator for StandIns<'_> {
    type Item = Result<StandIn, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let contained = match self.past.as_mut().and_then(Peekable::peek) {
                Some(Err(_)) => return self.past.as_mut()?.next()?.err().map(Err),
                Some(Ok((_, save))) => Some(save.clone()),
                None => None,
            };
            let is_next = contained.as_ref().is_some_and(|save| follow(save.generation(), self.last));
            let other = if is_next { None } else { self.other(contained.as_ref()) };
            let (name, manifest) = match other {
                Some(name) if self.seen.insert(name) => match Manifest::fetch(self.store, name) {
                    Ok(manifest) => (name, manifest),
                    Err(Error::Flawed(_)) => continue,
                    Err(error) => return Some(Err(error)),
                },
                Some(_) => continue,
                None if contained.is_none() && self.others.as_ref().is_some_and(VecDeque::is_empty) => {
                    return None;
                }
                None if contained.is_none() => continue,
                None => match self.past.as_mut()?.next()? {
                    Ok((name, _)) if !self.seen.insert(name) => continue,
                    Ok(contained) => contained,
                    Err(error) => return Some(Err(error)),
                },
            };
            return Some(Ok(self.offer(name, manifest)));
        }
    }
}

/// Tells whether no number lies between two.
fn follow(earlier: Option<u64>, later: Option<u64>) -> bool {
    earlier.zip(later).is_none_or(|(earlier, later)| earlier.saturating_add(1) >= later)
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
