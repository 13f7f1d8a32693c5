//! The states of an [`Agent`](crate::Agent) in which it works: prepared, and running.

use std::{path::PathBuf, sync::Arc};

use fro_boundary::{Deeds, Enclosure, ModelProxy, Spent, Store};
use fro_core::{
    Drafts, Fault, Permit,
    continuity::{Fresh, Reminder, Topic},
    conversation::outcome::Usage,
    prompt::Workbench,
};
use fro_opencode::{Engine, Omo};

use crate::{
    agent::{Equipped, Opened},
    callers::Callers,
    live_engine::{EngineSetup, LiveEngine, Offer, Remembered},
    memory::SessionChoice,
    propose,
    repository::Repository,
    session::{Plan, Session},
    step::Step,
};

/// An agent with everything that its engine is started with: binary, memory and clone are there.
pub struct Prepared<'agent, 'a> {
    pub(crate) opened: &'agent mut Opened<'a>,
    pub(crate) equipped: &'agent mut Equipped<'a>,
}

/// An agent whose engine answers behind its wall.
pub struct Running<'agent, 'a> {
    opened: &'agent mut Opened<'a>,
    engine: &'agent LiveEngine<'a>,
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

impl<'agent, 'a> Prepared<'agent, 'a> {
    /// Finds out in which session a subject is spoken about, and what is recalled for it. The session is made at home in
    /// the clone.
    pub async fn remember(&mut self, permit: &Permit, topic: Topic) -> Option<Reminder> {
        self.look_back(permit, (topic, SessionChoice::AsBefore)).await
    }

    /// Goes on in the session that somebody chose, if that may be, and finds out what is recalled besides.
    pub async fn remember_in(&mut self, permit: &Permit, topic: Topic, session: &str) -> Option<Reminder> {
        self.look_back(permit, (topic, SessionChoice::This(session.to_owned()))).await
    }

    /// Finds out what is recalled for a subject that is spoken about in a new session, whatever there was.
    pub async fn remember_afresh(&mut self, permit: &Permit, topic: Topic, why: Fresh) -> Option<Reminder> {
        self.look_back(permit, (topic, SessionChoice::New(why))).await
    }

    async fn look_back(&mut self, permit: &Permit, what: (Topic, SessionChoice)) -> Option<Reminder> {
        let clone: PathBuf = self.repository().folder().to_owned();
        match self.opened.memory.remember(permit, what, clone).await {
            Ok(reminder) => {
                (self.opened.scope.tell)(Step::Reminded(reminder.clone()));
                Some(reminder)
            }
            Err(why) => {
                self.opened.warn(format!("nothing was recalled: {why}"));
                None
            }
        }
    }

    /// Starts the engine behind its wall with what its models are offered. One that runs already goes on.
    pub async fn start(self, offer: Offer) -> Result<Running<'agent, 'a>, Fault> {
        let Self { opened, equipped: Equipped { preparation, engine } } = self;
        let live = match engine.take() {
            Some(live) => live,
            None => opened.start(preparation, offer).await?,
        };
        // Whoever stops the run finds the engine here.
        Ok(Running { opened, engine: engine.insert(live) })
    }

    /// Returns the harness's own store of the repository, which the agent cannot write.
    pub fn store(&self) -> &Store {
        &self.repository().store
    }

    /// Returns what the agent may do with its changes.
    pub fn workbench(&self) -> Workbench {
        self.repository().assignment.workbench()
    }

    /// Returns what was asked of models before the engine came.
    pub fn judged(&self) -> Usage {
        let Spent { calls, input, output, cost, .. } = self.equipped.preparation.judged;
        Usage { calls, input, output, cost, ..Usage::default() }
    }

    /// Adds to what a maintainer should know, without telling it again.
    pub fn note(&mut self, warnings: Vec<String>) {
        self.opened.warnings.extend(warnings);
    }

    fn repository(&self) -> &Repository {
        &self.equipped.preparation.repository
    }
}

impl<'a> Running<'_, 'a> {
    /// Opens a session, or goes on in an earlier one. It has its own tools, drafts and meter; clone, wall, network and
    /// `gh` are the engine's, so its permit has to be of the same repository and of the same reach.
    pub async fn open_session(&self, plan: Plan) -> Result<Session<'a>, Fault> {
        self.engine.open_session(plan).await
    }

    /// Adds to what a maintainer should know, without telling it again.
    pub fn note(&mut self, warnings: Vec<String>) {
        self.opened.warnings.extend(warnings);
    }
}

impl<'a> Opened<'a> {
    /// Starts the engine, if need be without the database that was recalled.
    async fn start(&mut self, preparation: &Preparation, offer: Offer) -> Result<LiveEngine<'a>, Fault> {
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
