//! One attempt to save: our sessions on top of the head, as it is at this moment.
//!
//! Only sessions that this run touched are read and written. Whatever else the head has stays as it is described there.

mod beside;
mod draft;
mod ground;
mod look_over;
mod own_files;
mod searched;
mod sweep;

use draft::Draft;
pub(super) use ground::Ground;
use ground::Since;
pub(crate) use searched::Searched;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::SignedDuration;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Keep, Kept, Report};
use crate::{
    background::Background,
    copy,
    database::{self, judge},
    error::Error,
    fingerprint::{Fingerprints, fingerprints},
    forget, newest,
    ownership::Accepted,
    prune::prunable,
    recall::is_newer,
    secrets::Secrets,
    snapshot::{
        catalog::{Bookmark, Catalog, FileChunks},
        files::Files,
        leaf::{SessionEntries, SessionEntry},
        manifest::{GENERATION, LOOKED_OVER, REWRITTEN, Removal, RemovedSession},
        packer::Packer,
        rows::{CommonRows, RowReader},
        saved::Saved,
    },
    store::{Head, ObjectName, Store},
    upload::{PACK, SchemaLevels, Upload, Uploaded, level_of, migrations, refuse_without_migrations},
};

/// So long it is remembered that a session was pruned.
const MEMORIAL: SignedDuration = SignedDuration::from_hours(90 * 24);

/// What this machine has, copied once.
pub(super) struct Local<'scope> {
    scratch: TempDir,
    database: PathBuf,
    ledger: Option<PathBuf>,
    files: &'scope Files,
    /// The files in chunks.
    cut: Background<'scope, Vec<FileChunks>>,
    fingerprints: Fingerprints,
    migrations: BTreeSet<String>,
    /// How many values had a secret in them.
    redacted: u64,
    base: Option<Arc<Saved>>,
}

impl<'scope> Local<'scope> {
    pub(super) fn take(
        keep: &Keep<'_>,
        store: &Store,
        database: &Path,
        files: &'scope Files,
        cut: Background<'scope, Vec<FileChunks>>,
    ) -> Result<Self, Error> {
        let scratch = tempfile::tempdir()?;
        let copy = scratch.path().join("ours.db");
        copy::take(database, &copy)?;
        let connection = database::open_copy(&copy)?;
        copy::empty(&connection)?;
        database::remove_orphans(&connection)?;
        let fingerprints = fingerprints(&connection, "main").map_err(judge("fingerprint the sessions"))?;
        let migrations = migrations(&connection).map_err(judge("read the migrations of the database"))?;
        let mut ledger = None;
        if let Some(path) = keep.ledger.filter(|path| path.exists()) {
            copy::take(path, ledger.insert(scratch.path().join("our-ledger.db")))?;
        }
        let base = match &keep.provenance.parent {
            // A parent that was collected or damaged since is like none: nothing is then known to be deleted.
            Some(parent) => {
                match known(keep, parent).map_or_else(|| Saved::at(store, parent).map(Arc::new), Ok) {
                    Err(Error::Flawed(_)) => None,
                    known => Some(known?),
                }
            }
            None => None,
        };
        Ok(Self { scratch, database: copy, ledger, files, cut, fingerprints, migrations, redacted: 0, base })
    }

    /// Returns the save that the run started from, if it is there and whole.
    pub(super) fn base(&self) -> Option<&Arc<Saved>> {
        self.base.as_ref()
    }

    /// Takes out secrets. The fingerprints stay those of what the engine has, which is what was restored.
    pub(super) fn scrub(&mut self, secrets: &Secrets) -> Result<(), Error> {
        self.redacted = secrets.scrub(&database::open_copy(&self.database)?)?;
        Ok(())
    }
}

/// One attempt.
pub(super) struct Attempt<'a, 'scope> {
    pub(super) keep: &'a Keep<'a>,
    pub(super) store: &'a Store,
    pub(super) local: &'a Local<'scope>,
    pub(super) secrets: &'a Secrets,
    pub(super) ground: &'a Ground,
    /// Sessions that are to be removed for good.
    pub(super) forget: BTreeSet<String>,
}

/// What an attempt put into the store.
pub(super) struct NewSave {
    pub(super) uploaded: Uploaded,
    pub(super) report: Report,
    /// False if the head must not point at it.
    pub(super) may_advance: bool,
    /// Tells whether something was taken out of everything that was saved before.
    pub(super) is_rewritten: bool,
}

impl NewSave {
    /// Says what was saved.
    pub(super) fn into_kept(self, races: u32) -> Kept {
        Kept::Saved {
            head: self.uploaded.head,
            sessions: self.uploaded.sessions,
            bytes: self.uploaded.bytes,
            uploaded: self.uploaded.written,
            report: Report { races, ..self.report },
        }
    }
}

/// A database that is about to be saved: which of its sessions are.
struct Source {
    database: PathBuf,
    sessions: BTreeSet<String>,
}

/// What becomes of the memory, so far.
struct NextSave<'a> {
    /// What the save goes on.
    theirs: Option<&'a Saved>,
    /// A folder for what is made on the way.
    scratch: &'a Path,
    sessions: SessionEntries,
    level: String,
    levels: SchemaLevels,
    /// Where the sessions that changed are.
    sources: Vec<Source>,
}

impl Attempt<'_, '_> {
    pub(super) fn make(&self) -> Result<NewSave, Error> {
        let base = self.local.base.as_deref();
        let since = Since::between(self.store, base, self.ground.theirs.as_deref())?;
        let went_back = matches!(since, Since::Back);
        let theirs = self.theirs(went_back)?;
        let before = base.map(Saved::notes).unwrap_or_default();
        let accepted = self.keep.ours.accept(&before, &self.local.fingerprints);
        let scratch = tempfile::tempdir_in(self.local.scratch.path())?;
        let draft = self.draft(theirs, &since, &accepted, scratch.path())?;
        let theirs = theirs.filter(|_| draft.may_advance);
        let draft_may_advance = draft.may_advance;
        let left_out = self.name_foreign_changes(&accepted);
        let damage = self.ground.damage.clone().map(Box::new);
        let mut report =
            Report { merged: draft.merged.clone(), left_out, went_back, damage, ..Report::default() };
        report.lost = self.ground.lost;
        report.redacted = self.local.redacted;

        let nothing = Catalog::default();
        let known = theirs.map_or(&nothing, |theirs| &theirs.catalog);
        let looked = self.look_over(theirs)?;
        let mut packer = Packer::begin(&scratch.path().join(PACK), known, &looked.damaged, self.secrets)?;
        let mut next = self.begin(theirs, scratch.path());
        self.take_in(draft, &mut next, &mut packer, &mut report)?;
        report.spoilt = looked.spoilt(&next.sessions);
        let (is_found, searched) = self.search(theirs)?;
        let has_secret = looked.has_secret || is_found;
        let is_rewritten = self.sweep(&mut next, &mut packer, (&mut report, has_secret))?;
        self.let_go(&mut next, &mut report);
        let files = self.settle_files(&accepted, &mut next, &mut packer, &mut report)?;
        let files = if is_rewritten { self.clean_files(files, theirs, &mut packer)? } else { files };
        let ledger = self.ledger(&next, &mut report)?;
        let index = self.index(&next, ledger.as_ref(), (&report, &mut packer));

        let parents = theirs.into_iter().chain(base).map(|known| known.name).collect::<Vec<_>>();
        let used: BTreeSet<&String> = next.sessions.values().map(|entry| &entry.level).collect();
        next.levels.retain(|level, _| used.contains(level) || *level == next.level);
        let upload = Upload {
            known,
            scratch: scratch.path(),
            engine_version: self.engine(theirs),
            now: self.keep.provenance.now,
            origin: self.origin(is_rewritten, looked.until, self.generation(theirs, draft_may_advance)?),
            searched,
            parents: dedup(parents),
            earlier: theirs.filter(|_| !is_rewritten).and_then(|theirs| self.earlier(theirs)),
            most_packs: if is_rewritten { 0 } else { self.store.most_packs() },
            ledger,
            index,
            files,
            gone: self.gone(theirs, &report, &next.sessions),
            sessions: next.sessions,
            level: next.level,
            levels: next.levels,
        };
        let uploaded = upload.store(self.store, packer)?;
        report.statistics = uploaded.statistics;
        let may_advance = theirs.is_some() || self.ground.theirs.is_none();
        Ok(NewSave { uploaded, report, may_advance, is_rewritten })
    }

    /// Returns what the save goes on.
    ///
    /// A head that was put back has nothing that the run did not start from; a damaged one is not built on, though. If
    /// the head is gone altogether, what the run started from may still be there.
    fn theirs(&self, went_back: bool) -> Result<Option<&Saved>, Error> {
        let base = self.local.base.as_deref();
        match (self.ground.theirs.as_deref(), base) {
            (Some(_), base) if went_back && self.ground.damage.is_none() => Ok(base),
            (None, Some(base)) if self.ground.damage.is_none() => {
                let is_whole = crate::lineage::is_whole(self.store, base.name, base.manifest.clone())?;
                Ok(Some(base).filter(|_| is_whole))
            }
            (theirs, _) => Ok(theirs),
        }
    }

    /// Begins with what the head has.
    fn begin<'b>(&self, theirs: Option<&'b Saved>, scratch: &'b Path) -> NextSave<'b> {
        let mut next = NextSave {
            theirs,
            scratch,
            sessions: SessionEntries::new(),
            level: level_of(&self.local.migrations),
            levels: SchemaLevels::new(),
            sources: Vec::new(),
        };
        if let Some(theirs) = theirs {
            next.sessions = theirs.sessions.clone();
            next.level.clone_from(&theirs.manifest.level);
            let levels = theirs.manifest.levels.iter().map(|(key, level)| {
                (key.clone(), (level.migrations.clone(), theirs.catalog.chunks(&level.common)))
            });
            next.levels = levels.collect();
        }
        next
    }

    /// Takes in the sessions of a draft, cleaned.
    fn take_in(
        &self,
        draft: Draft,
        next: &mut NextSave<'_>,
        packer: &mut Packer<'_>,
        report: &mut Report,
    ) -> Result<(), Error> {
        draft.dropped.iter().for_each(|id| drop(next.sessions.remove(id)));
        let Some(database) = draft.database else { return Ok(()) };
        let connection = database::open_copy(&database)?;
        copy::drop_files(&connection)?;
        report.redacted += self.secrets.scrub(&connection)?;
        database::inspect(&connection)?;
        let fail = judge("read the migrations of the database");
        let migrations = migrations(&connection).map_err(fail)?;
        refuse_without_migrations(&connection, &migrations)?;
        next.level = level_of(&migrations);
        let common = CommonRows::read(&connection).map_err(judge("read the rows of no session"))?;
        // All sessions of the level need it, so it lies there twice.
        let chunks =
            packer.add_among_others(&common.to_bytes()?)?.into_iter().map(ObjectName::hash).collect();
        next.levels.insert(next.level.clone(), (migrations, chunks));
        emit(&connection, &draft.sessions, next, packer)?;
        next.sources.push(Source { database, sessions: draft.sessions });
        self.mend_levels(&common, next)
    }

    /// Moves sessions to the new level whose own has the same tables and lacks some of its migrations: no engine could
    /// open a database that is made of them.
    fn mend_levels(&self, common: &CommonRows, next: &mut NextSave<'_>) -> Result<(), Error> {
        let Some(theirs) = next.theirs else { return Ok(()) };
        let ours = next.levels.get(&next.level).map(|(migrations, _)| migrations.clone()).unwrap_or_default();
        for (name, level) in theirs.manifest.levels.iter().filter(|(name, _)| **name != next.level) {
            let lacks_some = level.migrations.is_subset(&ours);
            if lacks_some && theirs.common(self.store, level)?.is_shaped_like(common) {
                let wanting = next.sessions.values_mut().filter(|entry| entry.level == *name);
                wanting.for_each(|entry| entry.level.clone_from(&next.level));
            }
        }
        Ok(())
    }

    /// Lets go of what is old and of what is to be forgotten.
    fn let_go(&self, next: &mut NextSave<'_>, report: &mut Report) {
        let protected = self.keep.ours.protected();
        report.pruned = prunable(&next.sessions, &self.keep.retention, self.keep.provenance.now, &protected);
        let doomed = forget::with_children(&next.sessions, &self.forget);
        next.sessions.retain(|id, _| !report.pruned.contains(id) && !doomed.contains(id));
        report.forgotten = doomed.into_iter().collect();
    }

    /// Returns the engine that can read what is saved: the newer one, where ours was merged into a newer database.
    fn engine<'b>(&'b self, theirs: Option<&'b Saved>) -> &'b str {
        let ours = self.keep.provenance.engine_version.as_str();
        theirs
            .map(|theirs| theirs.manifest.engine.as_str())
            .filter(|found| is_newer(found, ours))
            .unwrap_or(ours)
    }

    /// Returns the newest save that an older engine can read, if ours cannot be read by it.
    ///
    /// What is forgotten may be in it, so nothing leads there any more once something was taken out of all saves.
    fn earlier(&self, theirs: &Saved) -> Option<ObjectName> {
        let is_step = is_newer(&self.keep.provenance.engine_version, &theirs.manifest.engine);
        if is_step { Some(theirs.name) } else { theirs.manifest.earlier }
    }

    /// Returns the number of this save, higher than those of all that it contains. One that begins anew, or stands in for
    /// damage, does not contain what lies there. One that no head may point at comes before all others.
    fn generation(&self, theirs: Option<&Saved>, may_advance: bool) -> Result<u64, Error> {
        if !may_advance {
            return Ok(0);
        }
        let base = self.local.base.as_deref();
        let contained = theirs.into_iter().chain(base).filter_map(|save| save.manifest.generation()).max();
        let others = match (theirs, contained) {
            (Some(_), Some(_)) if self.ground.damage.is_none() => 0,
            _ => newest::highest_number(self.store)?,
        };
        Ok(contained.unwrap_or_default().max(others).saturating_add(1))
    }

    /// Returns who saves, and whether what was saved before is nothing to go back to.
    fn origin(
        &self,
        is_rewritten: bool,
        until: Option<Bookmark>,
        generation: u64,
    ) -> BTreeMap<String, String> {
        let mut origin = self.keep.origin.clone();
        origin.insert(GENERATION.to_owned(), generation.to_string());
        origin.extend(until.map(|Bookmark(pack, chunk)| (LOOKED_OVER.to_owned(), format!("{pack} {chunk}"))));
        if is_rewritten {
            origin.insert(
                REWRITTEN.to_owned(),
                "something was taken out of all that was saved before".to_owned(),
            );
        }
        origin
    }

    /// Returns the foreign changes that are worth telling: what was not given is no change.
    fn name_foreign_changes(&self, accepted: &Accepted) -> Vec<String> {
        let is_told = |session: &&String| self.local.fingerprints.contains_key(*session);
        accepted.left_out.iter().filter(is_told).cloned().collect()
    }

    /// Returns the sessions that are remembered as removed.
    fn gone(
        &self,
        theirs: Option<&Saved>,
        report: &Report,
        sessions: &SessionEntries,
    ) -> BTreeMap<String, RemovedSession> {
        let now = self.keep.provenance.now;
        let mut gone = theirs.map(|theirs| theirs.manifest.gone.clone()).unwrap_or_default();
        gone.extend(
            report.pruned.iter().map(|id| (id.clone(), RemovedSession { at: now, why: Removal::Pruned })),
        );
        gone.extend(
            report
                .forgotten
                .iter()
                .map(|id| (id.clone(), RemovedSession { at: now, why: Removal::Forgotten })),
        );
        gone.retain(|id, gone| {
            let is_recent = now.duration_since(gone.at) < MEMORIAL;
            !sessions.contains_key(id) && (is_recent || gone.why == Removal::Forgotten)
        });
        gone
    }
}

/// Packs the rows of sessions and describes them.
fn emit(
    connection: &Connection,
    sessions: &BTreeSet<String>,
    next: &mut NextSave<'_>,
    packer: &mut Packer<'_>,
) -> Result<(), Error> {
    let fail = judge("read the rows of a session");
    let notes = fingerprints(connection, "main").map_err(&fail)?;
    let reader = RowReader::prepare(connection).map_err(&fail)?;
    for id in sessions {
        let Some(note) = notes.get(id) else { continue };
        let rows = reader.session(id).map_err(&fail)?;
        let bytes = rows.to_bytes()?;
        let mut entry = SessionEntry::describe(&rows, note, &next.level);
        entry.rows = packer.add(&bytes)?;
        entry.bytes = bytes.len() as u64;
        entry.files = next.sessions.remove(id).map(|former| former.files).unwrap_or_default();
        next.sessions.insert(id.clone(), entry);
    }
    Ok(())
}

/// Returns the save that the run started from, if it was looked at already.
fn known(keep: &Keep<'_>, parent: &Head) -> Option<Arc<Saved>> {
    keep.known.as_ref().filter(|known| parent.manifest() == Ok(known.name)).map(Arc::clone)
}

fn dedup(mut names: Vec<ObjectName>) -> Vec<ObjectName> {
    names.dedup();
    names
}
