//! Saves the engine's sessions on top of the newest save that the store has.

mod attempt;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    thread,
};

use fro_core::{Secret, remembered::Audience};
use jiff::Timestamp;

use crate::{
    background::Background,
    database,
    error::{Error, Flaw},
    forget,
    gc::{Collected, GRACE, collect_garbage},
    lineage,
    merge::Merged,
    ownership::ChangedSessions,
    prune::Retention,
    secrets::Secrets,
    snapshot::{
        files::Files,
        manifest::{Manifest, Statistics},
        packer::cut_all,
        saved::Saved,
    },
    store::{Advance, Head, Store},
};
pub(crate) use attempt::Searched;
use attempt::{Attempt, Ground, Local, NewSave};

/// So often a save is tried when others keep coming first.
const ATTEMPTS: u32 = 40;

/// Where a save comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// The time of the save.
    pub now: Timestamp,
    /// The version of the engine that wrote the database.
    pub engine_version: String,
    /// The save that the engine started from: `Recall::head`, or `Kept::head` of the save before.
    pub parent: Option<Head>,
}

/// The end of a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// The memory is in the store, and the next run will find it.
    Saved {
        /// Points at this save.
        head: Head,
        /// How many sessions it has.
        sessions: u32,
        /// How large all of it is.
        bytes: u64,
        /// How much had to be written to the store.
        uploaded: u64,
        /// What happened on the way.
        report: Report,
    },
    /// The memory of other runs stands and ours is not in it: they never stopped saving, or their engine's database
    /// cannot take ours in.
    Raced {
        /// How many sessions were left out.
        sessions: u32,
        /// Where the head stands.
        now: Option<Head>,
        /// Where ours lies in the store, until it is collected.
        parked: Head,
    },
    /// The engine never wrote a database.
    Nothing,
}

impl Kept {
    /// Returns the parent of the next save.
    pub fn head(&self) -> Option<&Head> {
        match self {
            Self::Saved { head, .. } => Some(head),
            Self::Raced { .. } | Self::Nothing => None,
        }
    }
}

/// What a save did beside saving.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How often another run saved first.
    pub races: u32,
    /// What both had continued.
    pub merged: Merged,
    /// Sessions and files that differ from what was restored though they are not this run's; they stay as they were.
    pub left_out: Vec<String>,
    /// Sessions that were old enough to go.
    pub pruned: Vec<String>,
    /// Sessions that were removed for good, with their children.
    pub forgotten: Vec<String>,
    /// How many values had a secret in them.
    pub redacted: u64,
    /// What was wrong with the head, if this save follows an earlier one in its place.
    pub damage: Option<Box<Flaw>>,
    /// How many sessions of the head could not be read any more and are not in this save.
    pub lost: u32,
    /// Sessions of other runs that cannot be read any more, as far as this save looked. The head was damaged before, too, so they
    /// are kept as they are.
    pub spoilt: Vec<String>,
    /// Tells whether the head had been put back to a save that the run's own beginning contains.
    pub went_back: bool,
    /// Figures for people.
    pub statistics: Statistics,
}

/// Saves the engine's memory from its data folder (`XDG_DATA_HOME`), while it runs or after.
pub fn keep(store: &Store, engine_data: &Path, provenance: &Provenance) -> Result<Kept, Error> {
    Keep::new(engine_data, provenance.clone()).save(store)
}

/// A save with everything that can be said about it.
#[derive(Debug, Clone)]
pub struct Keep<'a> {
    engine_data: &'a Path,
    /// The data folder that has the database, where that is not the engine's.
    database: &'a Path,
    provenance: Provenance,
    origin: BTreeMap<String, String>,
    secrets: Vec<Secret>,
    /// Values that may be of this run alone.
    passing: Vec<Secret>,
    ours: ChangedSessions,
    retention: Retention,
    forget: BTreeSet<String>,
    ledger: Option<&'a Path>,
    index: Option<&'a Path>,
    audience: Audience,
    damage: Option<Flaw>,
    known: Option<Arc<Saved>>,
}

impl<'a> Keep<'a> {
    /// Describes a save of all sessions, pruned as is usual.
    pub fn new(engine_data: &'a Path, provenance: Provenance) -> Self {
        Self {
            engine_data,
            database: engine_data,
            provenance,
            origin: BTreeMap::new(),
            secrets: Vec::new(),
            passing: Vec::new(),
            ours: ChangedSessions::All,
            retention: Retention::default(),
            forget: BTreeSet::new(),
            ledger: None,
            index: None,
            audience: Audience::Insiders,
            damage: None,
            known: None,
        }
    }

    /// Takes the database from another data folder: the agent can write to the engine's own.
    #[must_use]
    pub fn with_database(mut self, data: &'a Path) -> Self {
        self.database = data;
        self
    }

    /// Notes who saves: names and values for people who look at the memory.
    #[must_use]
    pub fn from(mut self, origin: impl IntoIterator<Item = (String, String)>) -> Self {
        self.origin.extend(origin);
        self
    }

    /// Takes these values out of everything that is stored. One that earlier saves did not know is looked for in all
    /// that they stored.
    #[must_use]
    pub fn without(mut self, secrets: impl IntoIterator<Item = Secret>) -> Self {
        self.secrets.extend(secrets);
        self
    }

    /// Takes these values out of what is saved now. Such a value may be made for this run alone, so it is looked for in
    /// all that earlier saves stored only if one of them knew it too.
    #[must_use]
    pub fn without_passing(mut self, secrets: impl IntoIterator<Item = Secret>) -> Self {
        self.passing.extend(secrets);
        self
    }

    /// Saves only these sessions and their children; whatever else changed is left out and reported.
    #[must_use]
    pub fn only(mut self, sessions: impl IntoIterator<Item = String>) -> Self {
        self.ours = ChangedSessions::Only(sessions.into_iter().collect::<BTreeSet<_>>());
        self
    }

    /// Prunes like this.
    #[must_use]
    pub fn pruning(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Removes these sessions for good: no merge brings them back.
    #[must_use]
    pub fn forgetting(mut self, sessions: impl IntoIterator<Item = String>) -> Self {
        self.forget.extend(sessions);
        self
    }

    /// Saves the ledger in this file along.
    #[must_use]
    pub fn with_ledger(mut self, ledger: &'a Path) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Saves a search index along, made from the one in this file as it was recalled; it may be missing.
    #[must_use]
    pub fn with_index(mut self, index: &'a Path) -> Self {
        self.index = Some(index);
        self
    }

    /// Says for whom the memory was recalled: what was hidden from the public is missing here and is not deleted.
    #[must_use]
    pub fn seen_by(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }

    /// Says that the save which the run started from is damaged: what is left of it is saved anew.
    #[must_use]
    pub(crate) fn instead_of(mut self, damage: Option<Flaw>) -> Self {
        self.damage = damage;
        self
    }

    /// Takes a save that was looked at already, if it turns out to be the one that the run started from.
    #[must_use]
    pub(crate) fn knowing(mut self, known: Option<Arc<Saved>>) -> Self {
        self.known = known;
        self
    }

    /// Returns the time of the save.
    pub(crate) fn now(&self) -> Timestamp {
        self.provenance.now
    }

    /// Saves; if others save at the same time, merges with each of them.
    pub fn save(&self, store: &Store) -> Result<Kept, Error> {
        match self.save_once(store) {
            // What was looked at when the run began may be gone by now.
            Err(Error::Flawed(_)) if self.known.is_some() => self.clone().knowing(None).save_once(store),
            saved => saved,
        }
    }

    fn save_once(&self, store: &Store) -> Result<Kept, Error> {
        let Some(database) = database::find(self.database)? else { return Ok(Kept::Nothing) };
        let secrets = Secrets::knowing(self.secrets.iter().chain(&self.passing))?;
        let files = Files::open(&database::home(self.engine_data)?)?;
        thread::scope(|scope| {
            // The files are read on another core, while the database is copied and cleaned.
            let cut = Background::begin(scope, || cut_all(&files, &secrets));
            let mut local = Local::take(self, store, &database, &files, cut)?;
            local.scrub(&secrets)?;
            self.save_after_others(store, &local, &secrets)
        })
    }

    /// Saves on top of the head, until no other run comes first.
    fn save_after_others(&self, store: &Store, local: &Local<'_>, secrets: &Secrets) -> Result<Kept, Error> {
        let (mut races, mut attempts) = (0, 0);
        let mut damaged: Option<(Head, Flaw)> = self.provenance.parent.clone().zip(self.damage.clone());
        loop {
            attempts += 1;
            let head = store.head()?;
            races += u32::from(head != self.provenance.parent && head.is_some());
            let ground = match &damaged {
                Some((bad, why)) if head.as_ref() == Some(bad) => Ground::before(store, bad, why.clone())?,
                Some(_) | None => Ground::at(store, head.as_ref(), local.base())?,
            };
            if ground.is_lost() && attempts < ATTEMPTS {
                continue;
            }
            let made = match (self.attempt(store, local, secrets, &ground), &head) {
                // Our own database may be what is wrong, so the head is looked at closely.
                (Err(Error::Flawed(why)), Some(head))
                    if !ground.is_stand_in() && is_damaged(store, head)? =>
                {
                    damaged = Some((head.clone(), why));
                    continue;
                }
                (made, _) => made?,
            };
            // What earlier saves still have of them is taken before it is out of reach.
            if let (Some(spoilt), Some(head)) = (made.report.spoilt.first(), &head)
                && !ground.is_stand_in()
                && attempts < ATTEMPTS
            {
                damaged = Some((head.clone(), Flaw::Session(spoilt.clone())));
                continue;
            }
            if made.may_advance
                && let Advance::Done = store.advance(head.as_ref(), &made.uploaded.head)?
            {
                self.tidy(store, &made);
                return Ok(made.into_kept(races));
            }
            if attempts == ATTEMPTS || !made.may_advance {
                let sessions = made.uploaded.sessions;
                return Ok(Kept::Raced { sessions, now: head, parked: made.uploaded.head });
            }
        }
    }

    fn attempt(
        &self,
        store: &Store,
        local: &Local<'_>,
        secrets: &Secrets,
        ground: &Ground,
    ) -> Result<NewSave, Error> {
        let forget = self.forget.union(&ground.forgotten).cloned().collect();
        Attempt { keep: self, store, local, secrets, ground, forget }.make()
    }

    /// Collects what nobody needs; where that is not allowed the store grows, but the save stands.
    fn tidy(&self, store: &Store, made: &NewSave) {
        if made.is_rewritten {
            let_go(store);
        }
        if !made.uploaded.left_packs {
            return;
        }
        match collect_garbage(store, self.provenance.now, GRACE) {
            Ok(Collected { objects, bytes }) => tracing::debug!(objects, bytes, "old packs were deleted"),
            Err(error) => tracing::info!("old packs were not deleted: {}", error.story()),
        }
    }
}

/// Tells whether a byte of the head is missing or wrong.
fn is_damaged(store: &Store, head: &Head) -> Result<bool, Error> {
    let name = head.manifest()?;
    match Manifest::fetch(store, name) {
        Ok(manifest) => Ok(!lineage::is_whole(store, name, manifest)?),
        Err(Error::Flawed(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Lets go of what was set aside: what is taken out of a memory may be in it.
fn let_go(store: &Store) {
    let dropped =
        store.asides().and_then(|asides| asides.iter().try_for_each(|aside| store.drop_aside(&aside.head)));
    let dropped = dropped.and_then(|()| forget::former(store));
    if let Err(error) = dropped {
        tracing::warn!("what was set aside was not removed: {}", error.story());
    }
}
