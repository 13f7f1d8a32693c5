//! What is remembered, for one run: brought before the engine starts, asked while it works, kept when it is done.

mod shelf;

pub(crate) use shelf::Shelf;

use std::path::{Path, PathBuf};

use fro_core::{Fault, Permit, remembered::Audience, say::marker::Marker};
use fro_memory::{Destination, Folder, Keep, Kept, Ledger, Provenance, Recall, Run, Visibility};
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::{answer::Asked, settings::Settings};

/// The memory of one run.
pub(crate) struct Memory {
    store: Option<PathBuf>,
    engine_data: PathBuf,
    /// Outside the engine's folders, so that the agent cannot reach it.
    private: TempDir,
    recall: Option<Recall>,
    flaw: Option<String>,
}

impl Memory {
    /// Names the places; nothing is brought yet.
    pub(crate) fn open(settings: &Settings, engine_data: PathBuf) -> Result<Self, Fault> {
        let private = tempfile::Builder::new().prefix("fro-bot-desk-").tempdir_in(&settings.scratch);
        let private =
            private.map_err(|error| Fault::ours(format!("cannot make a private folder: {error}")))?;
        Ok(Self { store: settings.memory.clone(), engine_data, private, recall: None, flaw: None })
    }

    /// Returns the folder that the agent cannot reach.
    pub(crate) fn private(&self) -> &Path {
        self.private.path()
    }

    /// Puts the newest memory in place for an engine of this version.
    pub(crate) async fn bring(&mut self, engine_version: &'static str) -> Result<Recall, String> {
        let (engine_data, ledger) = (self.engine_data.clone(), self.ledger_file());
        let brought = match self.store.clone() {
            None => Ok(Recall::Cold),
            Some(store) => {
                blocking(move || {
                    let destination = Destination {
                        engine_data: &engine_data,
                        ledger: Some(&ledger),
                        engine_version: Some(engine_version),
                    };
                    fro_memory::recall_to(&Folder::open(&store)?, destination)
                })
                .await
            }
        };
        match &brought {
            Ok(recall) => self.recall = Some(recall.clone()),
            Err(why) => self.flaw = Some(why.clone()),
        }
        brought
    }

    /// Writes down that a session serves this run, so that it is known by its subject even if the run breaks off.
    pub(crate) async fn begin(&self, asked: &Asked<'_>, session: &str) -> Result<(), String> {
        let (file, row) = (self.ledger_file(), row(asked, session));
        blocking(move || Ledger::open(file)?.record(&row)).await
    }

    /// Returns what answers questions about earlier sessions.
    pub(crate) fn shelf(&self, audience: Audience) -> Shelf {
        Shelf::new(self.engine_data.clone(), self.ledger_file(), self.private().join("index.db"), audience)
    }

    /// Saves what the engine knows of these sessions.
    pub(crate) async fn keep(
        &self,
        settings: &Settings,
        engine_version: &str,
        sessions: Vec<String>,
    ) -> Result<Option<Kept>, String> {
        let Some(store) = self.store.clone() else { return Ok(None) };
        let provenance = Provenance {
            now: Timestamp::now(),
            engine_version: engine_version.to_owned(),
            parent: self.recall.as_ref().and_then(Recall::head).cloned(),
        };
        let (data, ledger) = (self.engine_data.clone(), self.ledger_file());
        let secrets: Vec<_> = settings.secrets().cloned().collect();
        let origin =
            [("run".to_owned(), settings.run.id.clone()), ("event".to_owned(), settings.event.name.clone())];
        let kept = blocking(move || {
            let store = Folder::open(&store)?;
            let keep = Keep::new(&store, &data, provenance).from(origin).without(secrets).only(sessions);
            keep.with_ledger(&ledger).save()
        });
        kept.await.map(Some)
    }

    /// Returns what the summary says of the memory.
    pub(crate) fn told(&self) -> String {
        match (&self.store, &self.recall, &self.flaw) {
            (None, ..) => "none is kept".to_owned(),
            (Some(_), None, None) => "not looked up".to_owned(),
            (Some(_), None, Some(_)) => "could not be read, began without it".to_owned(),
            (Some(_), Some(Recall::Cold), _) => "miss (first run)".to_owned(),
            (Some(_), Some(Recall::Warm { sessions, .. }), _) => format!("hit, {sessions} sessions"),
            (Some(_), Some(Recall::Damaged { .. }), _) => "damaged, began without it".to_owned(),
        }
    }

    fn ledger_file(&self) -> PathBuf {
        self.private().join("ledger.db")
    }
}

/// Returns what a run is about, as the ledger knows it.
pub(crate) fn subject(permit: &Permit) -> String {
    format!("{}{}", permit.repo(), permit.subject().mark())
}

/// Returns the row of a run that has just begun.
fn row(asked: &Asked<'_>, session: &str) -> Run {
    let permit = asked.permit;
    Run {
        id: Marker::new(&asked.settings.run.id, asked.trigger).key(),
        subject: subject(permit),
        session: Some(session.to_owned()),
        ended_at: Timestamp::now(),
        surface: "github".to_owned(),
        event: asked.trigger.event_name().to_owned(),
        actor: permit.asker().to_string(),
        trust: permit.trust().word().to_owned(),
        visibility: match asked.settings.event.audience() {
            Some(Audience::Everyone) => Visibility::Public,
            Some(Audience::Insiders) | None => Visibility::Private,
        },
        outcome: "broken off".to_owned(),
        duration: 0,
        first_output: None,
        cost: 0,
        tokens: fro_memory::Tokens::default(),
        links: Vec::new(),
        recalled: Vec::new(),
        memory_calls: 0,
        exploration_calls: 0,
    }
}

/// Gives blocking work a thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, fro_memory::Error> + Send + 'static,
) -> Result<T, String> {
    let done = spawn_blocking(work).await.map_err(|error| error.to_string())?;
    done.map_err(|error| Fault::from(error).what().to_owned())
}
