//! An engine from the first folder to the last: opened, prepared, running, finished.
//!
//! [`Agent`] is what survives when a caller breaks off in between: every call of it can be dropped at any point, and
//! `finish` then ends whatever there is.

use std::{sync::Arc, time::Duration};

use fro_boundary::{Deeds, Enclosure, Halt, ModelProxy, Spent, Store, remove_folder};
use fro_core::{
    Drafts, Fault, Permit,
    continuity::{Fresh, Reminder, Topic},
    conversation::outcome::Usage,
    prompt::Workbench,
    say::standing::SubjectStatus,
};
use fro_memory::{Keeping, Kept, Recollection};
use fro_opencode::{Engine, EngineHome, Omo};
use tempfile::TempDir;

use crate::{
    callers::Callers,
    handover::Handover,
    install::{self, Equipment},
    job::{Job, Scope},
    memory::{Memory, Where, subject},
    models,
    process::Process,
    propose,
    repository::Repository,
    running::{EngineSetup, Offer, Remembered, Running},
    sorter::Sorter,
    step::{Step, Tell},
    tool_archive_cache::ToolArchiveCache,
};

/// An engine's place, and how far it came.
pub struct Agent<'a> {
    scope: Scope<'a>,
    folder: TempDir,
    engine_home: EngineHome,
    memory: Memory,
    /// Tools for the runs that follow.
    archives: Option<ToolArchiveCache>,
    stage: Stage<'a>,
    /// Does what `gh` asks for on the subject.
    sorter: Arc<Sorter>,
    warnings: Vec<String>,
}

/// How far an engine came.
enum Stage<'a> {
    Opened,
    Prepared(Box<Prepared>),
    Running(Box<Prepared>, Box<Running<'a>>),
}

/// What the engine is started with: itself, what is loaded into it, and where it works.
pub(crate) struct Prepared {
    pub(crate) engine: Engine,
    pub(crate) omo: Option<Omo>,
    pub(crate) repository: Repository,
    /// What can stand around the wall.
    pub(crate) enclosure: Enclosure,
    pub(crate) models: Arc<ModelProxy>,
    /// What it took to find out what the request means.
    judged: Spent,
}

/// What is left of an engine.
pub struct Finished {
    /// What became of the memory, if there was one to keep.
    pub kept: Option<Keeping>,
    /// Whether everything is cleaned up.
    pub cleaned: Result<(), Fault>,
    /// The private folder, which goes when this is dropped: as long as it is there, the step after a killed run finishes
    /// what that left.
    pub private: Option<TempDir>,
}

impl Finished {
    /// Tells whether the next run finds what this one learned.
    pub fn saved(&self) -> bool {
        let kept = self.kept.as_ref().and_then(|keeping| keeping.kept.as_ref());
        matches!(kept, Some(Kept::Saved { .. }))
    }
}

impl<'a> Agent<'a> {
    /// Makes the folders; nothing else happens yet.
    pub fn open(process: &'a Process, job: &'a Job, tell: Tell<'a>) -> Result<Self, Fault> {
        let scope = Scope { process, job, tell };
        let scratch = &process.settings.scratch;
        let folder = tempfile::Builder::new().prefix("fro-bot-").tempdir_in(scratch);
        let folder = folder.map_err(|error| {
            let what = format!("cannot make a folder in `{}`: {error}", scratch.display());
            Fault::yours(what, "see that the folder for temporary files can be written and has room")
        })?;
        let engine_home = EngineHome::at(folder.path());
        let memory = Memory::open(scope, engine_home.data())?;
        tell(Step::Opened { private: memory.private().to_owned() });
        let (archives, stage, warnings) = (None, Stage::Opened, Vec::new());
        let sorter = Arc::new(Sorter::new(scope));
        Ok(Self { scope, folder, engine_home, memory, archives, stage, sorter, warnings })
    }

    /// Brings the engine, the memory and the repository, all at once. What is there already is not brought again.
    pub async fn prepare(&mut self) -> Result<(), Fault> {
        if !matches!(self.stage, Stage::Opened) {
            return Ok(());
        }
        let (scope, tell) = (self.scope, self.scope.tell);
        // First, since nothing is worth setting up for a model that cannot be asked.
        let models = Arc::new(models::open(scope.process).await?);
        let private = self.memory.private().to_owned();
        let home = self.folder.path();
        let walled = async {
            let enclosure = Enclosure::find(&scope.settings().engine.program).await;
            (Repository::open(scope, &models, (home, &private), enclosure).await, enclosure)
        };
        let (equipment, recall, (repository, enclosure)) = tokio::join!(
            install::install(scope, &private),
            self.memory.bring(subject(&scope.job.permit)),
            walled
        );
        self.recalled_to(recall);
        let Equipment { engine, omo, warning, parcels } = equipment?;
        self.archives = parcels;
        if let Some(warning) = warning {
            self.warn(warning);
        }
        self.memory.written_by(&engine.version);
        tell(Step::Installed { version: engine.version.clone(), binary: engine.binary.clone() });
        let repository = repository?;
        for warning in repository.warnings() {
            self.warn(warning);
        }
        let judged = models.spent();
        let prepared = Prepared { engine, omo, repository, enclosure, models, judged };
        self.stage = Stage::Prepared(Box::new(prepared));
        Ok(())
    }

    /// Brings the memory alone, for what is answered without the engine.
    pub async fn recall(&mut self) {
        let recall = self.memory.bring(subject(&self.scope.job.permit)).await;
        self.recalled_to(recall);
    }

    fn recalled_to(&mut self, recall: Result<Recollection, String>) {
        match recall {
            Ok(Recollection { recall, warnings, .. }) => {
                (self.scope.tell)(Step::Recalled(recall));
                for warning in warnings {
                    self.warn(warning);
                }
            }
            Err(why) => self.warn(format!("the memory could not be read: {why}")),
        }
    }

    /// Returns what is known of the subject.
    pub async fn standing(&self, permit: &Permit) -> Result<SubjectStatus, String> {
        self.memory.standing(permit).await
    }

    /// Forgets the subject at once, and returns how many sessions that were.
    pub async fn forget(&mut self, permit: &Permit) -> Result<usize, String> {
        self.memory.forget(self.scope, permit).await
    }

    /// Finds out in which session a subject is spoken about, and what is recalled for it. Call it before the engine
    /// starts: the session is made at home in the clone.
    pub async fn remember(&mut self, permit: &Permit, topic: Topic) -> Option<Reminder> {
        self.look_back(permit, (topic, Where::AsLast)).await
    }

    /// Goes on in the session that somebody chose, if that may be, and finds out what is recalled besides.
    pub async fn remember_in(&mut self, permit: &Permit, topic: Topic, session: &str) -> Option<Reminder> {
        self.look_back(permit, (topic, Where::In(session.to_owned()))).await
    }

    /// Finds out what is recalled for a subject that is spoken about in a new session, whatever there was.
    pub async fn remember_afresh(&mut self, permit: &Permit, topic: Topic, why: Fresh) -> Option<Reminder> {
        self.look_back(permit, (topic, Where::Afresh(why))).await
    }

    async fn look_back(&mut self, permit: &Permit, what: (Topic, Where)) -> Option<Reminder> {
        let folder = self.repository().map_or(self.folder.path(), Repository::folder).to_owned();
        match self.memory.remember(permit, what, folder).await {
            Ok(reminder) => {
                (self.scope.tell)(Step::Reminded(reminder.clone()));
                Some(reminder)
            }
            Err(why) => {
                self.warn(format!("nothing was recalled: {why}"));
                None
            }
        }
    }

    /// Starts the engine behind its wall with what its models are offered; what is not prepared yet is prepared first.
    pub async fn start(&mut self, offer: Offer) -> Result<&Running<'a>, Fault> {
        self.prepare().await?;
        if let Stage::Prepared(prepared) = &self.stage {
            let (running, warning) = match self.run(prepared, offer.clone()).await {
                Ok(running) => (running, None),
                // Rarely needed and large, so it has a place of its own.
                Err(fault) => Box::pin(self.run_anew(prepared, offer, fault)).await?,
            };
            self.warnings.extend(warning);
            self.memory.record().is_behind(running.wall_process());
            (self.scope.tell)(Step::EngineUp { walls: running.walls().to_owned() });
            // Whoever stops the run finds the engine here.
            if let Stage::Prepared(prepared) = std::mem::replace(&mut self.stage, Stage::Opened) {
                self.stage = Stage::Running(prepared, Box::new(running));
            }
        }
        self.running().ok_or_else(|| Fault::ours("the engine was not prepared"))
    }

    async fn run(&self, prepared: &Prepared, offer: Offer) -> Result<Running<'a>, Fault> {
        let memory = Remembered {
            archive: Arc::new(self.memory.archive_apart()),
            record: self.memory.record(),
            is_warm: self.memory.is_warm(),
        };
        let place = EngineSetup {
            home: self.folder.path(),
            engine_home: self.engine_home.clone(),
            private: self.memory.private(),
            memory,
            offer,
        };
        let deeds = |drafts, callers| self.deeds(prepared, drafts, callers);
        Running::start(self.scope, prepared, place, deeds).await
    }

    /// Starts the engine with a database of its own making, if the one that was recalled is what it could not open.
    ///
    /// It is the cause only if the engine starts without it. What is in it goes into the new one then.
    async fn run_anew(
        &self,
        prepared: &Prepared,
        offer: Offer,
        fault: Fault,
    ) -> Result<(Running<'a>, Option<String>), Fault> {
        let Some(taken) = self.memory.take_away() else { return Err(fault) };
        let running = match self.run(prepared, offer.clone()).await {
            Ok(running) => running,
            Err(again) => {
                tracing::warn!("the engine does not start without its database either: {again}");
                self.memory.give_back(&taken);
                return Err(fault);
            }
        };
        let brought = running.stop().await.map_err(|why| why.to_string());
        let brought = brought.and_then(|halt| self.memory.transplant(&taken, &halt));
        let told = match brought {
            Ok(()) => "its sessions were brought into a new one",
            Err(_) => "the run goes on without its sessions",
        };
        let warning = format!("the engine could not open the database of the memory ({fault}); {told}");
        (self.scope.tell)(Step::Warning(warning.clone()));
        let running = if let Ok(running) = self.run(prepared, offer.clone()).await {
            running
        } else {
            self.memory.take_away();
            self.run(prepared, offer).await?
        };
        Ok((running, Some(warning)))
    }

    /// Returns what becomes of what the agent does by `gh`.
    fn deeds(&self, prepared: &Prepared, drafts: Drafts, callers: Arc<Callers>) -> Deeds {
        let (permit, server) = (self.scope.permit(), self.scope.settings().server.trim_end_matches('/'));
        let number = permit.subject().number().unwrap_or_default();
        let page = format!("{server}/{}/issues/{number}", permit.repo());
        let doers = (prepared.repository.proposer(), Arc::clone(&self.sorter));
        propose::deeds((number, page), (drafts, callers), doers)
    }

    /// Hands over what the agent pushed. Nothing behind the wall runs meanwhile: what it wrote is looked at.
    pub async fn hand_over(&mut self) -> Handover {
        let halt = match &mut self.stage {
            Stage::Running(_, running) => running.halt().await,
            Stage::Opened | Stage::Prepared(_) => Ok(Halt::before_the_agent()),
        };
        match self.repository() {
            Some(repository) => repository.hand_over(self.scope, halt).await,
            None => Handover::default(),
        }
    }

    /// Stops the engine, keeps what it knows and removes its folder.
    pub async fn finish(mut self) -> Finished {
        let mut kept = None;
        if let Stage::Running(prepared, running) = std::mem::replace(&mut self.stage, Stage::Opened) {
            let halt = running.stop().await;
            let Scope { process, job, tell } = self.scope;
            tell(Step::EngineStopped);
            kept = self.memory.save(process, &job.origin, (halt, prepared.enclosure), tell).await;
        }
        if let Some(archives) = self.archives.take() {
            archives.keep().await;
        }
        Finished { kept, cleaned: remove(self.folder).await, private: self.memory.into_folder() }
    }

    /// Stops the engine and removes its folder; what it knows is lost, as if it had never been asked.
    pub async fn discard(mut self) -> Result<(), Fault> {
        if let Stage::Running(_, running) = std::mem::replace(&mut self.stage, Stage::Opened) {
            if let Err(why) = running.stop().await {
                (self.scope.tell)(Step::Warning(why.to_string()));
            }
            (self.scope.tell)(Step::EngineStopped);
        }
        remove(self.folder).await
    }

    /// Returns the engine, if it runs.
    pub fn running(&self) -> Option<&Running<'a>> {
        match &self.stage {
            Stage::Running(_, running) => Some(running),
            Stage::Opened | Stage::Prepared(_) => None,
        }
    }

    fn prepared(&self) -> Option<&Prepared> {
        match &self.stage {
            Stage::Prepared(prepared) | Stage::Running(prepared, _) => Some(prepared),
            Stage::Opened => None,
        }
    }

    fn repository(&self) -> Option<&Repository> {
        self.prepared().map(|prepared| &prepared.repository)
    }

    /// Returns the harness's own store of the repository, which the agent cannot write, once it is there.
    pub fn store(&self) -> Option<&Store> {
        self.repository().map(|repository| &repository.store)
    }

    /// Returns what was asked of models before the engine came.
    pub fn judged(&self) -> Usage {
        let Some(prepared) = self.prepared() else { return Usage::default() };
        let Spent { calls, input, output, cost, .. } = prepared.judged;
        Usage { calls, input, output, cost, ..Usage::default() }
    }

    /// Adds to what a maintainer should know, without telling it again.
    pub fn note(&mut self, warnings: Vec<String>) {
        self.warnings.extend(warnings);
    }

    fn warn(&mut self, warning: String) {
        (self.scope.tell)(Step::Warning(warning.clone()));
        self.warnings.push(warning);
    }

    /// Returns what the agent may do with its changes.
    pub fn workbench(&self) -> Workbench {
        self.repository().map_or(Workbench::Closed, |repository| repository.assignment.workbench())
    }

    /// Returns what the summary says of the walls.
    pub fn walls(&self) -> String {
        self.running().map_or("the engine was not started", Running::walls).to_owned()
    }

    /// Returns what the summary says of the network, if any was open.
    pub fn network(&self) -> Option<String> {
        self.running().and_then(Running::network)
    }

    /// Returns what the summary says of `gh`, if it was used.
    pub fn gh(&self) -> Option<String> {
        let calls = self.running().and_then(Running::gh)?;
        let done = self.sorter.done();
        Some(if done.is_empty() { calls } else { format!("{calls}: {}", done.join(", ")) })
    }

    /// Returns what the summary says of the memory.
    pub fn memory(&self) -> String {
        self.memory.describe()
    }

    /// Returns the ids of the engine's sessions that were served.
    pub fn sessions(&self) -> Vec<String> {
        self.memory.record().sessions()
    }

    /// Returns what a maintainer should know.
    pub fn warnings(&self) -> Vec<String> {
        let refusals = self.running().map(Running::refusals).unwrap_or_default();
        [self.warnings.clone(), refusals].concat()
    }
}

/// Removes the folder. An engine whose start was broken off may need a moment to be gone from it.
async fn remove(folder: TempDir) -> Result<(), Fault> {
    let path = folder.keep();
    let mut removed = remove_folder(&path);
    for _ in 0..100 {
        if removed.is_ok() || !path.exists() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        removed = remove_folder(&path);
    }
    removed.map_err(|error| Fault::ours(format!("cannot clean up `{}`: {error}", path.display())))
}
