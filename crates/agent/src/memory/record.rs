//! Which sessions an engine serves: in the ledger, and in the file that is left for the step after a killed run.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use fro_boundary::WallProcess;
use fro_core::{remembered::EarlierRun, say::sessions as say};
use fro_memory::{Head, Ledger, Run};

use super::blocking;
use crate::state::State;

/// Where sessions are written down. Sessions of one engine share it.
#[derive(Debug)]
pub(crate) struct Record {
    engine_data: PathBuf,
    /// Outside the engine's folders, so that the agent cannot reach it.
    private: PathBuf,
    run: String,
    known: Mutex<RunSoFar>,
}

#[derive(Debug, Default)]
struct RunSoFar {
    /// The save that the engine started from.
    parent: Option<Head>,
    /// The sessions that were served, the last one last.
    sessions: Vec<String>,
    /// The engine's version, once it is known which one runs.
    engine_version: Option<String>,
    /// The wall that the engine is behind, once that stands.
    wall: Option<WallProcess>,
}

impl Record {
    pub(super) fn new(engine_data: PathBuf, private: PathBuf, run: String) -> Self {
        Self { engine_data, private, run, known: Mutex::default() }
    }

    /// Takes up what a killed run wrote down.
    pub(super) fn of_killed(private: &Path, state: &State) -> Self {
        let known = RunSoFar {
            parent: state.parent.clone(),
            sessions: state.sessions.clone(),
            engine_version: state.engine_version.clone(),
            wall: state.wall.clone(),
        };
        let (engine_data, run) = (state.engine_data.clone(), state.run.clone());
        Self { engine_data, private: private.to_owned(), run, known: Mutex::new(known) }
    }

    /// Takes down the save that the engine starts from.
    pub(super) fn starts_from(&self, parent: Option<Head>) {
        self.known().parent = parent;
    }

    /// Takes down which engine writes.
    pub(super) fn written_by(&self, version: &str) {
        self.known().engine_version = Some(version.to_owned());
    }

    /// Takes down the wall that the engine is behind.
    pub(crate) fn is_behind(&self, wall: Option<WallProcess>) {
        self.known().wall = wall;
    }

    /// Returns which engine writes, once that is known.
    pub(super) fn engine_version(&self) -> Option<String> {
        self.known().engine_version.clone()
    }

    /// Sets a copy of the engine's database apart, before the agent says its first word: what is asked and saved from then
    /// on is this one.
    pub(crate) async fn set_apart(&self) -> Result<(), String> {
        let (engine_data, ours) = (self.engine_data.clone(), self.own_data());
        blocking(move || fro_memory::set_apart(&engine_data, &ours)).await
    }

    /// Our own data folder, with the database as it was before the agent came.
    pub(super) fn own_data(&self) -> PathBuf {
        self.private.join("apart")
    }

    /// Writes down that a session is served, so that it is known by its subject even if the run breaks off.
    pub(crate) async fn begin(&self, session: &str, row: Run) -> Result<(), String> {
        let state = {
            let mut known = self.known();
            known.sessions.push(session.to_owned());
            State {
                run: self.run.clone(),
                engine_data: self.engine_data.clone(),
                sessions: known.sessions.clone(),
                parent: known.parent.clone(),
                engine_version: known.engine_version.clone(),
                wall: known.wall.clone(),
            }
        };
        let (file, private) = (self.ledger_file(), self.private.clone());
        blocking(move || {
            state.write(&private)?;
            Ledger::open(file)?.record(&row)
        })
        .await
    }

    /// Writes down what came of a turn, and returns it as a note for its session.
    pub(crate) async fn end(&self, row: Run) -> Result<String, String> {
        let past = EarlierRun {
            ended: row.ended_at,
            event: row.event.clone(),
            actor: row.actor.clone(),
            outcome: row.outcome.clone(),
            links: row.links.clone(),
        };
        let note = say::written_back(&row.subject, &past);
        let file = self.ledger_file();
        blocking(move || Ledger::open(file)?.record(&row)).await.map(|()| note)
    }

    pub(crate) fn engine_data(&self) -> &Path {
        &self.engine_data
    }

    pub(crate) fn private(&self) -> &Path {
        &self.private
    }

    /// Returns the sessions that were served.
    pub(crate) fn sessions(&self) -> Vec<String> {
        self.known().sessions.clone()
    }

    pub(super) fn parent(&self) -> Option<Head> {
        self.known().parent.clone()
    }

    pub(super) fn ledger_file(&self) -> PathBuf {
        self.private.join("ledger.db")
    }

    fn known(&self) -> std::sync::MutexGuard<'_, RunSoFar> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
