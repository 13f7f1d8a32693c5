//! Puts the newest memory in place before the engine starts, or says why the start is clean.

use std::{collections::BTreeSet, path::Path};

use fro_core::remembered::Audience;
use jiff::Timestamp;

use crate::{
    carry_over::{self, CarriedOver},
    database::{self, judge},
    error::{Error, Flaw},
    forget, hide_private,
    index::{Blocks, Index},
    ledger::Ledger,
    lineage::{self, StandIn, StandIns},
    newest, private,
    snapshot::{
        count, leaf,
        manifest::{ENGINE_DATABASE, INDEX, LEDGER, Manifest},
        restore::{TableChoice, restore_files, restore_own, restore_sessions},
        saved::Saved,
    },
    store::{Head, ObjectName, Store},
    upload::{migrations, refuse_without_migrations},
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
    /// What was kept is of a newer engine, for which it was left where it is; the engine starts with nothing.
    Newer {
        /// Which engine, and which one would have to read it.
        why: Flaw,
    },
    /// What was kept is damaged and was set aside; the engine starts with nothing.
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
            Self::Cold | Self::Newer { .. } | Self::Damaged { .. } => None,
        }
    }

    /// Returns what is wrong with the newest save, if what was recalled is another one or what is left of it.
    pub(crate) fn damage(&self) -> Option<&Flaw> {
        match self {
            Self::Warm { instead_of, .. } => instead_of.as_ref(),
            Self::Cold | Self::Newer { .. } | Self::Damaged { .. } => None,
        }
    }

    /// Says why what was kept cannot be used.
    fn unusable(why: Flaw) -> Self {
        if matches!(why, Flaw::EngineNewer { .. }) { Self::Newer { why } } else { Self::Damaged { why } }
    }

    fn warm(head: Head, manifest: &Manifest, hidden: u32) -> Self {
        Self::Warm {
            head,
            sessions: manifest.statistics.sessions.saturating_sub(hidden),
            bytes: manifest.statistics.bytes,
            saved_at: manifest.saved_at,
            engine: manifest.engine.clone(),
            instead_of: None,
        }
    }
}

/// Where a memory goes.
#[derive(Debug, Clone, Copy)]
pub struct RecallTarget<'a> {
    /// The engine's data folder (`XDG_DATA_HOME`), which has no database yet.
    pub engine_data: &'a Path,
    /// The file of our own ledger, which is not there yet and which the agent must not reach.
    pub ledger: Option<&'a Path>,
    /// The file of the search index, which is not there yet and which the agent must not reach.
    pub index: Option<&'a Path>,
    /// The version of the engine that will open it: a memory of a newer one is left alone.
    pub engine_version: Option<&'a str>,
    /// Who will see what the engine says: for the public, private sessions are not there.
    pub audience: Audience,
    /// What the engine is given.
    pub given: SessionSelection<'a>,
}

/// Which sessions the engine is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionSelection<'a> {
    /// All of them.
    Everything,
    /// The one in which this subject was last spoken about, and those that were opened for it.
    About(&'a str),
}

/// What was put in place.
pub(crate) struct RestoredMemory {
    pub(crate) recall: Recall,
    /// The save that it is from, for whoever wants to know more of it.
    pub(crate) saved: Option<Saved>,
    /// Sessions of it that must not be seen.
    pub(crate) hidden: BTreeSet<String>,
}

impl RestoredMemory {
    /// Says that nothing was put in place.
    pub(crate) fn nothing(recall: Recall) -> Self {
        Self { recall, saved: None, hidden: BTreeSet::new() }
    }

    /// Notes what is wrong with the save that it stands in for.
    fn instead_of(mut self, why: Flaw) -> Self {
        if let Recall::Warm { instead_of, .. } = &mut self.recall {
            *instead_of = Some(why);
        }
        self
    }
}

/// Restores the newest memory into the engine's data folder (`XDG_DATA_HOME`), which has no database yet.
pub fn recall(store: &Store, engine_data: &Path) -> Result<Recall, Error> {
    let (audience, given) = (Audience::Insiders, SessionSelection::Everything);
    let to = RecallTarget { engine_data, ledger: None, index: None, engine_version: None, audience, given };
    recall_to(store, to)
}

/// Restores the newest memory to where it is wanted, or the last whole one before it.
///
/// A damaged memory before which there is none is set aside. Another stays where it is: the next save takes its place.
/// A memory of the former format is carried over first.
pub fn recall_to(store: &Store, destination: RecallTarget<'_>) -> Result<Recall, Error> {
    carry_over::carry_over(store)?;
    Ok(bring_or_set_aside(store, destination)?.recall)
}

/// Restores the newest save or the last whole one before it; if there is none, it is set aside.
pub(crate) fn bring_or_set_aside(
    store: &Store,
    destination: RecallTarget<'_>,
) -> Result<RestoredMemory, Error> {
    let Some(newest) = store.head()? else { return bring_stray(store, destination) };
    let brought = bring_from(store, &newest, destination)?;
    match &brought.recall {
        Recall::Warm { .. } | Recall::Cold | Recall::Newer { .. } => {}
        Recall::Damaged { .. } => store.set_aside(&newest)?,
    }
    Ok(brought)
}

/// Restores what was saved last into a store that has no head any more.
fn bring_stray(store: &Store, destination: RecallTarget<'_>) -> Result<RestoredMemory, Error> {
    let Some(newest) = newest::stray(store)? else { return Ok(RestoredMemory::nothing(Recall::Cold)) };
    let brought = bring_from(store, &newest, destination)?;
    match &brought.recall {
        Recall::Warm { .. } => Ok(brought.instead_of(Flaw::Headless)),
        Recall::Cold | Recall::Newer { .. } => Ok(brought),
        // Of what was set aside, because nothing of it can be used, the rest lies there for a while.
        Recall::Damaged { .. } if !store.asides()?.is_empty() => Ok(RestoredMemory::nothing(Recall::Cold)),
        Recall::Damaged { .. } => Ok(RestoredMemory::nothing(Recall::Damaged { why: Flaw::Headless })),
    }
}

/// Restores the newest memory like `recall_to`, but changes nothing in the store: for people who look at it.
pub fn peek(store: &Store, destination: RecallTarget<'_>) -> Result<Recall, Error> {
    if store.head()?.is_none()
        && newest::stray(store)?.is_none()
        && let Some(CarriedOver { store, .. }) = carry_over::aside(store)?
    {
        // What was not carried over yet is looked at in a store of its own.
        return peek(&store, destination);
    }
    Ok(peek_into(store, destination)?.recall)
}

/// Restores like `peek`, and returns the save too, for whoever reads more of it.
pub(crate) fn peek_into(store: &Store, destination: RecallTarget<'_>) -> Result<RestoredMemory, Error> {
    match store.head()? {
        Some(newest) => bring_from(store, &newest, destination),
        None => bring_stray(store, destination),
    }
}

/// Tells what the newest memory is, as far as its manifest says.
pub fn look(store: &Store) -> Result<Recall, Error> {
    let read = |head: &Head| {
        flaw_or(readable(store, head, None).map(|(name, manifest)| Recall::warm(name.into(), &manifest, 0)))
    };
    if let Some(newest) = store.head()? {
        return read(&newest);
    }
    match newest::stray(store)? {
        Some(newest) => Ok(RestoredMemory::nothing(read(&newest)?).instead_of(Flaw::Headless).recall),
        None => carry_over::look(store),
    }
}

/// Restores the newest save if it is whole, and no other.
pub(crate) fn bring_newest(
    store: &Store,
    newest: &Head,
    destination: RecallTarget<'_>,
) -> Result<RestoredMemory, Error> {
    let found = readable(store, newest, destination.engine_version);
    damaged_or(found.and_then(|(name, manifest)| {
        bring(store, Saved::open(store, name, manifest)?, destination, &BTreeSet::new())
    }))
}

/// Restores the newest save, or what is left of it, or the last whole one before it.
fn bring_from(store: &Store, newest: &Head, destination: RecallTarget<'_>) -> Result<RestoredMemory, Error> {
    let first = bring_newest(store, newest, destination)?;
    let why = match &first.recall {
        Recall::Damaged { why } => why.clone(),
        Recall::Warm { .. } | Recall::Cold | Recall::Newer { .. } => return Ok(first),
    };
    match bring_rest(store, newest, destination) {
        Ok(Some(brought)) => return Ok(brought.instead_of(why)),
        Ok(None) | Err(Error::Flawed(_)) => {}
        Err(error) => return Err(error),
    }
    for stand_in in StandIns::for_head(store, newest)? {
        let StandIn { name, manifest, forgotten } = stand_in?;
        if destination.engine_version.is_some_and(|ours| is_newer(&manifest.engine, ours)) {
            continue;
        }
        let saved = Saved::open(store, name, manifest);
        match saved.and_then(|saved| bring(store, saved, destination, &forgotten)) {
            Ok(brought) => return Ok(brought.instead_of(why)),
            Err(Error::Flawed(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(first)
}

/// Restores what is left of a damaged save; nothing if none of its sessions is, or if it is of a newer engine.
fn bring_rest(
    store: &Store,
    head: &Head,
    destination: RecallTarget<'_>,
) -> Result<Option<RestoredMemory>, Error> {
    let Some((saved, _)) = lineage::heal(store, head)? else { return Ok(None) };
    if destination.engine_version.is_some_and(|ours| is_newer(&saved.manifest.engine, ours)) {
        return Ok(None);
    }
    bring(store, saved, destination, &BTreeSet::new()).map(Some)
}

/// Takes damage for a state; only what is no damage stays an error.
fn damaged_or(brought: Result<RestoredMemory, Error>) -> Result<RestoredMemory, Error> {
    match brought {
        Err(Error::Flawed(why)) => Ok(RestoredMemory::nothing(Recall::unusable(why))),
        brought => brought,
    }
}

/// Takes damage for a state; only what is no damage stays an error.
fn flaw_or(brought: Result<Recall, Error>) -> Result<Recall, Error> {
    match brought {
        Err(Error::Flawed(why)) => Ok(Recall::unusable(why)),
        brought => brought,
    }
}

/// Returns the newest save, or the newest that this engine can read.
fn readable(store: &Store, head: &Head, engine: Option<&str>) -> Result<(ObjectName, Manifest), Error> {
    let name = head.manifest()?;
    let manifest = Manifest::fetch(store, name)?;
    let Some(ours) = engine.filter(|ours| is_newer(&manifest.engine, ours)) else {
        return Ok((name, manifest));
    };
    if let Some(name) = manifest.earlier {
        let earlier = Manifest::fetch(store, name)?;
        if !is_newer(&earlier.engine, ours) {
            return Ok((name, earlier));
        }
    }
    Err(Flaw::EngineNewer { found: manifest.engine, ours: ours.to_owned() }.into())
}

/// Restores a save without what was forgotten since.
fn bring(
    store: &Store,
    mut saved: Saved,
    destination: RecallTarget<'_>,
    forgotten: &BTreeSet<String>,
) -> Result<RestoredMemory, Error> {
    private::folder(destination.engine_data)?;
    let home = database::home(destination.engine_data)?;
    private::folder(&home)?;
    database::refuse_occupied(&home.join(database::FILE))?;
    let storage = home.join("storage");
    if storage.symlink_metadata().is_ok() {
        return Err(Error::Occupied(storage));
    }
    let scratch = tempfile::tempdir_in(&home)?;
    let folder = scratch.path();
    let gone = forget::with_children(&saved.sessions, forgotten);
    saved.sessions.retain(|id, _| !gone.contains(id));
    for own in [LEDGER, INDEX] {
        restore_own(store, &saved, folder, own)?;
    }
    refuse_unsound_ledger(folder)?;
    forget::in_folder(folder, &gone)?;
    let hidden = match destination.audience {
        Audience::Insiders => BTreeSet::new(),
        Audience::Everyone => hide_private::private(&saved.sessions, &folder.join(LEDGER))?,
    };
    let given = given(&saved, destination.given, &hidden, folder)?;
    restore_sessions(store, &saved, folder, &given, TableChoice::Own)?;
    check(&saved, folder, &given)?;
    let mut files = saved.files(|session| given.contains(session));
    // A file whose session cannot be told may be anybody's.
    files.retain(|file| match destination.audience {
        Audience::Insiders => true,
        Audience::Everyone => given.iter().any(|session| file.place.belongs_to(session)),
    });
    restore_files(store, &saved, folder, &files)?;

    if let (Some(place), SessionSelection::Everything) = (destination.index, destination.given) {
        bring_blocks(store, &saved, &folder.join(INDEX), place)?;
    }
    for (name, place) in [(LEDGER, destination.ledger), (INDEX, destination.index)] {
        if let Some(place) = place
            && folder.join(name).exists()
        {
            database::refuse_occupied(place)?;
            move_file(&folder.join(name), place)?;
        }
    }
    if !files.is_empty() {
        fs_err::rename(folder.join("storage"), storage)?;
    }
    fs_err::rename(folder.join(ENGINE_DATABASE), home.join(database::FILE))?;
    let seen = count(saved.sessions.len() - hidden.len());
    let unseen = saved.manifest.statistics.sessions.saturating_sub(seen);
    let recall = Recall::warm(saved.name.into(), &saved.manifest, unseen);
    Ok(RestoredMemory { recall, saved: Some(saved), hidden })
}

/// Fetches the blocks of an index for whoever has no store to ask later. Without them the index is made anew.
fn bring_blocks(store: &Store, saved: &Saved, index: &Path, place: &Path) -> Result<(), Error> {
    let Some(index) = Index::existing(index) else { return Ok(()) };
    let (sheaves, _) = index.sheaves()?;
    let names = sheaves.iter().map(|sheaf| sheaf.name.hash()).collect();
    let brought = Blocks::beside(place).bring(&names, &|names| saved.fetch(store, names.iter().copied()));
    match brought {
        Err(Error::Flawed(why)) => {
            tracing::warn!("the search index cannot be read: {why}");
            Ok(())
        }
        brought => brought.map(drop),
    }
}

/// Returns the sessions that the engine is given.
fn given(
    saved: &Saved,
    given: SessionSelection<'_>,
    hidden: &BTreeSet<String>,
    folder: &Path,
) -> Result<BTreeSet<String>, Error> {
    let ids = match given {
        SessionSelection::Everything => saved.sessions.keys().cloned().collect(),
        SessionSelection::About(_) if !folder.join(LEDGER).exists() => BTreeSet::new(),
        SessionSelection::About(subject) => {
            let session = Ledger::open(folder.join(LEDGER))?.session_of(subject)?;
            session.map(|session| leaf::tree(&saved.sessions, &session)).unwrap_or_default()
        }
    };
    Ok(ids.difference(hidden).cloned().collect())
}

/// Restores everything into a folder and makes sure of it.
pub(crate) fn restore_whole(store: &Store, saved: &Saved, folder: &Path) -> Result<(), Error> {
    for own in [LEDGER, INDEX] {
        restore_own(store, saved, folder, own)?;
    }
    refuse_unsound_ledger(folder)?;
    let all = saved.sessions.keys().cloned().collect();
    restore_sessions(store, saved, folder, &all, TableChoice::Own)?;
    restore_files(store, saved, folder, &saved.files(|_| true))?;
    if let Some(index) = Index::existing(&folder.join(INDEX)) {
        saved.fetch(store, index.sheaves()?.0.into_iter().map(|sheaf| sheaf.name.hash()))?;
    }
    check(saved, folder, &all)
}

fn refuse_unsound_ledger(folder: &Path) -> Result<(), Error> {
    let ledger = folder.join(LEDGER);
    if ledger.exists() { database::refuse_unsound(&database::open(&ledger)?) } else { Ok(()) }
}

/// Makes sure that what was restored is a database of the engine with the sessions that were wanted.
fn check(saved: &Saved, folder: &Path, given: &BTreeSet<String>) -> Result<(), Error> {
    let connection = database::open(&folder.join(ENGINE_DATABASE))?;
    let sessions = database::inspect(&connection)?;
    // Without them the engine would begin to build what is there already, and fail.
    let known = migrations(&connection).map_err(judge("read the migrations of the database"))?;
    refuse_without_migrations(&connection, &known)?;
    if !saved.manifest.levels.values().any(|level| level.migrations == known) {
        return Err(Flaw::Unpacked("it lacks migrations".to_owned()).into());
    }
    if sessions as usize != given.len() {
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
