//! Puts the newest memory in place before the engine starts, or says why the start is clean.

use std::{collections::BTreeSet, path::Path};

use jiff::Timestamp;

use crate::{
    database::{self, judge},
    error::{Error, Flaw},
    forget, hide_private,
    ledger::Visibility,
    lineage::{StandIn, StandIns},
    private,
    snapshot::{
        manifest::{ENGINE_DATABASE, INDEX, LEDGER, Manifest},
        restore::restore,
    },
    store::{Head, Store},
    upload::migrations,
};

/// What the engine starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recall {
    /// The database is in place.
    Warm {
        /// Points at the save it came from.
        head: Head,
        /// How many sessions it has.
        sessions: u32,
        /// How large all of it is.
        bytes: u64,
        /// When it was saved.
        saved_at: Timestamp,
        /// The version of the engine that wrote it.
        engine: String,
        /// What is wrong with the newest save, if this is one before it.
        instead_of: Option<Flaw>,
    },
    /// Nothing was ever kept.
    Cold,
    /// What was kept cannot be used; the engine starts with nothing.
    ///
    /// A damaged memory was set aside. One of a newer engine was left where it is, for that engine.
    Damaged {
        /// What is wrong with it.
        why: Flaw,
    },
}

impl Recall {
    /// Returns the parent of the save that ends this run.
    pub fn head(&self) -> Option<&Head> {
        match self {
            Self::Warm { head, .. } => Some(head),
            Self::Cold | Self::Damaged { .. } => None,
        }
    }

    fn warm(head: Head, manifest: &Manifest, hidden: u32) -> Self {
        Self::Warm {
            head,
            sessions: manifest.statistics.sessions.saturating_sub(hidden),
            bytes: manifest.bytes(),
            saved_at: manifest.saved_at,
            engine: manifest.engine.clone(),
            instead_of: None,
        }
    }
}

/// Where a memory goes.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// The engine's data folder (`XDG_DATA_HOME`), which has no database yet.
    pub engine_data: &'a Path,
    /// The file of our own ledger, which is not there yet and which the agent must not reach.
    pub ledger: Option<&'a Path>,
    /// The file of the search index, which is not there yet and which the agent must not reach.
    pub index: Option<&'a Path>,
    /// The version of the engine that will open it: a memory of a newer one is left alone.
    pub engine_version: Option<&'a str>,
    /// Who will see what the engine says: for the public, private sessions are not there.
    pub audience: Visibility,
}

/// Restores the newest memory into the engine's data folder (`XDG_DATA_HOME`), which has no database yet.
pub fn recall(store: &Store, engine_data: &Path) -> Result<Recall, Error> {
    let audience = Visibility::Private;
    recall_to(store, Destination { engine_data, ledger: None, index: None, engine_version: None, audience })
}

/// Restores the newest memory to where it is wanted, or the last whole one before it.
///
/// A damaged memory before which there is none is set aside. Another stays where it is: the next save takes its place.
pub fn recall_to(store: &Store, destination: Destination<'_>) -> Result<Recall, Error> {
    let Some(newest) = store.head()? else { return Ok(Recall::Cold) };
    let recalled = bring_from(store, &newest, destination)?;
    match &recalled {
        Recall::Warm { .. } | Recall::Cold | Recall::Damaged { why: Flaw::EngineNewer { .. } } => {}
        Recall::Damaged { .. } => store.set_aside(&newest)?,
    }
    Ok(recalled)
}

/// Restores the newest memory like `recall_to`, but changes nothing in the store: for people who look at it.
pub fn peek(store: &Store, destination: Destination<'_>) -> Result<Recall, Error> {
    store.head()?.map_or(Ok(Recall::Cold), |newest| bring_from(store, &newest, destination))
}

/// Tells what the newest memory is, as far as its manifest says.
pub fn look(store: &Store) -> Result<Recall, Error> {
    let Some(newest) = store.head()? else { return Ok(Recall::Cold) };
    let looked = readable(store, &newest, None);
    flaw_or(looked.map(|(head, manifest)| Recall::warm(head, &manifest, 0)))
}

/// Restores the newest save if it is whole, and no other.
pub(crate) fn bring_newest(
    store: &Store,
    newest: &Head,
    destination: Destination<'_>,
) -> Result<Recall, Error> {
    flaw_or(readable(store, newest, destination.engine_version).and_then(|(head, manifest)| {
        let hidden = bring(store, &manifest, destination, &BTreeSet::new())?;
        Ok(Recall::warm(head, &manifest, hidden))
    }))
}

/// Restores the newest save, or the last whole one before it.
fn bring_from(store: &Store, newest: &Head, destination: Destination<'_>) -> Result<Recall, Error> {
    let why = match bring_newest(store, newest, destination)? {
        Recall::Damaged { why } if !matches!(why, Flaw::EngineNewer { .. }) => why,
        recalled => return Ok(recalled),
    };
    for stand_in in StandIns::for_head(store, newest)? {
        let StandIn { name, manifest, forgotten } = stand_in?;
        if destination.engine_version.is_some_and(|ours| is_newer(&manifest.engine, ours)) {
            continue;
        }
        match bring(store, &manifest, destination, &forgotten) {
            Ok(hidden) => {
                let mut recalled = Recall::warm(Head::from(name), &manifest, hidden);
                if let Recall::Warm { instead_of, .. } = &mut recalled {
                    *instead_of = Some(why);
                }
                return Ok(recalled);
            }
            Err(Error::Flawed(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Recall::Damaged { why })
}

/// Takes damage for a state; only what is no damage stays an error.
fn flaw_or(brought: Result<Recall, Error>) -> Result<Recall, Error> {
    match brought {
        Err(Error::Flawed(why)) => Ok(Recall::Damaged { why }),
        brought => brought,
    }
}

/// Returns the newest save, or the newest that this engine can read.
fn readable(store: &Store, head: &Head, engine: Option<&str>) -> Result<(Head, Manifest), Error> {
    let manifest = Manifest::fetch(store, head.manifest()?)?;
    let Some(ours) = engine.filter(|ours| is_newer(&manifest.engine, ours)) else {
        return Ok((head.clone(), manifest));
    };
    if let Some(name) = manifest.earlier
        && let Ok(earlier) = Manifest::fetch(store, name)
        && !is_newer(&earlier.engine, ours)
    {
        return Ok((Head::from(name), earlier));
    }
    Err(Flaw::EngineNewer { found: manifest.engine, ours: ours.to_owned() }.into())
}

/// Restores a save without what was forgotten since, and returns how many of its sessions were hidden.
fn bring(
    store: &Store,
    manifest: &Manifest,
    destination: Destination<'_>,
    forgotten: &BTreeSet<String>,
) -> Result<u32, Error> {
    private::folder(destination.engine_data)?;
    let home = database::home(destination.engine_data)?;
    private::folder(&home)?;
    database::refuse_occupied(&home.join(database::FILE))?;
    let storage = home.join("storage");
    if storage.symlink_metadata().is_ok() {
        return Err(Error::Occupied(storage));
    }
    let scratch = tempfile::tempdir_in(&home)?;
    restore(store, manifest, scratch.path())?;
    check(manifest, scratch.path())?;
    let removed = forget::in_folder(manifest, scratch.path(), forgotten)?;
    let hidden = match destination.audience {
        Visibility::Private => 0,
        Visibility::Public => hide_private::hide_private(manifest, scratch.path())?,
    };

    for (name, place) in [(LEDGER, destination.ledger), (INDEX, destination.index)] {
        if let Some(place) = place
            && scratch.path().join(name).exists()
        {
            database::refuse_occupied(place)?;
            move_file(&scratch.path().join(name), place)?;
        }
    }
    if !manifest.files.is_empty() {
        fs_err::rename(scratch.path().join("storage"), storage)?;
    }
    fs_err::rename(scratch.path().join(ENGINE_DATABASE), home.join(database::FILE))?;
    Ok(hidden + removed)
}

/// Makes sure that what was restored is a database of the engine with the sessions that the manifest counts.
pub(crate) fn check(manifest: &Manifest, folder: &Path) -> Result<(), Error> {
    if !manifest.databases.contains_key(ENGINE_DATABASE) {
        return Err(Flaw::Manifest("it has no database of the engine".to_owned()).into());
    }
    if manifest.databases.contains_key(LEDGER) {
        database::refuse_unsound(&database::open(&folder.join(LEDGER))?)?;
    }
    let connection = database::open(&folder.join(ENGINE_DATABASE))?;
    let sessions = database::inspect(&connection)?;
    // Without them the engine would begin to build what is there already, and fail.
    if migrations(&connection).map_err(judge("read the migrations of the database"))? != manifest.migrations {
        return Err(Flaw::Unpacked("it lacks migrations".to_owned()).into());
    }
    if sessions != manifest.statistics.sessions || sessions as usize != manifest.sessions.len() {
        return Err(Flaw::Unpacked(format!("it has {sessions} sessions")).into());
    }
    Ok(())
}

/// Moves a file, also to another disk.
fn move_file(from: &Path, to: &Path) -> Result<(), Error> {
    if fs_err::rename(from, to).is_err() {
        fs_err::copy(from, to)?;
        fs_err::remove_file(from)?;
    }
    Ok(())
}

/// Compares the first two numbers of versions: a patch changes no schema.
pub(crate) fn is_newer(found: &str, ours: &str) -> bool {
    let numbers = |version: &str| -> Option<(u32, u32)> {
        let mut parts = version.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    numbers(found).zip(numbers(ours)).is_some_and(|(found, ours)| found > ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_not_newer() {
        assert!(is_newer("1.19.0", "1.18.33") && is_newer("2.0.0", "1.18.33"));
        assert!(
            !is_newer("1.18.34", "1.18.33") && !is_newer("1.9.0", "1.18.33") && !is_newer("dev", "1.18.33")
        );
    }
}
