//! What is remembered, for one run: brought before the engine starts, asked while it works, kept when it is done.

mod apart;
mod kept;
mod row;
mod session_archive;

pub use kept::told as told_of_save;
pub(crate) use row::{Ended, subject};
use session_archive::Indexes;
pub(crate) use session_archive::SessionArchive;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use fro_boundary::Enclosure;
use fro_core::{
    Context, Fault,
    continuity::{self, Continuity, Fresh, Reminder},
    gate::ReviewWish,
    remembered::{Audience, Past},
    say::{
        sessions as say,
        standing::Standing,
        summary::{counted, size},
    },
};
use fro_memory::{
    Destination, Head, Here, Keep, Keeping, Kept, Ledger, Provenance, Recall, Recollection, Stores,
    Visibility,
};
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::{
    answer::Asked,
    occasion::Occasion,
    process::Process,
    progress::{Progress, Tell},
    state::State,
    step_summary,
};

/// The memory of one run.
pub(crate) struct Memory {
    place: Place,
    visible: Visibility,
    engine_data: PathBuf,
    /// Outside the engine's folders, so that the agent cannot reach it.
    private: PathBuf,
    /// Removes the private folder with the run, if that ends by itself.
    folder: Option<TempDir>,
    recall: Option<Recall>,
    flaw: Option<String>,
    /// The save that the engine started from.
    parent: Option<Head>,
    /// The sessions that served this run, the one that answers last.
    sessions: Vec<String>,
}

/// How the names of private folders begin.
pub(crate) const PRIVATE: &str = "fro-bot-desk-";

/// Where it is kept.
enum Place {
    Nowhere,
    Kept(Stores),
    /// A thread had the stores and did not bring them back.
    Lost,
}

impl Memory {
    /// Names the places; nothing is brought yet.
    pub(crate) fn open(process: &Process, occasion: &Occasion, engine_data: PathBuf) -> Result<Self, Fault> {
        let folder = tempfile::Builder::new().prefix(PRIVATE).tempdir_in(&process.settings.scratch);
        let folder = folder.map_err(|error| Fault::ours(format!("cannot make a private folder: {error}")))?;
        let private = folder.path().to_owned();
        Ok(Self { folder: Some(folder), ..Self::at(process, occasion, engine_data, private) })
    }

    /// Takes up the memory of a run that was killed.
    pub(crate) fn reopen(process: &Process, occasion: &Occasion, private: &Path, state: &State) -> Self {
        Self {
            parent: state.parent.clone(),
            sessions: state.sessions.clone(),
            ..Self::at(process, occasion, state.engine_data.clone(), private.to_owned())
        }
    }

    fn at(process: &Process, occasion: &Occasion, engine_data: PathBuf, private: PathBuf) -> Self {
        let place = match &process.settings.memory {
            nowhere if nowhere.is_empty() => Place::Nowhere,
            kept => Place::Kept(Stores::open(kept)),
        };
        let visible = match occasion.audience() {
            Audience::Everyone => Visibility::Public,
            Audience::Insiders => Visibility::Private,
        };
        Self {
            place,
            visible,
            engine_data,
            private,
            folder: None,
            recall: None,
            flaw: None,
            parent: None,
            sessions: Vec::new(),
        }
    }

    /// Hands over the private folder, which goes when that is dropped.
    pub(crate) fn into_folder(self) -> Option<TempDir> {
        self.folder
    }

    /// Returns the folder that the agent cannot reach.
    pub(crate) fn private(&self) -> &Path {
        &self.private
    }

    /// Puts the newest memory in place for an engine of this version.
    pub(crate) async fn bring(&mut self) -> Result<Recollection, String> {
        let mut stores = match std::mem::replace(&mut self.place, Place::Lost) {
            Place::Kept(stores) => stores,
            other => {
                self.place = other;
                let (unread, warnings) = (Vec::new(), Vec::new());
                return Ok(Recollection { recall: Recall::Cold, from: None, unread, warnings });
            }
        };
        let (engine_data, audience) = (self.engine_data.clone(), self.visible);
        let (ledger, index) = (self.ledger_file(), self.saved_index());
        let brought = blocking(move || {
            let to = Destination {
                engine_data: &engine_data,
                ledger: Some(&ledger),
                index: Some(&index),
                engine_version: Some(fro_opencode::VERSION),
                audience,
            };
            let recollection = stores.recall(to, Timestamp::now());
            Ok((stores, recollection))
        });
        let (stores, recollection) = brought.await.inspect_err(|why| self.flaw = Some(why.clone()))?;
        self.place = Place::Kept(stores);
        self.parent = recollection.recall.head().cloned();
        if recollection.recall == Recall::Cold && !recollection.unread.is_empty() {
            self.flaw = Some("a store could not be asked".to_owned());
        }
        self.recall = Some(recollection.recall.clone());
        Ok(recollection)
    }

    /// Decides where the run takes place and what it is reminded of, and makes the memory at home in the clone.
    pub(crate) async fn remember(
        &self,
        asked: &Asked<'_>,
        (context, words): (&Context, &str),
        worktree: PathBuf,
    ) -> Result<Reminder, String> {
        let (earlier, engine_data) = (self.archive(asked.occasion.audience()), self.engine_data.clone());
        let (about, kind, trust) = (subject(asked.permit), asked.permit.subject(), asked.permit.trust());
        let topic = continuity::Topic::of(context, words);
        let is_review = ReviewWish::of(asked.trigger, &asked.settings().policy).is_some();
        blocking(move || {
            let last = earlier.last(&about)?;
            let continuity = if is_review {
                Continuity::Fresh(Fresh::Review)
            } else {
                continuity::decide(kind, trust, &last)
            };
            let continuing = match &continuity {
                Continuity::Continued(session) => Some(session.as_str()),
                Continuity::Fresh(_) => None,
            };
            let here = Here { worktree: &worktree, now: Timestamp::now(), continuing };
            fro_memory::relocate(&engine_data, here)?;
            let before = earlier.ending(&last, &continuity)?;
            let is_told = continuing.is_some() || before.is_some();
            let besides = match &last {
                continuity::Last::Here { session, .. } if is_told => Some(session.id.as_str()),
                continuity::Last::Here { .. }
                | continuity::Last::None
                | continuity::Last::Gone
                | continuity::Last::Private => None,
            };
            let elsewhere = earlier.elsewhere(&topic, besides)?;
            Ok(Reminder { continuity, before, elsewhere })
        })
        .await
    }

    /// Sets a copy of the engine's database apart, before the agent says its first word: what is asked and saved from then
    /// on is this one.
    pub(crate) async fn set_apart(&self) -> Result<(), String> {
        let (engine_data, ours) = (self.engine_data.clone(), self.own_data());
        blocking(move || fro_memory::set_apart(&engine_data, &ours)).await
    }

    /// Writes down that a session serves this run, so that it is known by its subject even if the run breaks off.
    pub(crate) async fn begin(&mut self, asked: &Asked<'_>, session: &str) -> Result<(), String> {
        self.sessions.push(session.to_owned());
        let state = State {
            run: asked.occasion.run.id.clone(),
            engine_data: self.engine_data.clone(),
            sessions: self.sessions.clone(),
            parent: self.parent.clone(),
        };
        let (file, private, row) = (self.ledger_file(), self.private.clone(), row::begun(asked, session));
        blocking(move || {
            state.write(&private)?;
            Ledger::open(file)?.record(&row)
        })
        .await
    }

    /// Writes down what came of the run, and returns it as a note for its session.
    pub(crate) async fn end(
        &self,
        asked: &Asked<'_>,
        session: &str,
        ended: &Ended<'_>,
    ) -> Result<String, String> {
        let (file, row) = (self.ledger_file(), row::ended(asked, session, ended));
        let past = Past {
            ended: row.ended_at,
            event: row.event.clone(),
            actor: row.actor.clone(),
            outcome: row.outcome.clone(),
            links: row.links.clone(),
        };
        let note = say::written_back(&row.subject, &past);
        blocking(move || Ledger::open(file)?.record(&row)).await.map(|()| note)
    }

    /// Returns what is known of the subject.
    pub(crate) async fn standing(&self, asked: &Asked<'_>) -> Result<Standing, String> {
        let (earlier, about) = (self.archive(asked.occasion.audience()), subject(asked.permit));
        let memory = self.told();
        blocking(move || earlier.standing(&about, memory)).await
    }

    /// Takes back what is remembered of the subject, and returns how many sessions that were.
    pub(crate) async fn forget(&mut self, asked: &Asked<'_>) -> Result<usize, String> {
        // Where nothing could be read there may still be much to forget.
        match (&self.flaw, &self.recall) {
            (Some(flaw), _) => return Err(flaw.clone()),
            (None, Some(Recall::Damaged { why })) => return Err(format!("it is damaged: {why}")),
            (None, Some(Recall::Warm { .. } | Recall::Cold) | None) => {}
        }
        let (file, about) = (self.ledger_file(), subject(asked.permit));
        let runs = blocking(move || Ledger::open(file)?.forget(|run| run.subject == about)).await?;
        let sessions: BTreeSet<String> = runs.into_iter().filter_map(|run| run.session).collect();
        let forgotten = sessions.len();
        if forgotten == 0 {
            return Ok(0);
        }
        // No agent is there: the memory is as it was recalled.
        let from = self.engine_data.clone();
        match self.keep(asked.process, asked.occasion, from, sessions).await? {
            Some(Keeping { kept: Some(kept @ Kept::Saved { .. }), .. }) => {
                (asked.tell)(Progress::Kept(kept));
                Ok(forgotten)
            }
            Some(Keeping { warnings, .. }) => Err(warnings.join("; ")),
            None => Err("no memory is kept".to_owned()),
        }
    }

    /// Returns what answers questions about earlier sessions before the engine starts.
    fn archive(&self, audience: Audience) -> SessionArchive {
        let indexes = Indexes { saved: self.saved_index(), own: self.index_file() };
        SessionArchive::new(self.engine_data.clone(), self.ledger_file(), indexes, audience)
    }

    /// Returns what answers the agent's questions about earlier sessions: from what was set apart.
    pub(crate) fn archive_apart(&self, audience: Audience) -> SessionArchive {
        let indexes = Indexes { saved: self.saved_index(), own: self.index_file() };
        SessionArchive::new(self.own_data(), self.ledger_file(), indexes, audience)
    }

    /// Returns the sessions that served this run.
    pub(crate) fn sessions(&self) -> &[String] {
        &self.sessions
    }

    /// Saves what the engine knows of this run's sessions, and tells what came of it. Nothing behind the wall runs.
    pub(crate) async fn save(
        &mut self,
        process: &Process,
        occasion: &Occasion,
        enclosure: Enclosure,
        tell: Tell<'_>,
    ) {
        match self.taken(process, occasion, enclosure).await {
            Ok(Some(keeping)) => {
                step_summary::note(occasion, &process.redactor, &kept::on_page(&keeping));
                keeping.warnings.into_iter().for_each(|warning| tell(Progress::Warning(warning)));
                keeping.kept.into_iter().for_each(|kept| tell(Progress::Kept(kept)));
            }
            Ok(None) => {}
            Err(why) => tell(Progress::Warning(format!("the memory was not saved: {why}"))),
        }
    }

    /// Takes this run's sessions out of the agent's database and saves them, if the agent was ever asked.
    async fn taken(
        &mut self,
        process: &Process,
        occasion: &Occasion,
        enclosure: Enclosure,
    ) -> Result<Option<Keeping>, String> {
        let ours = self.own_data();
        if matches!(self.place, Place::Nowhere) || !ours.exists() {
            return Ok(None);
        }
        let quarantine = self.private.join("quarantine");
        let places = apart::Places { engine_data: &self.engine_data, ours: &ours, quarantine: &quarantine };
        apart::take_in(&process.settings, enclosure, places, &self.sessions).await?;
        self.keep(process, occasion, ours, BTreeSet::new()).await
    }

    async fn keep(
        &mut self,
        process: &Process,
        occasion: &Occasion,
        database: PathBuf,
        forget: BTreeSet<String>,
    ) -> Result<Option<Keeping>, String> {
        let Place::Kept(mut stores) = std::mem::replace(&mut self.place, Place::Lost) else {
            return Ok(None);
        };
        let provenance = Provenance {
            now: Timestamp::now(),
            engine_version: fro_opencode::VERSION.to_owned(),
            parent: self.parent.clone(),
        };
        let settings = &process.settings;
        let (data, visible) = (self.engine_data.clone(), self.visible);
        let (ledger, index) = (self.ledger_file(), self.saved_index());
        let (secrets, retention): (Vec<_>, _) = (settings.secrets().cloned().collect(), settings.retention);
        let sessions = self.sessions.clone();
        let origin =
            [("run".to_owned(), occasion.run.id.clone()), ("event".to_owned(), occasion.event.name.clone())];
        let kept = blocking(move || {
            let keep = Keep::new(&data, provenance)
                .with_database(&database)
                .from(origin)
                .without(secrets)
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
    pub(crate) fn told(&self) -> String {
        match (&self.place, &self.recall, &self.flaw) {
            (Place::Nowhere, ..) => "none is kept".to_owned(),
            (_, None, None) => "not looked up".to_owned(),
            (_, None | Some(Recall::Cold), Some(_)) => "could not be read, began without it".to_owned(),
            (_, Some(Recall::Cold), None) => "miss (first run)".to_owned(),
            (_, Some(Recall::Warm { sessions, bytes, .. }), _) => {
                format!("hit, {}, {}", counted(*sessions, "session"), size(*bytes))
            }
            (_, Some(Recall::Damaged { .. }), _) => "damaged, began without it".to_owned(),
        }
    }

    /// Tells whether there was a memory to begin with.
    pub(crate) fn is_warm(&self) -> bool {
        matches!(self.recall, Some(Recall::Warm { .. }))
    }

    /// Our own data folder, with the database as it was before the agent came.
    fn own_data(&self) -> PathBuf {
        self.private().join("apart")
    }

    fn ledger_file(&self) -> PathBuf {
        self.private().join("ledger.db")
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
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, fro_memory::Error> + Send + 'static,
) -> Result<T, String> {
    let done = spawn_blocking(work).await.map_err(|error| error.to_string())?;
    done.map_err(|error| Fault::from(error).what().to_owned())
}
