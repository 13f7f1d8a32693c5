//! What is remembered, for one engine: brought before it starts, asked while it works, kept when it is done.

mod apart;
mod kept;
mod look;
mod record;
mod row;
mod session_archive;

pub use kept::{describe as told_of_save, on_page, trouble as save_trouble};
pub use look::{Look, look_for_sessions};
pub(crate) use record::Record;
pub use row::subject;
pub(crate) use row::{FinishedTurn, RowOwner};
pub(crate) use session_archive::SessionArchive;
use session_archive::{Indexes, Reader};

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use fro_boundary::{Enclosure, Halt, StillRunning};
use fro_core::{
    Fault, Permit,
    continuity::{self, Continuity, Fresh, Reminder, Topic},
    remembered::Audience,
    say::{
        subject_status::SubjectStatus,
        summary::{counted, size},
    },
};
use fro_memory::{
    Archive, EngineStart, ExcerptKind, Keep, Keeping, Kept, Ledger, Provenance, Recall, RecallTarget,
    Recollection, SessionSelection, Stores,
};
use fro_opencode::Version;
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::{
    job::{Origin, Scope},
    process::Process,
    state::State,
    step::{Step, Tell},
};

/// The memory of one engine.
pub(crate) struct Memory {
    place: Place,
    reader: Reader,
    /// Which sessions there are, and where the engine's data lies.
    record: Arc<Record>,
    /// Removes the private folder with the engine, if that ends by itself.
    folder: Option<TempDir>,
    recall: Option<Recall>,
    /// What the engine was not given.
    rest: Option<Archive>,
    flaw: Option<String>,
    /// What was said when it was brought, and is not said again when it is kept.
    foretold: Vec<String>,
    /// The engine's version that was asked for. Nobody knows the newest before it is there.
    wanted: Option<String>,
}

/// In which session a subject is spoken about.
pub(crate) enum SessionChoice {
    /// In the one in which it was last, if that may be.
    AsBefore,
    /// In a new one.
    New(Fresh),
    /// In this one, if that may be.
    This(String),
}

/// How the names of private folders begin.
pub(crate) const PRIVATE: &str = "fro-bot-private-";

/// Where it is kept.
enum Place {
    /// With what is to be told of that, if it is not what somebody wanted.
    Nowhere(Vec<String>),
    Kept(Stores),
    /// A thread had the stores and did not bring them back.
    Lost,
}

impl Memory {
    /// Names the places; nothing is brought yet.
    pub(crate) fn open(scope: Scope<'_>, engine_data: PathBuf) -> Result<Self, Fault> {
        let folder = tempfile::Builder::new().prefix(PRIVATE).tempdir_in(&scope.settings().scratch);
        let folder =
            folder.map_err(|error| Fault::in_temporary_folder("cannot make a private folder", &error))?;
        let record = Record::new(engine_data, folder.path().to_owned(), scope.job.origin.run.clone());
        let reader = Reader { audience: scope.job.audience(), here: scope.job.origin.surface.clone() };
        Ok(Self { folder: Some(folder), ..Self::at(scope.process, reader, record) })
    }

    /// Takes up the memory of a run that was killed.
    pub(crate) fn reopen(process: &Process, audience: Audience, private: &Path, state: &State) -> Self {
        // Nothing is asked of it any more.
        let reader = Reader { audience, here: String::new() };
        Self::at(process, reader, Record::of_killed(private, state))
    }

    fn at(process: &Process, reader: Reader, record: Record) -> Self {
        let place = match &process.settings.memory {
            nowhere if nowhere.is_empty() => Place::Nowhere(Stores::open(nowhere).unusable().to_vec()),
            kept => Place::Kept(Stores::open(kept)),
        };
        let wanted = match &process.settings.engine.version {
            Version::Pinned => Some(fro_opencode::VERSION.to_owned()),
            Version::Exactly(version) => Some(version.clone()),
            Version::Latest => None,
        };
        let (folder, recall, rest, flaw, foretold) = (None, None, None, None, Vec::new());
        Self { place, reader, record: Arc::new(record), folder, recall, rest, flaw, foretold, wanted }
    }

    /// Notes the version of the engine that will write the memory.
    pub(crate) fn written_by(&self, version: &str) {
        self.record.written_by(version);
    }

    /// Returns the engine that writes the memory; before it is there, the one that was asked for.
    fn engine_version(&self) -> Option<String> {
        self.record.engine_version().or_else(|| self.wanted.clone())
    }

    /// Hands over the private folder, which goes when that is dropped.
    pub(crate) fn into_folder(self) -> Option<TempDir> {
        self.folder
    }

    /// Returns the folder that the agent cannot reach.
    pub(crate) fn private(&self) -> &Path {
        self.record.private()
    }

    /// Returns where sessions are written down.
    pub(crate) fn record(&self) -> Arc<Record> {
        Arc::clone(&self.record)
    }

    /// Puts the newest memory in place for an engine of this version: the session about this subject, and what it takes
    /// to find and read the others.
    pub(crate) async fn bring(&mut self, about: String) -> Result<Recollection, String> {
        let mut stores = match std::mem::replace(&mut self.place, Place::Lost) {
            Place::Kept(stores) => stores,
            Place::Nowhere(why) => {
                self.place = Place::Nowhere(Vec::new());
                return Ok(Recollection::nothing(why));
            }
            Place::Lost => return Ok(Recollection::nothing(Vec::new())),
        };
        let (engine_data, audience) = (self.record.engine_data().to_owned(), self.reader.audience);
        let (ledger, index) = (self.record.ledger_file(), self.saved_index());
        let wanted = self.engine_version();
        let brought = blocking(move || {
            let to = RecallTarget {
                engine_data: &engine_data,
                ledger: Some(&ledger),
                index: Some(&index),
                engine_version: wanted.as_deref(),
                audience,
                given: SessionSelection::About(&about),
            };
            let recollection = stores.recall(to, Timestamp::now());
            Ok((stores, recollection))
        });
        let (stores, recollection) = brought.await.inspect_err(|why| self.flaw = Some(why.clone()))?;
        self.place = Place::Kept(stores);
        self.record.starts_from(recollection.recall.head().cloned());
        if recollection.recall == Recall::Cold && !recollection.unread.is_empty() {
            self.flaw = Some("a store could not be asked".to_owned());
        }
        self.recall = Some(recollection.recall.clone());
        self.foretold.clone_from(&recollection.warnings);
        self.rest.clone_from(&recollection.archive);
        Ok(recollection)
    }

    /// Decides in which session a subject is spoken about and what is recalled for it, and makes the memory at home in the
    /// clone.
    pub(crate) async fn remember(
        &self,
        permit: &Permit,
        (topic, place): (Topic, SessionChoice),
        worktree: PathBuf,
    ) -> Result<Reminder, String> {
        let (earlier, engine_data) = (self.archive(), self.record.engine_data().to_owned());
        let rest = self.rest.clone();
        let (about, kind, trust) = (subject(permit), permit.subject(), permit.trust());
        blocking(move || {
            let last = match &place {
                SessionChoice::This(session) => earlier.last_in(session)?,
                SessionChoice::AsBefore | SessionChoice::New(_) => earlier.last(&about)?,
            };
            let continuity = match place {
                SessionChoice::New(why) => Continuity::Fresh(why),
                SessionChoice::AsBefore | SessionChoice::This(_) => continuity::decide(kind, trust, &last),
            };
            let continuing = continuity.session();
            // The engine has the session of its own subject; that of another one is brought now.
            if let (Some(rest), Some(session)) = (&rest, continuing) {
                rest.give(&engine_data, session)?;
            }
            let here = EngineStart { worktree: &worktree, now: Timestamp::now(), continuing };
            fro_memory::relocate(&engine_data, here)?;
            let before = earlier.ending(&last, &continuity)?;
            let is_told = continuing.is_some() || before.is_some();
            let besides = match &last {
                continuity::LastSession::Here { session, .. } if is_told => Some(session.id.as_str()),
                continuity::LastSession::Here { .. }
                | continuity::LastSession::None
                | continuity::LastSession::Gone
                | continuity::LastSession::Private => None,
            };
            let kind_of_excerpt =
                if continuity.quotes_any_place() { ExcerptKind::Place } else { ExcerptKind::Answer };
            let elsewhere = earlier.elsewhere(&topic, besides, kind_of_excerpt)?;
            Ok(Reminder { continuity, before, elsewhere })
        })
        .await
    }

    /// Takes the recalled database away from an engine that does not start with it; nothing if there is none.
    pub(crate) fn take_away(&self) -> Option<PathBuf> {
        let into = self.private().join("refused");
        self.is_warm()
            .then(|| fro_memory::take_away(self.record.engine_data(), &into).ok().flatten())
            .flatten()
    }

    /// Gives it back.
    pub(crate) fn give_back(&self, taken: &Path) {
        if let Err(error) = fro_memory::give_back(taken, self.record.engine_data()) {
            tracing::warn!("the database was not given back: {}", error.story());
        }
    }

    /// Puts its rows into the database that the engine has made since.
    pub(crate) fn transplant(&self, taken: &Path, _still: &Halt) -> Result<(), String> {
        let brought = fro_memory::transplant(taken, self.record.engine_data());
        brought.map(drop).map_err(|error| error.story())
    }

    /// Returns what is known of the subject.
    pub(crate) async fn subject_status(&self, permit: &Permit) -> Result<SubjectStatus, String> {
        let (earlier, about) = (self.archive(), subject(permit));
        let memory = self.describe();
        blocking(move || earlier.subject_status(&about, memory)).await
    }

    /// Takes back what is remembered of the subject, and returns how many sessions that were.
    pub(crate) async fn forget(&mut self, scope: Scope<'_>, permit: &Permit) -> Result<usize, String> {
        // Where nothing could be read there may still be much to forget.
        match (&self.flaw, &self.recall) {
            (Some(flaw), _) => return Err(flaw.clone()),
            (None, Some(Recall::Newer { why })) => return Err(why.to_string()),
            (None, Some(Recall::Damaged { why })) => return Err(format!("it is damaged: {why}")),
            (None, Some(Recall::Warm { .. } | Recall::Cold) | None) => {}
        }
        let (file, about) = (self.record.ledger_file(), subject(permit));
        let runs = blocking(move || Ledger::open(file)?.forget(|run| run.subject == about)).await?;
        let sessions: BTreeSet<String> = runs.into_iter().filter_map(|run| run.session).collect();
        let forgotten = sessions.len();
        if forgotten == 0 {
            return Ok(0);
        }
        // No agent is there: the memory is as it was recalled.
        let from = self.record.engine_data().to_owned();
        match self.keep(scope.process, &scope.job.origin, from, sessions).await? {
            Some(Keeping { kept: Some(kept @ Kept::Saved { .. }), .. }) => {
                (scope.tell)(Step::Kept(kept));
                Ok(forgotten)
            }
            Some(Keeping { warnings, .. }) => Err(warnings.join("; ")),
            None => Err("no memory is kept".to_owned()),
        }
    }

    /// Returns what answers questions about earlier sessions before the engine starts.
    fn archive(&self) -> SessionArchive {
        let indexes = Indexes { saved: self.saved_index(), own: self.index_file() };
        let engine_data = self.record.engine_data().to_owned();
        SessionArchive::new(engine_data, self.rest(), self.record.ledger_file(), indexes, self.reader.clone())
    }

    /// Returns what answers the agent's questions about earlier sessions: from what was set apart.
    pub(crate) fn archive_apart(&self) -> SessionArchive {
        let indexes = Indexes { saved: self.saved_index(), own: self.index_file() };
        let (own_data, ledger) = (self.record.own_data(), self.record.ledger_file());
        SessionArchive::new(own_data, self.rest(), ledger, indexes, self.reader.clone())
    }

    /// Returns what the engine was not given, and the folder for what is fetched of it.
    fn rest(&self) -> Option<(Archive, PathBuf)> {
        self.rest.clone().map(|rest| (rest, self.private().to_owned()))
    }

    /// Saves what the engine knows of its sessions, and tells what came of it. What the agent could still change is not
    /// read.
    pub(crate) async fn save(
        &mut self,
        process: &Process,
        origin: &Origin,
        ground: (Result<Halt, StillRunning>, Enclosure),
        tell: Tell<'_>,
    ) -> Option<Keeping> {
        match self.taken(process, origin, ground).await {
            Ok(keeping) => {
                let warnings = keeping.iter().flat_map(|keeping| &keeping.warnings);
                let new = warnings.filter(|warning| !self.foretold.contains(warning));
                new.for_each(|warning| tell(Step::Warning(warning.clone())));
                keeping
                    .iter()
                    .filter_map(|keeping| keeping.kept.clone())
                    .for_each(|kept| tell(Step::Kept(kept)));
                keeping
            }
            Err(why) => {
                let warning = format!("the memory was not saved: {why}");
                tell(Step::Warning(warning.clone()));
                Some(Keeping { kept: None, places: Vec::new(), warnings: vec![warning] })
            }
        }
    }

    /// Takes this run's sessions out of the agent's database and saves them, if the agent was ever asked.
    async fn taken(
        &mut self,
        process: &Process,
        origin: &Origin,
        (halt, enclosure): (Result<Halt, StillRunning>, Enclosure),
    ) -> Result<Option<Keeping>, String> {
        let ours = self.record.own_data();
        if matches!(self.place, Place::Nowhere(_)) || !ours.exists() {
            return Ok(None);
        }
        let _still = halt.map_err(|why| why.to_string())?;
        let quarantine = self.private().join("quarantine");
        let places =
            apart::Places { engine_data: self.record.engine_data(), ours: &ours, quarantine: &quarantine };
        apart::take_in(&process.settings, enclosure, places, &self.record.sessions()).await?;
        self.keep(process, origin, ours, BTreeSet::new()).await
    }

    async fn keep(
        &mut self,
        process: &Process,
        origin: &Origin,
        database: PathBuf,
        forget: BTreeSet<String>,
    ) -> Result<Option<Keeping>, String> {
        let Place::Kept(mut stores) = std::mem::replace(&mut self.place, Place::Lost) else {
            return Ok(None);
        };
        let provenance = Provenance {
            now: Timestamp::now(),
            engine_version: self.engine_version().unwrap_or_else(|| fro_opencode::VERSION.to_owned()),
            parent: self.record.parent(),
        };
        let settings = &process.settings;
        let (data, visible) = (self.record.engine_data().to_owned(), self.reader.audience);
        let (ledger, index) = (self.record.ledger_file(), self.saved_index());
        let secrets: Vec<_> = settings.secrets().cloned().collect();
        let (lasting, retention): (Vec<_>, _) =
            (settings.lasting_secrets().cloned().collect(), settings.retention);
        let sessions = self.record.sessions();
        let origin = [("run".to_owned(), origin.run.clone()), ("event".to_owned(), origin.event.clone())];
        let kept = blocking(move || {
            let keep = Keep::new(&data, provenance)
                .with_database(&database)
                .from(origin)
                .without(lasting)
                .without_passing(secrets)
                .only(sessions);
            let keep = keep.forgetting(forget);
            let keep = keep.with_ledger(&ledger).with_index(&index).pruning(retention).seen_by(visible);
            let keeping = stores.keep(&keep);
            Ok((stores, keeping))
        });
        let (stores, keeping) = kept.await?;
        self.place = Place::Kept(stores);
        Ok(Some(keeping))
    }

    /// Returns what the summary says of the memory.
    pub(crate) fn describe(&self) -> String {
        match (&self.place, &self.recall, &self.flaw) {
            (Place::Nowhere(_), ..) => "none is kept".to_owned(),
            (_, None, None) => "not looked up".to_owned(),
            (_, None | Some(Recall::Cold), Some(_)) => "could not be read, began without it".to_owned(),
            (_, Some(Recall::Cold), None) => "miss (first run)".to_owned(),
            (_, Some(Recall::Warm { sessions, bytes, .. }), _) => {
                format!("hit, {}, {}", counted(*sessions, "session"), size(*bytes))
            }
            (_, Some(Recall::Newer { .. }), _) => "of a newer engine, began without it".to_owned(),
            (_, Some(Recall::Damaged { .. }), _) => "damaged, began without it".to_owned(),
        }
    }

    /// Tells whether there was a memory to begin with.
    pub(crate) fn is_warm(&self) -> bool {
        matches!(self.recall, Some(Recall::Warm { .. }))
    }

    /// The search index that this run makes if none was recalled; what is saved is made of clean words.
    fn index_file(&self) -> PathBuf {
        self.private().join("index.db")
    }

    /// The search index as it was recalled.
    fn saved_index(&self) -> PathBuf {
        self.private().join("saved-index.db")
    }
}

/// Gives blocking work a thread.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, fro_memory::Error> + Send + 'static,
) -> Result<T, String> {
    let done = spawn_blocking(work).await.map_err(|error| error.to_string())?;
    done.map_err(|error| Fault::from(error).what().to_owned())
}

#[cfg(test)]
mod tests;
