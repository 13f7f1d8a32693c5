//! What an [`Agent`](crate::Agent) has in each of its states, and how it gets from one to the next.

use std::sync::Arc;

use fro_boundary::{Deeds, Enclosure, Halt, ModelProxy, Spent, StillRunning};
use fro_core::{Drafts, Fault, say};
use fro_memory::Recollection;
use fro_opencode::{Engine, EngineHome, Omo};
use tempfile::TempDir;

use crate::{
    callers::Callers,
    full_disk,
    install::{self, Equipment},
    job::Scope,
    live_engine::{EngineSetup, LiveEngine, Offer, Remembered},
    memory::{Memory, subject},
    models, propose,
    repository::Repository,
    sorter::Sorter,
    step::Step,
    tool_archive_cache::ToolArchiveCache,
};

/// What there is from the beginning.
pub(crate) struct Opened<'a> {
    pub(crate) scope: Scope<'a>,
    pub(crate) folder: TempDir,
    pub(crate) engine_home: EngineHome,
    pub(crate) memory: Memory,
    /// Does what `gh` asks for on the subject.
    pub(crate) sorter: Arc<Sorter>,
    /// Tools for the runs that follow.
    pub(crate) archives: Option<ToolArchiveCache>,
    pub(crate) warnings: Vec<String>,
    /// Whether the provider of a model does not accept its key.
    pub(crate) refused: bool,
}

/// What preparing brought, and the engine once it was started with that.
pub(crate) struct Equipped<'a> {
    pub(crate) preparation: Preparation,
    pub(crate) engine: Option<LiveEngine<'a>>,
}

impl Equipped<'_> {
    /// Brings everything behind the wall to a stand.
    pub(crate) async fn halt(&mut self) -> Result<Halt, StillRunning> {
        match &mut self.engine {
            Some(engine) => engine.halt().await,
            None => Ok(Halt::before_the_agent()),
        }
    }
}

/// What the engine is started with: itself, what is loaded into it, and where it works.
pub(crate) struct Preparation {
    pub(crate) engine: Engine,
    pub(crate) omo: Option<Omo>,
    pub(crate) repository: Repository,
    /// What can stand around the wall.
    pub(crate) enclosure: Enclosure,
    pub(crate) models: Arc<ModelProxy>,
    /// What it took to find out what the request means.
    pub(crate) judged: Spent,
}

impl<'a> Opened<'a> {
    /// Brings everything that an engine is started with.
    pub(crate) async fn bring_all(&mut self) -> Result<Preparation, Fault> {
        let scope = self.scope;
        // First, since nothing is worth setting up for a model that cannot be asked.
        let models = Arc::new(models::open(scope.process).await?);
        let private = self.memory.private().to_owned();
        let home = self.folder.path();
        // A key that is refused breaks off whatever is being brought meanwhile.
        let accepted = async { models.refused_model().await.map_or(Ok(()), Err) };
        let brought = Box::pin(async {
            Ok(tokio::join!(
                install::install(scope, &private),
                self.memory.bring(subject(scope.permit())),
                Repository::open(scope, &models, (home, &private))
            ))
        });
        let brought = tokio::try_join!(accepted, brought);
        let ((), (equipment, recall, repository)) = match brought {
            Ok(brought) => brought,
            Err(model) => {
                self.refused = true;
                return Err(say::trouble::wrong_key(Some(&model)));
            }
        };
        self.note_recall(recall);
        let Equipment { engine, omo, warning, archives } = equipment?;
        self.archives = archives;
        if let Some(warning) = warning {
            self.warn(warning);
        }
        self.memory.written_by(&engine.version);
        (scope.tell)(Step::Installed { version: engine.version.clone(), binary: engine.binary.clone() });
        let (repository, enclosure) = repository?;
        for warning in repository.warnings() {
            self.warn(warning);
        }
        let judged = models.spent();
        Ok(Preparation { engine, omo, repository, enclosure, models, judged })
    }

    pub(crate) fn note_recall(&mut self, recall: Result<Recollection, String>) {
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

    /// Names what a failure while setting up comes from, if that is known here.
    pub(crate) fn blame(&self, fault: Fault) -> Fault {
        full_disk::in_setting_up(fault, self.folder.path())
    }

    pub(crate) fn warn(&mut self, warning: String) {
        (self.scope.tell)(Step::Warning(warning.clone()));
        self.warnings.push(warning);
    }

    /// Starts the engine, if need be without the database that was recalled.
    pub(crate) async fn start(
        &mut self,
        preparation: &Preparation,
        offer: Offer,
    ) -> Result<LiveEngine<'a>, Fault> {
        let engine = match self.try_start(preparation, offer.clone()).await {
            Ok(engine) => engine,
            // Rarely needed and large, so it has a place of its own.
            Err(fault) => Box::pin(self.start_with_new_database(preparation, offer, fault)).await?,
        };
        let process = engine.wall_process();
        self.memory.record().is_behind(process.clone());
        (self.scope.tell)(Step::EngineUp { walls: engine.walls().to_owned(), process });
        Ok(engine)
    }

    async fn try_start(&self, preparation: &Preparation, offer: Offer) -> Result<LiveEngine<'a>, Fault> {
        let memory = Remembered {
            archive: Arc::new(self.memory.archive_apart()),
            record: self.memory.record(),
            is_warm: self.memory.is_warm(),
        };
        let setup = EngineSetup {
            home: self.folder.path(),
            engine_home: self.engine_home.clone(),
            private: self.memory.private(),
            memory,
            offer,
        };
        let deeds = |drafts, callers| self.deeds(preparation, drafts, callers);
        LiveEngine::start(self.scope, preparation, setup, deeds).await
    }

    /// Starts the engine with a database of its own making, if the one that was recalled is what it could not open.
    ///
    /// It is the cause only if the engine starts without it. What is in it goes into the new one then.
    async fn start_with_new_database(
        &mut self,
        preparation: &Preparation,
        offer: Offer,
        fault: Fault,
    ) -> Result<LiveEngine<'a>, Fault> {
        let Some(taken) = self.memory.take_away() else { return Err(fault) };
        let engine = match self.try_start(preparation, offer.clone()).await {
            Ok(engine) => engine,
            Err(again) => {
                tracing::warn!("the engine does not start without its database either: {again}");
                self.memory.give_back(&taken);
                return Err(fault);
            }
        };
        let brought = engine.stop().await.map_err(|why| why.to_string());
        let brought = brought.and_then(|halt| self.memory.transplant(&taken, &halt));
        let told = match brought {
            Ok(()) => "its sessions were brought into a new one",
            Err(_) => "the run goes on without its sessions",
        };
        self.warn(format!("the engine could not open the database of the memory ({fault}); {told}"));
        if let Ok(engine) = self.try_start(preparation, offer.clone()).await {
            return Ok(engine);
        }
        self.memory.take_away();
        self.try_start(preparation, offer).await
    }

    /// Returns what becomes of what the agent does by `gh`.
    fn deeds(&self, preparation: &Preparation, drafts: Drafts, callers: Arc<Callers>) -> Deeds {
        let (permit, server) = (self.scope.permit(), self.scope.settings().server.trim_end_matches('/'));
        let number = permit.subject().number().unwrap_or_default();
        let page = format!("{server}/{}/issues/{number}", permit.repo());
        let doers = (preparation.repository.proposer(), Arc::clone(&self.sorter));
        propose::deeds((number, page), (drafts, callers), doers)
    }
}
