//! Which save of a store is the newest, where no head says so.
//!
//! A store knows when something was stored, a bucket to the second only, and something that was copied or repaired is
//! as young as its copy. So saves are numbered, each higher than all before it.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use crate::{
    error::{Error, Refusal},
    lineage::MOST,
    snapshot::manifest::Manifest,
    store::{Head, ObjectName, Store},
};

/// A save with its number; none if it cannot be read.
pub(crate) struct NumberedHead {
    pub(crate) number: Option<u64>,
    pub(crate) head: Head,
}

/// Returns heads of all saves, as far as the store can tell, newest first and those that cannot be read last.
///
/// Saves of earlier releases have no number. They come after what they contain, as far as that can be read, and are told
/// apart by the time at which they were stored.
pub(crate) fn newest_first(store: &Store) -> Result<Vec<NumberedHead>, Error> {
    if let Store::ActionsCache(cache) = store {
        let heads = cache.other_heads()?.into_iter();
        return Ok(heads.map(|head| NumberedHead { number: None, head }).collect());
    }
    let listed = store.manifests()?;
    let saves = read(store, &listed)?;
    let numbers = numbers(&saves);
    let contained: HashSet<ObjectName> = saves.values().flat_map(|save| &save.parents).copied().collect();
    let mut heads: Vec<_> = listed
        .into_iter()
        .map(|(at, head)| {
            let name = head.manifest().ok();
            let number = name.and_then(|name| numbers.get(&name)).copied();
            let is_contained = name.is_some_and(|name| contained.contains(&name));
            (Reverse(number), Reverse(at.as_second()), is_contained, head)
        })
        .collect();
    heads.sort_by_key(|(number, second, is_contained, _)| (*number, *second, *is_contained));
    Ok(heads.into_iter().map(|(number, _, _, head)| NumberedHead { number: number.0, head }).collect())
}

/// Returns the number of the newest save of a store that has one, or zero.
pub(crate) fn highest_number(store: &Store) -> Result<u64, Error> {
    let listed = match store.manifests() {
        // Without the right to list nobody knows.
        Err(error) if error.refusal() == Some(Refusal::Denied) => return Ok(0),
        listed => listed?,
    };
    Ok(numbers(&read(store, &listed)?).into_values().max().unwrap_or_default())
}

/// Reads the saves that were stored last; those that cannot be read are left out.
fn read<T>(store: &Store, listed: &[(T, Head)]) -> Result<HashMap<ObjectName, Manifest>, Error> {
    let mut saves = HashMap::new();
    for name in listed.iter().take(MOST).filter_map(|(_, head)| head.manifest().ok()) {
        match Manifest::fetch(store, name) {
            Ok(save) => drop(saves.insert(name, save)),
            Err(Error::Flawed(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(saves)
}

/// Returns the number of each save. One that has none counts from those that it contains.
fn numbers(saves: &HashMap<ObjectName, Manifest>) -> HashMap<ObjectName, u64> {
    let stated = saves.iter().map(|(name, save)| (*name, save.generation().unwrap_or_default()));
    let mut numbers: HashMap<ObjectName, u64> = stated.collect();
    let unnumbered: Vec<_> = saves.iter().filter(|(_, save)| save.generation().is_none()).collect();
    // Each turn brings numbers one save further.
    for _ in 0..unnumbered.len() {
        for (name, save) in &unnumbered {
            let before = save.parents.iter().filter_map(|parent| numbers.get(parent)).max();
            let number = before.map_or(0, |before| before.saturating_add(1));
            numbers.insert(**name, number);
        }
    }
    numbers
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
    Ok(heads.into_iter().map(|found| found.head).find(|head| !asides.contains(head.as_str())))
}
