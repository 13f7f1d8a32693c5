//! All stores of one memory together: which is asked first, how the others follow, and what is told of it.
//!
//! The first store that works is the truth. The others are mirrors: they hold the same manifests and packs under the
//! same names, so that a head of one means the same in all. A save that only a mirror has (the truth was out of reach
//! when it was made, or was set up later) is brought home before anything else is recalled.

mod mirror;
mod repair;
mod whole;

pub use repair::Repair;

use std::{path::PathBuf, sync::Arc};

use fro_core::{Secret, say::summary::counted};
use jiff::Timestamp;

use crate::{
    archive::Archive,
    carry_over::carry_over,
    error::{Error, Flaw, Refusal},
    gc::GRACE,
    keep::{Keep, Kept},
    newest::stray,
    recall::{
        Recall, RecallTarget, RestoredMemory, SessionSelection, bring_newest, bring_or_set_aside, peek,
        peek_into,
    },
    snapshot::{manifest::Manifest, saved::Saved},
    store::{Head, Object, Place, Store, cache::CacheSettings, s3::S3Settings},
};

/// Where a memory is kept. With none of them there is no memory.
#[derive(Debug, Clone, Default)]
pub struct StoreSettings {
    /// A bucket; the first to be asked.
    pub s3: Option<S3Settings>,
    /// A folder of this machine.
    pub folder: Option<PathBuf>,
    /// The cache of GitHub Actions.
    pub cache: CacheUse,
    /// The size from which on people are warned, in bytes.
    pub warn_size: Option<u64>,
}

impl StoreSettings {
    /// Keeps the memory in this folder and nowhere else.
    pub fn folder(root: impl Into<PathBuf>) -> Self {
        Self { folder: Some(root.into()), ..Self::default() }
    }

    /// Returns everything in these settings that must never be seen.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let token = match &self.cache {
            CacheUse::Service(cache) => Some(&cache.token),
            CacheUse::Unused | CacheUse::Unusable(_) => None,
        };
        token.into_iter().chain(self.s3.iter().flat_map(S3Settings::secrets))
    }

    /// Tells whether a memory is kept at all.
    pub fn is_empty(&self) -> bool {
        self.s3.is_none() && self.folder.is_none() && !matches!(self.cache, CacheUse::Service(_))
    }
}

/// What is known of the cache of GitHub Actions.
#[derive(Debug, Clone, Default)]
pub enum CacheUse {
    /// The cache is not wanted, or there is no workflow.
    #[default]
    Unused,
    /// It is wanted, but cannot be used; this is why.
    Unusable(String),
    /// The cache service that the runner offers.
    Service(Box<CacheSettings>),
}

/// The stores of one memory, opened for one run. Dropping them ends their connections.
#[derive(Debug)]
pub struct Stores {
    settings: Box<StoreSettings>,
    members: Vec<Member>,
    unusable: Vec<String>,
    unopened: Vec<Place>,
    warn_size: Option<u64>,
}

#[derive(Debug)]
struct Member {
    store: Store,
    /// Nobody answered; this run does not wait for it a second time.
    is_lost: bool,
    /// What is wrong with the newest save that it had when the run began.
    damage: Option<Flaw>,
    /// That save, if it was whole: whoever saves on top of it need not ask for it again.
    known: Option<Arc<Saved>>,
}

/// What was recalled, from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recollection {
    /// What the engine starts with.
    pub recall: Recall,
    /// The store that had it.
    pub from: Option<Place>,
    /// What else that store has of it.
    pub archive: Option<Archive>,
    /// The stores that could not be asked: nobody knows what they have.
    pub unread: Vec<Place>,
    /// What a maintainer should know.
    pub warnings: Vec<String>,
}

impl Recollection {
    /// Says that there is nothing to begin with.
    pub fn nothing(warnings: Vec<String>) -> Self {
        Self { recall: Recall::Cold, from: None, archive: None, unread: Vec::new(), warnings }
    }
}

/// What was kept, where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keeping {
    /// The save in the first store that took it; nothing if none did.
    pub kept: Option<Kept>,
    /// Each store with what became of it there, in order.
    pub places: Vec<(Place, Stored)>,
    /// What a maintainer should know.
    pub warnings: Vec<String>,
}

/// What became of a save in one store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// The store has the save, and the next run finds it.
    Saved,
    /// Others never stopped saving, or their engine's database cannot take ours in.
    Raced,
    /// This run may only read the store.
    ReadOnly,
    /// The store failed.
    Failed,
    /// There was nothing to save.
    Nothing,
}

impl Stores {
    /// Opens what the settings name. What cannot be opened is a warning of the first recall or save.
    pub fn open(settings: &StoreSettings) -> Self {
        let mut stores = Self {
            settings: Box::new(settings.clone()),
            members: Vec::new(),
            unusable: Vec::new(),
            unopened: Vec::new(),
            warn_size: settings.warn_size,
        };
        stores.add(Place::S3, settings.s3.as_ref().map(Store::s3));
        stores.add(Place::Folder, settings.folder.as_ref().map(Store::folder));
        match &settings.cache {
            CacheUse::Unused => {}
            CacheUse::Unusable(why) => stores.unusable.push(why.clone()),
            CacheUse::Service(cache) => {
                stores.add(Place::ActionsCache, Some(Store::actions_cache(cache)));
            }
        }
        stores
    }

    fn add(&mut self, place: Place, opened: Option<Result<Store, Error>>) {
        match opened {
            None => {}
            Some(Ok(store)) => self.members.push(Member { store, is_lost: false, damage: None, known: None }),
            Some(Err(error)) => {
                self.unusable.push(format!("the memory: {}", error.story()));
                self.unopened.push(place);
            }
        }
    }

    /// Returns the stores that could be opened, the first to be asked first.
    pub fn iter(&self) -> impl Iterator<Item = &Store> {
        self.members.iter().map(|member| &member.store)
    }

    /// Returns the store of this kind, if it could be opened.
    pub(crate) fn into_store(self, place: Place) -> Option<Store> {
        self.members.into_iter().map(|member| member.store).find(|store| store.place() == place)
    }

    /// Returns why others could not be opened.
    pub fn unusable(&self) -> &[String] {
        &self.unusable
    }

    /// Restores the newest memory from the first store that has one. Never fails: trouble is a warning.
    pub fn recall(&mut self, to: RecallTarget<'_>, now: Timestamp) -> Recollection {
        let mut warnings = std::mem::take(&mut self.unusable);
        self.bring_home(now, &mut warnings);
        for member in &mut self.members {
            if let Err(error) = member.store.is_writable() {
                member.complain("saved to", &error, &mut warnings);
            }
        }
        let mut told = Recollection::nothing(warnings);
        told.unread.clone_from(&self.unopened);
        for index in 0..self.members.len() {
            let place = self.members[index].store.place();
            if self.members[index].is_lost {
                told.unread.push(place);
                continue;
            }
            match self.recall_from(index, to, &mut told.warnings) {
                Ok((RestoredMemory { recall: recall @ Recall::Warm { .. }, saved, hidden }, from)) => {
                    told.warnings.extend(went_on_with(&recall, place));
                    self.members[index].damage = recall.damage().cloned();
                    told.recall = recall;
                    told.from = Some(from);
                    told.archive = saved.map(|saved| Archive::new(&self.settings, from, saved, &hidden));
                    let is_all = hidden.is_empty() && from == place && self.members[index].damage.is_none();
                    let archive = told.archive.as_ref().filter(|_| is_all);
                    self.members[index].known = archive.map(Archive::saved);
                    break;
                }
                Ok((
                    RestoredMemory {
                        recall: recall @ (Recall::Damaged { .. } | Recall::Newer { .. }), ..
                    },
                    _,
                )) => {
                    told.warnings.extend(left_alone(&recall, place));
                    if told.recall == Recall::Cold {
                        told.recall = recall;
                        told.from = Some(place);
                    }
                }
                Ok((RestoredMemory { recall: Recall::Cold, .. }, _)) => {}
                Err(error) => {
                    told.unread.push(place);
                    self.members[index].complain("recalled from", &error, &mut told.warnings);
                }
            }
        }
        told
    }

    /// Brings what it takes to look at the memory in one of the stores, and changes nothing there: the sessions that are
    /// asked for, and what is needed to read the others. A memory of the former format comes whole.
    pub fn look_into(&self, place: Place, to: RecallTarget<'_>) -> Result<(Recall, Option<Archive>), Error> {
        let store = self.iter().find(|store| store.place() == place);
        let Some(store) = store else { return Ok((Recall::Cold, None)) };
        if store.head()?.is_none() && stray(store)?.is_none() {
            return Ok((peek(store, RecallTarget { given: SessionSelection::Everything, ..to })?, None));
        }
        let RestoredMemory { recall, saved, hidden } = peek_into(store, to)?;
        Ok((recall, saved.map(|saved| Archive::new(&self.settings, place, saved, &hidden))))
    }

    /// Restores the newest memory of a store; if it is damaged there, another store may have the same one.
    fn recall_from(
        &self,
        index: usize,
        to: RecallTarget<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<(RestoredMemory, Place), Error> {
        let store = &self.members[index].store;
        let place = store.place();
        carry_over(store)?;
        let Some(head) = store.head()? else { return Ok((bring_or_set_aside(store, to)?, place)) };
        let brought = bring_newest(store, &head, to)?;
        match &brought.recall {
            Recall::Damaged { why } => {
                if let Some((copy, from)) = self.recall_copy(index, &head, to) {
                    warnings.push(format!("the memory in {place} is damaged ({why}); {from} has a copy"));
                    return Ok((copy, from));
                }
                Ok((bring_or_set_aside(store, to)?, place))
            }
            Recall::Warm { .. } | Recall::Cold | Recall::Newer { .. } => Ok((brought, place)),
        }
    }

    /// Restores a save that is damaged in one store from another one, and mends the first as far as that goes.
    fn recall_copy(
        &self,
        damaged: usize,
        head: &Head,
        to: RecallTarget<'_>,
    ) -> Option<(RestoredMemory, Place)> {
        let name = head.manifest().ok()?;
        for (index, member) in self.members.iter().enumerate() {
            if index == damaged
                || member.is_lost
                || !member.store.has(Object::Manifest(name)).unwrap_or(false)
            {
                continue;
            }
            if let Ok(brought @ RestoredMemory { recall: Recall::Warm { .. }, .. }) =
                bring_newest(&member.store, head, to)
            {
                if let Err(error) = mirror::mend(&member.store, &self.members[damaged].store, name) {
                    tracing::info!("the damaged memory was not repaired: {}", error.story());
                }
                return Some((brought, member.store.place()));
            }
        }
        None
    }

    /// Saves to the first store that takes it and copies the save to the others. Never fails: trouble is a warning.
    pub fn keep(&mut self, keep: &Keep<'_>) -> Keeping {
        let warnings = std::mem::take(&mut self.unusable);
        let mut told = Keeping { kept: None, places: Vec::new(), warnings };
        let mut truth: Option<usize> = None;
        for index in 0..self.members.len() {
            let place = self.members[index].store.place();
            if self.members[index].is_lost {
                told.places.push((place, Stored::Failed));
                continue;
            }
            let done = match (truth, told.kept.as_ref().and_then(Kept::head)) {
                (Some(truth), Some(_)) => self.follow(truth, index, keep.now()),
                _ => self.save(index, keep, &mut told).inspect(|stored| {
                    truth = (*stored == Stored::Saved).then_some(index);
                }),
            };
            let stored = done.unwrap_or_else(|error| {
                self.members[index].complain("saved to", &error, &mut told.warnings);
                if error.refusal() == Some(Refusal::ReadOnly) { Stored::ReadOnly } else { Stored::Failed }
            });
            told.places.push((place, stored));
        }
        told.warnings.extend(told.kept.as_ref().and_then(|kept| self.too_large(kept)));
        told
    }

    /// Gives a mirror what the truth has by now; a save that only the mirror has goes home first.
    fn follow(&self, truth: usize, mirror: usize, now: Timestamp) -> Result<Stored, Error> {
        self.members[mirror].store.may_write()?;
        self.adopt(truth, mirror, now)?;
        mirror::copy(&self.members[truth].store, &self.members[mirror].store)
    }

    fn save(&self, index: usize, keep: &Keep<'_>, told: &mut Keeping) -> Result<Stored, Error> {
        let store = &self.members[index].store;
        store.may_write()?;
        let Member { damage, known, .. } = &self.members[index];
        let kept = keep.clone().instead_of(damage.clone()).knowing(known.clone()).save(store)?;
        let stored = match &kept {
            Kept::Saved { .. } => Stored::Saved,
            Kept::Raced { .. } => Stored::Raced,
            Kept::Nothing => Stored::Nothing,
        };
        told.warnings.extend(found_on_the_way(&kept, store.place()));
        told.kept = Some(kept);
        Ok(stored)
    }

    fn too_large(&self, kept: &Kept) -> Option<String> {
        let Kept::Saved { bytes, sessions, .. } = kept else { return None };
        let limit = self.warn_size.filter(|limit| bytes > limit)?;
        let (has, wanted) = (bytes.div_ceil(1_000_000), limit / 1_000_000);
        Some(format!(
            "the memory has {has} MB in {}, more than {wanted} MB (`memory-warn-size`); `session-retention` and \
             `session-max-age` make it smaller",
            counted(*sessions, "session")
        ))
    }

    /// Brings saves that only a mirror has into the truth.
    fn bring_home(&mut self, now: Timestamp, warnings: &mut Vec<String>) {
        let mut truth: Option<usize> = None;
        for index in 0..self.members.len() {
            let done = match truth {
                None => self.members[index].store.head().map(|_| truth = Some(index)),
                Some(truth) => self.adopt(truth, index, now),
            };
            if let Err(error) = done {
                self.members[index].complain("compared with", &error, warnings);
            }
        }
    }

    fn adopt(&self, truth: usize, mirror: usize, now: Timestamp) -> Result<(), Error> {
        let (truth, mirror) = (&self.members[truth].store, &self.members[mirror].store);
        let Some(stray) = mirror.head()? else { return Ok(()) };
        let Ok(name) = stray.manifest() else { return Ok(()) };
        if truth.has(Object::Manifest(name))? {
            return Ok(());
        }
        // The truth forgets old manifests after a while, so an old stranger is no stray but a mirror that fell behind.
        let is_young = match Manifest::fetch(mirror, name) {
            Ok(manifest) => now.duration_since(manifest.saved_at) < GRACE,
            Err(Error::Flawed(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if is_young || truth.head()?.is_none() {
            mirror::bring_home(mirror, truth, name, now)?;
        }
        Ok(())
    }
}

/// Says why what a store has is not used.
fn left_alone(recall: &Recall, place: Place) -> Option<String> {
    match recall {
        Recall::Damaged { why } => Some(format!("the memory in {place} cannot be used: {why}")),
        Recall::Newer { why } => Some(format!("the memory in {place} was left alone: {why}")),
        Recall::Warm { .. } | Recall::Cold => None,
    }
}

/// Says that an earlier save had to do.
fn went_on_with(recall: &Recall, place: Place) -> Option<String> {
    let Recall::Warm { sessions, saved_at, instead_of: Some(why), .. } = recall else { return None };
    Some(format!(
        "the newest memory in {place} is damaged: {why}; the run goes on with what is left, saved {saved_at:.0}, {}",
        counted(*sessions, "session")
    ))
}

/// Says what a save found in the place where it went.
fn found_on_the_way(kept: &Kept, place: Place) -> Vec<String> {
    let Kept::Saved { report, .. } = kept else { return Vec::new() };
    let damage = report.damage.as_ref().map(|why| {
        let without = match report.lost {
            0 => String::new(),
            lost => format!(", without {} that nothing has any more", counted(lost, "session")),
        };
        format!("the newest memory in {place} was damaged ({why}) and set aside; this save has what is left of it and of those before it{without}")
    });
    let spoilt = (!report.spoilt.is_empty()).then(|| {
        let spoilt = counted(u32::try_from(report.spoilt.len()).unwrap_or(u32::MAX), "session");
        format!("{spoilt} of the memory in {place} cannot be read any more; `fro-bot memory verify --repair` takes care of it")
    });
    let back = report.went_back.then(|| {
        format!("the head of the memory in {place} was put back to an older save while this run went on; what was saved in between is kept")
    });
    damage.into_iter().chain(spoilt).chain(back).collect()
}

impl Member {
    /// Tells of an error once: a store that was lost is not asked again.
    fn complain(&mut self, deed: &str, error: &Error, warnings: &mut Vec<String>) {
        self.is_lost |= error.refusal() == Some(Refusal::Unreachable);
        let place = self.store.place();
        let remedy = match error.refusal() {
            Some(Refusal::ReadOnly) => {
                "; give the job a token that may write to the cache (`cache-mode: write`), or keep the memory in S3"
            }
            Some(Refusal::Denied) => "; check the credentials and what they may do",
            Some(Refusal::Full) => "; delete old caches of the repository, or keep the memory in S3",
            Some(Refusal::Unreachable | Refusal::Failing) | None => "",
        };
        warnings.push(format!("the memory was not {deed} {place}: {}{remedy}", error.story()));
    }
}
