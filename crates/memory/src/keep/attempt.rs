//! One attempt to save: our sessions on top of the head, as it is at this moment.

mod beside;

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use jiff::SignedDuration;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Keep, Report};
use crate::{
    boundary::Accepted,
    copy,
    database::{self, judge},
    error::Error,
    group::Group,
    ledger::Visibility,
    meanwhile::Meanwhile,
    merge::{self, Merged, Sides, Target, Verdict, rows},
    prune::prune,
    recall::is_newer,
    secrets::Secrets,
    snapshot::{
        catalog::{Catalog, FileChunks},
        claims::Claims,
        files::Files,
        manifest::{ENGINE_DATABASE, Gone, Manifest, Removal},
        restore::restore_database,
    },
    stamp::{Stamps, stamps},
    store::{Head, ObjectName, Store},
    upload::{Upload, Uploaded, migrations},
    wipe::wipe,
};

/// So long it is remembered that a session was pruned.
const MEMORIAL: SignedDuration = SignedDuration::from_hours(90 * 24);

/// What this machine has, copied once.
pub(super) struct Local<'scope> {
    scratch: TempDir,
    database: PathBuf,
    /// False as soon as a secret was taken out: then the stamps do not hold any more.
    is_stamped: Cell<bool>,
    ledger: Option<PathBuf>,
    files: &'scope Files,
    /// The files in chunks.
    cut: Meanwhile<'scope, Vec<FileChunks>>,
    stamps: Stamps,
    migrations: BTreeSet<String>,
    base: Option<Known>,
}

/// A save in the store, as far as it was looked at.
struct Known {
    name: ObjectName,
    manifest: Manifest,
    catalog: Catalog,
}

impl Known {
    fn fetch(store: &Store, head: &Head) -> Result<Self, Error> {
        let name = head.manifest()?;
        let manifest = Manifest::fetch(store, name)?;
        let catalog = Catalog::fetch(store, &manifest)?;
        Ok(Self { name, manifest, catalog })
    }

    fn files(&self) -> Vec<FileChunks> {
        self.catalog.files(&self.manifest)
    }
}

impl<'scope> Local<'scope> {
    pub(super) fn take(
        keep: &Keep<'_>,
        store: &Store,
        database: &Path,
        files: &'scope Files,
        cut: Meanwhile<'scope, Vec<FileChunks>>,
    ) -> Result<Self, Error> {
        let scratch = tempfile::tempdir()?;
        let copy = scratch.path().join("ours.db");
        copy::take(database, &copy)?;
        let connection = database::open_copy(&copy)?;
        copy::empty(&connection)?;
        let stamps = stamps(&connection, "main").map_err(judge("stamp the sessions"))?;
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
            stamps,
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
    pub(super) head: Option<&'a Head>,
}

/// What an attempt put into the store.
pub(super) struct Made {
    pub(super) uploaded: Uploaded,
    pub(super) report: Report,
    /// False if the head must not point at it.
    pub(super) may_advance: bool,
}

/// A database that is about to be saved.
struct Draft {
    database: PathBuf,
    merged: Merged,
    may_advance: bool,
}

impl Attempt<'_, '_> {
    pub(super) fn make(&self) -> Result<Made, Error> {
        let theirs = self.theirs()?;
        let theirs = theirs.as_ref();
        let base = self.local.base.as_ref();
        let none = Stamps::new();
        let before = base.map_or(&none, |base| &base.manifest.sessions);
        let accepted = self.keep.ours.accept(before, &self.local.stamps);
        let scratch = tempfile::tempdir_in(self.local.scratch.path())?;
        let draft = self.draft(theirs, &accepted, scratch.path())?;
        let left_out = self.told(&accepted);
        let mut report = Report { merged: draft.merged, left_out, ..Report::default() };
        let adoption = if theirs.is_some() { copy::Adoption::Known } else { copy::Adoption::First };
        let (stamps, free) = self.finish(&draft.database, adoption, &mut report)?;
        wipe(&draft.database)?;
        let (ledger, borrowed) = self.ledger(theirs, scratch.path())?;
        if let Some(ledger) = &ledger {
            report.redacted += self.secrets.scrub(&database::open_copy(ledger)?)?;
            wipe(ledger)?;
        }
        let index = self.index(theirs, &draft.database, scratch.path(), &report);
        let parents = theirs.into_iter().chain(base).map(|known| known.name).collect::<Vec<_>>();
        let upload = Upload {
            engine_version: self.engine(theirs),
            now: self.keep.provenance.now,
            origin: &self.keep.origin,
            parents: dedup(parents),
            earlier: theirs.and_then(|theirs| self.earlier(theirs)),
            most_packs: self.most_packs(),
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
            gone: self.gone(theirs, &report, &stamps),
            stamps,
            secrets: self.secrets,
            free,
        };
        let known = theirs.map(|theirs| theirs.catalog.clone()).unwrap_or_default();
        let uploaded = upload.store(self.store, known, scratch.path())?;
        report.left_out.extend(self.told_files(&uploaded)?);
        report.statistics = uploaded.statistics;
        Ok(Made { uploaded, report, may_advance: draft.may_advance })
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
    /// What is forgotten may be in it, so nothing leads there any more once something was.
    fn earlier(&self, theirs: &Known) -> Option<ObjectName> {
        if !self.keep.forget.is_empty() {
            return None;
        }
        let is_step = is_newer(&self.keep.provenance.engine_version, &theirs.manifest.engine);
        if is_step { Some(theirs.name) } else { theirs.manifest.earlier }
    }

    /// Returns how many packs of the head may be taken over: none that holds what is to be forgotten.
    fn most_packs(&self) -> usize {
        if self.keep.forget.is_empty() { self.store.most_packs() } else { 0 }
    }

    /// Returns the foreign changes that are worth telling: what was hidden is no change.
    fn told(&self, accepted: &Accepted) -> Vec<String> {
        let is_told = |session: &&String| match self.keep.audience {
            Visibility::Private => true,
            Visibility::Public => self.local.stamps.contains_key(*session),
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

    /// Looks at the head; one that cannot be read is set aside and counts as none.
    fn theirs(&self) -> Result<Option<Known>, Error> {
        let Some(head) = self.head else { return Ok(None) };
        match Known::fetch(self.store, head) {
            Ok(known) => Ok(Some(known)),
            Err(Error::Flawed(_)) => {
                self.store.set_aside(head)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns a database with our sessions and theirs.
    ///
    /// If nobody saved since we started, that is our own copy, with all its pages where they were.
    fn draft(&self, theirs: Option<&Known>, accepted: &Accepted, scratch: &Path) -> Result<Draft, Error> {
        let base = self.local.base.as_ref();
        let is_unmoved = theirs.map(|theirs| theirs.name) == base.map(|base| base.name);
        let is_level = base.is_none_or(|base| base.manifest.migrations.is_subset(&self.local.migrations));
        let spoiled = |theirs: &Known| {
            accepted.left_out.iter().any(|session| theirs.manifest.sessions.contains_key(session))
        };
        match theirs {
            Some(theirs) if !(is_unmoved && is_level) || spoiled(theirs) => {
                self.merge(theirs, accepted, scratch)
            }
            Some(_) | None => {
                let connection = database::open_copy(&self.local.database)?;
                let fail = judge("leave out foreign sessions");
                let group = Group::of(&connection, "main").map_err(&fail)?;
                rows::remove_all(&connection, &group, &accepted.left_out).map_err(fail)?;
                let database = self.local.database.clone();
                Ok(Draft { database, merged: Merged::default(), may_advance: true })
            }
        }
    }

    fn merge(&self, theirs: &Known, accepted: &Accepted, scratch: &Path) -> Result<Draft, Error> {
        let fail = judge("merge the sessions");
        let base = self.local.base.as_ref();
        let sides = Sides {
            base: base.map(|base| &base.manifest.sessions),
            ours: &accepted.stamps,
            theirs: &theirs.manifest.sessions,
            gone: &theirs.manifest.gone,
        };
        let mut verdicts = sides.verdicts();
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
        let connection = database::open_copy(database)?;
        merge::attach(&connection, other, "other")?;
        let is_level =
            target == Target::Theirs || self.local.migrations.is_superset(&theirs.manifest.migrations);
        let group = Group::of(&connection, "main").map_err(&fail)?;
        if !is_level || !rows::is_enough(&connection, &group).map_err(fail)? {
            let database = self.local.database.clone();
            return Ok(Draft { database, merged: Merged::default(), may_advance: false });
        }
        let base = self.local.base.as_ref().map(|base| &base.manifest);
        let has_base = merge::attach_base(&connection, self.store, base, &verdicts, scratch)?;
        let merged = merge::at_once(&connection, || merge::apply(&connection, &verdicts, target, has_base))?;
        Ok(Draft { database: database.clone(), merged, may_advance: true })
    }

    /// Takes out secrets and old sessions, gives back free pages and stamps what is left.
    fn finish(
        &self,
        database: &Path,
        adoption: copy::Adoption,
        report: &mut Report,
    ) -> Result<(Stamps, u64), Error> {
        let connection = database::open_copy(database)?;
        report.redacted = self.secrets.scrub(&connection)?;
        let protected = self.keep.ours.protected();
        report.pruned = prune(&connection, &self.keep.retention, self.keep.provenance.now, &protected)?;
        report.forgotten = forget(&connection, &self.keep.forget)?;
        let free = copy::shrink(&connection, adoption)?;
        if report.redacted > 0 {
            self.local.is_stamped.set(false);
        }
        if *database == self.local.database && self.local.is_stamped.get() {
            let mut stamps = self.local.stamps.clone();
            stamps.retain(|id, _| {
                !report.left_out.contains(id) && !report.pruned.contains(id) && !report.forgotten.contains(id)
            });
            return Ok((stamps, free));
        }
        Ok((stamps(&connection, "main").map_err(judge("stamp the sessions"))?, free))
    }

    /// Returns the sessions that are remembered as removed.
    fn gone(&self, theirs: Option<&Known>, report: &Report, stamps: &Stamps) -> BTreeMap<String, Gone> {
        let now = self.keep.provenance.now;
        let mut gone = theirs.map(|theirs| theirs.manifest.gone.clone()).unwrap_or_default();
        gone.extend(report.pruned.iter().map(|id| (id.clone(), Gone { at: now, why: Removal::Pruned })));
        gone.extend(
            report.forgotten.iter().map(|id| (id.clone(), Gone { at: now, why: Removal::Forgotten })),
        );
        gone.retain(|id, gone| {
            let is_recent = now.duration_since(gone.at) < MEMORIAL;
            !stamps.contains_key(id) && (is_recent || gone.why == Removal::Forgotten)
        });
        gone
    }
}

/// Removes sessions with their children.
fn forget(connection: &Connection, sessions: &BTreeSet<String>) -> Result<Vec<String>, Error> {
    let fail = judge("forget sessions");
    let mut doomed: Vec<String> = Vec::new();
    let mut next: Vec<String> = sessions.iter().cloned().collect();
    while let Some(id) = next.pop() {
        if doomed.contains(&id) {
            continue;
        }
        let mut statement =
            connection.prepare("SELECT id FROM session WHERE parent_id = ?1").map_err(&fail)?;
        let children = statement.query_map([&id], |row| row.get(0)).map_err(&fail)?;
        next.extend(children.collect::<rusqlite::Result<Vec<String>>>().map_err(&fail)?);
        doomed.push(id);
    }
    if !doomed.is_empty() {
        let group = Group::of(connection, "main").map_err(&fail)?;
        rows::remove_all(connection, &group, &doomed).map_err(fail)?;
    }
    Ok(doomed)
}

fn dedup(mut names: Vec<ObjectName>) -> Vec<ObjectName> {
    names.dedup();
    names
}
