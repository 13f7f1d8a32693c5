//! The states of an [`Agent`](crate::Agent) in which it works: prepared, and running.

use std::path::PathBuf;

use fro_boundary::{Spent, Store};
use fro_core::{
    Fault, Permit,
    continuity::{Fresh, Reminder, Topic},
    conversation::outcome::Usage,
    prompt::Workbench,
};

use crate::{
    live_engine::{LiveEngine, Offer},
    memory::SessionChoice,
    opened::{Equipped, Opened},
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
        let live = if let Some(live) = engine.take() {
            live
        } else {
            let started = opened.start(preparation, offer).await;
            started.map_err(|fault| opened.blame(fault))?
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
        self.engine.open_session(plan).await.map_err(|fault| self.opened.blame(fault))
    }

    /// Adds to what a maintainer should know, without telling it again.
    pub fn note(&mut self, warnings: Vec<String>) {
        self.opened.warnings.extend(warnings);
    }
}
