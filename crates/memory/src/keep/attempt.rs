//! One attempt to save: our sessions on top of the head, as it is at this moment.

mod beside;
mod ground;

pub(super) use ground::Ground;
use ground::{Known, Since};

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use jiff::SignedDuration;
use tempfile::TempDir;

use super::{Keep, Kept, Report};
use crate::{
    background::Background,
    copy,
    database::{self, judge},
    error::Error,
    fingerprint::{Fingerprints, fingerprints},
    forget,
    ledger::Visibility,
    merge::{self, Merged, Sides, Target, Verdict, rows},
    ownership::Accepted,
    prune::prune,
    recall::is_newer,
    schema::SessionTables,
    secrets::Secrets,
    snapshot::{
        catalog::FileChunks,
        claims::Claims,
        files::Files,
        manifest::{ENGINE_DATABASE, Gone, REWRITTEN, Removal},
        restore::restore_database,
    },
    store::{ObjectName, Store},
    upload::{Upload, Uploaded, migrations},
    wipe::wipe,
};

/// So long it is remembered that a session was pruned.
const MEMORIAL: SignedDuration = SignedDuration::from_hours(90 * 24);

/// What this machine has, copied once.
pub(super) struct Local<'scope> {
    scratch: TempDir,
    database: PathBuf,
    /// False as soon as a secret was taken out: then the fingerprints do not hold any more.
    is_stamped: Cell<bool>,
    ledger: Option<PathBuf>,
    files: &'scope Files,
    /// The files in chunks.
    cut: Background<'scope, Vec<FileChunks>>,
    fingerprints: Fingerprints,
    migrations: BTreeSet<String>,
    base: Option<Known>,
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
        let fingerprints = fingerprints(&connection, "main").map_err(judge("stamp the sessions"))?;
        let migrations = migrations(&connection).map_err(judge("read the migrations of the database"))?;
        let mut ledger = None;
        if let Some(path) = keep.ledger.filter(|path| path.exists()) {
            copy::take(path, ledger.insert(scratch.path().join("our-ledger.db")))?;
        }
        let base = match &keep.provenance.parent {
            // A parent that was collected or damaged since is like none: nothing is then known to be deleted.
            Some(parent) => match Known::fetch(store, parent) {
                Err(Error::Flawed(_)) => None,
                known => Some(known?),
            },
            None => None,
        };
        Ok(Self {
            scratch,
            database: copy,
            is_stamped: Cell::new(true),
            ledger,
            files,
            cut,
            fingerprints,
            migrations,
            base,
        })
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
pub(super) struct Made {
    pub(super) uploaded: Uploaded,
    pub(super) report: Report,
    /// False if the head must not point at it.
    pub(super) may_advance: bool,
    /// Tells whether something was taken out of everything that was saved before.
    pub(super) is_rewritten: bool,
}

impl Made {
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

/// A database that is about to be saved.
struct Draft {
    database: PathBuf,
    merged: Merged,
    may_advance: bool,
}

impl Attempt<'_, '_> {
    pub(super) fn make(&self) -> Result<Made, Error> {
        let base = self.local.base.as_ref();
        let since = Since::between(self.store, base, self.ground.theirs.as_ref())?;
        let went_back = matches!(since, Since::Back);
        // A head that was put back has nothing that the run did not start from. A damaged one is not built on, though.
        let theirs =
            if went_back && self.ground.damage.is_none() { base } else { self.ground.theirs.as_ref() };
        let none = Fingerprints::new();
        let before = base.map_or(&none, |base| &base.manifest.sessions);
        let accepted = self.keep.ours.accept(before, &self.local.fingerprints);
        let scratch = tempfile::tempdir_in(self.local.scratch.path())?;
        let draft = self.draft(theirs, &since, &accepted, scratch.path())?;
        let left_out = self.told(&accepted);
        let damage = self.ground.damage.clone().map(Box::new);
        let mut report = Report { merged: draft.merged, left_out, went_back, damage, ..Report::default() };
        let adoption = if theirs.is_some() { copy::Adoption::Known } else { copy::Adoption::First };
        let (fingerprints, free) = self.finish(&draft.database, adoption, &mut report)?;
        wipe(&draft.database)?;
        let (ledger, borrowed) = self.ledger(theirs, scratch.path())?;
        if let Some(ledger) = &ledger {
            report.redacted += self.secrets.scrub(&database::open_copy(ledger)?)?;
            wipe(ledger)?;
        }
        let index = self.index(theirs, (&draft.database, ledger.as_deref()), scratch.path(), &report);
        let is_rewritten = self.is_rewriting(theirs, &report)?;
        let parents = theirs.into_iter().chain(base).map(|known| known.name).collect::<Vec<_>>();
        let upload = Upload {
            engine_version: self.engine(theirs),
            now: self.keep.provenance.now,
            origin: self.origin(is_rewritten),
            parents: dedup(parents),
            earlier: theirs.filter(|_| !is_rewritten).and_then(|theirs| self.earlier(theirs)),
            most_packs: if is_rewritten { 0 } else { self.store.most_packs() },
            database: draft.database,
            ledger,
            index,
            borrowed,
            files: self.local.files,
            cut: self.local.cut.get()?,
            claims: Claims {
                is_ours: &|place| self.keep.ours.owns_file(&accepted.own, place),
                is_gone: &|place| {
                    report.pruned.iter().chain(&report.forgotten).any(|session| place.belongs_to(session))
                },
                base: base.map(Known::files).unwrap_or_default(),
                theirs: theirs.map(Known::files).unwrap_or_default(),
            },
            gone: self.gone(theirs, &report, &fingerprints),
            fingerprints,
            secrets: self.secrets,
            free,
        };
        let known = theirs.map(|theirs| theirs.catalog.clone()).unwrap_or_default();
        let uploaded = upload.store(self.store, known, scratch.path())?;
        report.left_out.extend(self.told_files(&uploaded)?);
        report.statistics = uploaded.statistics;
        Ok(Made { uploaded, report, may_advance: draft.may_advance, is_rewritten })
    }

    /// Returns the engine that can read what is saved: the newer one, where ours was merged into a newer database.
    fn engine<'b>(&'b self, theirs: Option<&'b Known>) -> &'b str {
        let ours = self.keep.provenance.engine_version.as_str();
        theirs
            .map(|theirs| theirs.manifest.engine.as_str())
            .filter(|found| is_newer(found, ours))
            .unwrap_or(ours)
    }

    /// Returns the newest save that an older engine can read, if ours cannot be read by it.
    ///
    /// What is forgotten may be in it, so nothing leads there any more once something was taken out of all saves.
    fn earlier(&self, theirs: &Known) -> Option<ObjectName> {
        let is_step = is_newer(&self.keep.provenance.engine_version, &theirs.manifest.engine);
        if is_step { Some(theirs.name) } else { theirs.manifest.earlier }
    }

    /// Returns who saves, and whether what was saved before is nothing to go back to.
    fn origin(&self, is_rewritten: bool) -> BTreeMap<String, String> {
        let mut origin = self.keep.origin.clone();
        if is_rewritten {
            origin.insert(
                REWRITTEN.to_owned(),
                "something was taken out of all that was saved before".to_owned(),
            );
        }
        origin
    }

    /// Tells whether something is taken out of everything that was saved before.
    ///
    /// Then no pack is taken over: what is forgotten is in them, or a value that was not known to be secret by then.
    fn is_rewriting(&self, theirs: Option<&Known>, report: &Report) -> Result<bool, Error> {
        match theirs {
            Some(theirs) if self.forget.is_empty() && report.redacted > 0 => {
                self.secrets.stand_in(self.store, &theirs.manifest)
            }
            Some(_) | None => Ok(!self.forget.is_empty()),
        }
    }

    /// Returns the foreign changes that are worth telling: what was hidden is no change.
    fn told(&self, accepted: &Accepted) -> Vec<String> {
        let is_told = |session: &&String| match self.keep.audience {
            Visibility::Private => true,
            Visibility::Public => self.local.fingerprints.contains_key(*session),
        };
        accepted.left_out.iter().filter(is_told).cloned().collect()
    }

    fn told_files(&self, uploaded: &Uploaded) -> Result<Vec<String>, Error> {
        let mut told = Vec::new();
        for place in &uploaded.left_out {
            let is_told = match self.keep.audience {
                Visibility::Private => true,
                Visibility::Public => self.local.files.read(place)?.is_some(),
            };
            told.extend(is_told.then(|| place.to_string()));
        }
        Ok(told)
    }

    /// Returns a database with our sessions and theirs.
    ///
    /// If nobody saved since we started, that is our own copy, with all its pages where they were.
    fn draft(
        &self,
        theirs: Option<&Known>,
        since: &Since,
        accepted: &Accepted,
        scratch: &Path,
    ) -> Result<Draft, Error> {
        let base = self.local.base.as_ref();
        let is_unmoved = matches!(since, Since::Nothing | Since::Back);
        let is_level = base.is_none_or(|base| base.manifest.migrations.is_subset(&self.local.migrations));
        let spoiled = |theirs: &Known| {
            accepted.left_out.iter().any(|session| theirs.manifest.sessions.contains_key(session))
        };
        match theirs {
            Some(theirs) if !(is_unmoved && is_level) || spoiled(theirs) => {
                self.merge(theirs, since, accepted, scratch)
            }
            Some(_) | None => {
                let connection = database::open_copy(&self.local.database)?;
                let fail = judge("leave out foreign sessions");
                let group = SessionTables::of(&connection, "main").map_err(&fail)?;
                rows::remove_all(&connection, &group, &accepted.left_out).map_err(fail)?;
                let database = self.local.database.clone();
                Ok(Draft { database, merged: Merged::default(), may_advance: true })
            }
        }
    }

    fn merge(
        &self,
        theirs: &Known,
        since: &Since,
        accepted: &Accepted,
        scratch: &Path,
    ) -> Result<Draft, Error> {
        let fail = judge("merge the sessions");
        let base = if matches!(since, Since::Back) { Some(theirs) } else { self.local.base.as_ref() };
        let sides = Sides {
            base: base.map(|base| &base.manifest.sessions),
            ours: &accepted.fingerprints,
            theirs: &theirs.manifest.sessions,
            gone: &theirs.manifest.gone,
        };
        let mut verdicts = sides.verdicts();
        for (id, verdict) in &mut verdicts {
            *verdict = since.correct(&accepted.fingerprints, id, *verdict);
        }
        verdicts.extend(accepted.left_out.iter().map(|session| (session.clone(), Verdict::Theirs)));
        restore_database(self.store, &theirs.manifest, scratch, ENGINE_DATABASE)?;
        let restored = scratch.join(ENGINE_DATABASE);
        let ours = scratch.join("ours.db");
        let (target, database, other) = if theirs.manifest.migrations.is_superset(&self.local.migrations) {
            (Target::Theirs, &restored, &self.local.database)
        } else {
            fs_err::copy(&self.local.database, &ours)?;
            (Target::Ours, &ours, &restored)
        };
        database::remove_orphans(&database::open_copy(&restored)?)?;
        let connection = database::open_copy(database)?;
        merge::attach(&connection, other, "other")?;
        let is_level =
            target == Target::Theirs || self.local.migrations.is_superset(&theirs.manifest.migrations);
        let group = SessionTables::of(&connection, "main").map_err(&fail)?;
        if !is_level || !rows::is_enough(&connection, &group).map_err(fail)? {
            let database = self.local.database.clone();
            return Ok(Draft { database, merged: Merged::default(), may_advance: false });
        }
        let base = base.map(|base| &base.manifest);
        let has_base = merge::attach_base(&connection, self.store, base, &verdicts, scratch)?;
        let merged = merge::at_once(&connection, || merge::apply(&connection, &verdicts, target, has_base))?;
        Ok(Draft { database: database.clone(), merged, may_advance: true })
    }

    /// Takes out secrets and old sessions, gives back free pages and fingerprints what is left.
    fn finish(
        &self,
        database: &Path,
        adoption: copy::Adoption,
        report: &mut Report,
    ) -> Result<(Fingerprints, u64), Error> {
        let connection = database::open_copy(database)?;
        let files = copy::drop_files(&connection)?;
        report.redacted = self.secrets.scrub(&connection)?;
        let protected = self.keep.ours.protected();
        report.pruned = prune(&connection, &self.keep.retention, self.keep.provenance.now, &protected)?;
        report.forgotten = forget::in_database(&connection, &self.forget)?;
        let free = copy::shrink(&connection, adoption)?;
        if report.redacted > 0 || files > 0 {
            self.local.is_stamped.set(false);
        }
        if *database == self.local.database && self.local.is_stamped.get() {
            let mut fingerprints = self.local.fingerprints.clone();
            fingerprints.retain(|id, _| {
                !report.left_out.contains(id) && !report.pruned.contains(id) && !report.forgotten.contains(id)
            });
            return Ok((fingerprints, free));
        }
        Ok((fingerprints(&connection, "main").map_err(judge("stamp the sessions"))?, free))
    }

    /// Returns the sessions that are remembered as removed.
    fn gone(
        &self,
        theirs: Option<&Known>,
        report: &Report,
        fingerprints: &Fingerprints,
    ) -> BTreeMap<String, Gone> {
        let now = self.keep.provenance.now;
        let mut gone = theirs.map(|theirs| theirs.manifest.gone.clone()).unwrap_or_default();
        gone.extend(report.pruned.iter().map(|id| (id.clone(), Gone { at: now, why: Removal::Pruned })));
        gone.extend(
            report.forgotten.iter().map(|id| (id.clone(), Gone { at: now, why: Removal::Forgotten })),
        );
        gone.retain(|id, gone| {
            let is_recent = now.duration_since(gone.at) < MEMORIAL;
            !fingerprints.contains_key(id) && (is_recent || gone.why == Removal::Forgotten)
        });
        gone
    }
}

fn dedup(mut names: Vec<ObjectName>) -> Vec<ObjectName> {
    names.dedup();
    names
}
