//! Where the engine lives during one run: a folder of its own, a wall around it, and what it remembers.
//!
//! `close` leaves nothing behind, however far the run came.

mod share;

use std::{sync::Arc, time::Duration};

use fro_boundary::{Deeds, Enclosure, Halt};
use fro_core::{
    Context, Drafts, Fault, Prompt,
    continuity::{Continuity, Reminder},
    conversation::outcome::Turn,
    prompt::Workbench,
    say::{
        sessions as say,
        standing::Standing,
        summary::{Origin, Served, Share},
    },
};
use fro_memory::{Figures, Recollection};
use fro_opencode::{EngineHome, File, Session};
use tempfile::TempDir;

use crate::{
    Receipt,
    answer::Asked,
    handover::Handover,
    install::{self, Equipment},
    memory::{Ended, Memory, subject},
    models,
    occasion::Occasion,
    process::Process,
    progress::{Progress, Tell},
    propose,
    repository::Repository,
    running_engine::{Place, Prepared, Reviewing, RunningEngine},
    tool_archive_cache::ToolArchiveCache,
    tool_server,
};

/// The engine's place and its state.
pub(crate) struct Workplace {
    folder: TempDir,
    engine_home: EngineHome,
    memory: Memory,
    drafts: Drafts,
    prepared: Option<Prepared>,
    /// Tools for the runs that follow.
    parcels: Option<ToolArchiveCache>,
    reminder: Option<Reminder>,
    /// What a new session is called.
    title: String,
    engine: Option<RunningEngine>,
    /// The session that answered.
    session: Option<Session>,
    share: Option<Share>,
    warnings: Vec<String>,
}

impl Workplace {
    /// Makes the folder; nothing else happens yet.
    pub(crate) fn open(process: &Process, occasion: &Occasion, tell: Tell<'_>) -> Result<Self, Fault> {
        let scratch = &process.settings.scratch;
        let folder = tempfile::Builder::new().prefix("fro-bot-").tempdir_in(scratch);
        let folder = folder.map_err(|error| {
            let what = format!("cannot make a folder in `{}`: {error}", scratch.display());
            Fault::yours(what, "see that the folder for temporary files can be written and has room")
        })?;
        let engine_home = EngineHome::at(folder.path());
        let memory = Memory::open(process, occasion, engine_home.data())?;
        tell(Progress::Opened { private: memory.private().to_owned() });
        Ok(Self {
            memory,
            engine_home,
            folder,
            drafts: Drafts::default(),
            prepared: None,
            parcels: None,
            reminder: None,
            title: String::new(),
            engine: None,
            session: None,
            share: None,
            warnings: Vec::new(),
        })
    }

    /// Brings the engine, the memory and the repository, all at once.
    pub(crate) async fn prepare(&mut self, asked: &Asked<'_>) -> Result<(), Fault> {
        let (process, tell) = (asked.process, asked.tell);
        // First, since nothing is worth setting up for a model that cannot be asked.
        let models = Arc::new(models::open(process).await?);
        let private = self.memory.private().to_owned();
        let home = self.folder.path();
        let walled = async {
            let enclosure = Enclosure::find(&process.settings.engine.program).await;
            (Repository::open(asked, &models, (home, &private), enclosure).await, enclosure)
        };
        let (equipment, recall, (repository, enclosure)) = tokio::join!(
            install::install(process, asked.occasion, &private, tell),
            self.memory.bring(),
            walled,
        );
        self.recalled_to(tell, recall);
        let Equipment { engine, omo, warning, parcels } = equipment?;
        self.parcels = parcels;
        if let Some(warning) = warning {
            self.warn(tell, warning);
        }
        tell(Progress::Installed { version: engine.version.clone(), binary: engine.binary.clone() });
        let repository = repository?;
        for warning in repository.warnings() {
            self.warn(tell, warning);
        }
        let judged = models.spent();
        self.prepared = Some(Prepared { engine, omo, repository, enclosure, models, judged });
        Ok(())
    }

    /// Brings the memory alone, for what is answered without the engine.
    pub(crate) async fn recall(&mut self, tell: Tell<'_>) {
        let recall = self.memory.bring().await;
        self.recalled_to(tell, recall);
    }

    fn recalled_to(&mut self, tell: Tell<'_>, recall: Result<Recollection, String>) {
        match recall {
            Ok(Recollection { recall, warnings, .. }) => {
                tell(Progress::Recalled(recall));
                for warning in warnings {
                    self.warn(tell, warning);
                }
            }
            Err(why) => self.warn(tell, format!("the memory could not be read: {why}")),
        }
    }

    /// Returns what is known of the subject.
    pub(crate) async fn standing(&self, asked: &Asked<'_>) -> Result<Standing, String> {
        self.memory.standing(asked).await
    }

    /// Forgets the subject at once, and returns how many sessions that were.
    pub(crate) async fn forget(&mut self, asked: &Asked<'_>) -> Result<usize, String> {
        self.memory.forget(asked).await
    }

    /// Finds out where the run takes place, and what it is reminded of.
    pub(crate) async fn remember(
        &mut self,
        asked: &Asked<'_>,
        context: &Context,
        words: &str,
    ) -> Option<&Reminder> {
        let about = subject(asked.permit);
        self.title = say::title(&about, context.title.value(), asked.trigger.words());
        let folder = self.repository().map_or(self.folder.path(), Repository::folder).to_owned();
        match self.memory.remember(asked, (context, words), folder).await {
            Ok(reminder) => {
                (asked.tell)(Progress::Reminded(reminder.clone()));
                self.reminder = Some(reminder);
            }
            Err(why) => self.warn(asked.tell, format!("nothing was recalled: {why}")),
        }
        self.reminder.as_ref()
    }

    /// Starts the engine behind its wall and has one turn with it.
    pub(crate) async fn converse(
        &mut self,
        asked: &Asked<'_>,
        prompt: &Prompt,
        files: Vec<File>,
    ) -> Result<Turn, Fault> {
        self.start(asked, None).await?;
        let mut turn = self.say(asked, prompt.render(), files).await?;
        if let Some(prepared) = &self.prepared {
            turn.usage += prepared.judged_usage();
        }
        Ok(turn)
    }

    /// Starts the engine behind its wall and opens the session of this run. A review has one of its own.
    pub(crate) async fn start(&mut self, asked: &Asked<'_>, review: Option<Reviewing>) -> Result<(), Fault> {
        let prepared = self.prepared.as_ref();
        let prepared = prepared.ok_or_else(|| Fault::ours("the engine was asked before it was prepared"))?;
        let continuity = self.reminder.as_ref().map(|reminder| &reminder.continuity);
        let continuity = continuity.filter(|_| review.is_none());
        let place = Place {
            home: self.folder.path(),
            engine_home: self.engine_home.clone(),
            private: self.memory.private(),
            archive: self.memory.archive_apart(asked.occasion.audience()),
            drafts: self.drafts.clone(),
            deeds: self.deeds(asked),
            review,
        };
        let engine = RunningEngine::open(asked, prepared, place).await?;
        // Whoever stops the run finds the engine here.
        let engine = self.engine.insert(engine);
        let session = engine.begin(asked, prepared, (continuity, &self.title)).await?;
        let apart = self.memory.set_apart().await;
        let noted = self.memory.begin(asked, &session.id).await;
        self.session = Some(session);
        for warning in apart.err().into_iter().chain(noted.err()) {
            self.warn(asked.tell, warning);
        }
        Ok(())
    }

    /// Says something in the session of this run, and waits for what comes of it.
    pub(crate) async fn say(
        &mut self,
        asked: &Asked<'_>,
        text: String,
        files: Vec<File>,
    ) -> Result<Turn, Fault> {
        let (Some(engine), Some(session)) = (&mut self.engine, self.session.clone()) else {
            return Err(Fault::ours("the engine was asked before it was started"));
        };
        let first = session.id.clone();
        let answered = engine.ask(asked, session, (text, files)).await;
        let mut warnings = answered.warnings;
        if answered.session.id != first {
            warnings.extend(self.memory.begin(asked, &answered.session.id).await.err());
        }
        self.session = Some(answered.session);
        for warning in warnings {
            self.warn(asked.tell, warning);
        }
        Ok(answered.turn)
    }

    /// Writes down what came of the run, in the ledger and in the session itself.
    pub(crate) async fn write_back(&mut self, asked: &Asked<'_>, turn: &Turn, receipt: &Receipt) {
        let (Some(session), Some(engine)) = (&self.session, &self.engine) else { return };
        let called = engine.asked_of_memory();
        let figures = Figures {
            recalled: self.reminder.as_ref().map(Reminder::sessions).unwrap_or_default(),
            memory_calls: called.searches + called.reads,
            exploration_calls: engine.explorations(),
            is_warm: self.memory.is_warm(),
            ..Figures::default()
        };
        let noted = match self.memory.end(asked, &session.id, &Ended { turn, receipt, figures }).await {
            Ok(note) => engine.note(session, &note).await,
            Err(why) => Err(why),
        };
        if let Err(why) = noted {
            self.warn(asked.tell, format!("the run was not written down: {why}"));
        }
    }

    /// Stops the engine, keeps what it knows and removes its folder. The private one is handed back, to go last: as long
    /// as it is there, the step after a killed run finishes what that left.
    pub(crate) async fn close(
        mut self,
        process: &Process,
        occasion: &Occasion,
        tell: Tell<'_>,
    ) -> (Result<(), Fault>, Option<TempDir>) {
        if let Some(engine) = self.engine.take() {
            engine.close().await;
            tell(Progress::EngineStopped);
            let enclosure = self.prepared.as_ref().map(|prepared| prepared.enclosure).unwrap_or_default();
            self.memory.save(process, occasion, enclosure, tell).await;
        }
        if let Some(parcels) = self.parcels.take() {
            parcels.keep().await;
        }
        (remove(self.folder).await, self.memory.into_folder())
    }

    /// Adds to what a maintainer should know, without telling it again.
    pub(crate) fn note(&mut self, warnings: Vec<String>) {
        self.warnings.extend(warnings);
    }

    fn warn(&mut self, tell: Tell<'_>, warning: String) {
        tell(Progress::Warning(warning.clone()));
        self.warnings.push(warning);
    }

    /// Returns the repository, once it is there.
    pub(crate) fn repository(&self) -> Option<&Repository> {
        Some(&self.prepared.as_ref()?.repository)
    }

    /// Returns what becomes of what the agent does by `gh`.
    fn deeds(&self, asked: &Asked<'_>) -> Deeds {
        let (permit, server) = (asked.permit, asked.settings().server.trim_end_matches('/'));
        let number = permit.subject().number().unwrap_or_default();
        let page = format!("{server}/{}/issues/{number}", permit.repo());
        let nothing = || Err("there is nothing to propose".to_owned());
        let proposer = self.repository().map_or_else(nothing, Repository::proposer);
        propose::deeds((number, page), self.drafts.clone(), proposer)
    }

    /// Hands over what the agent pushed. Nothing behind the wall runs meanwhile: what it wrote is looked at.
    pub(crate) async fn hand_over(&mut self, asked: &Asked<'_>) -> Handover {
        let halt = match &mut self.engine {
            Some(engine) => engine.halt().await,
            None => Ok(Halt::before_the_agent()),
        };
        match self.repository() {
            Some(repository) => repository.hand_over(asked, halt).await,
            None => Handover::default(),
        }
    }

    /// Returns what the agent may do with its changes.
    pub(crate) fn workbench(&self) -> Workbench {
        self.repository().map_or(Workbench::Closed, |repository| repository.assignment.workbench())
    }

    /// Returns what the summary says of the walls.
    pub(crate) fn walls(&self) -> String {
        self.engine.as_ref().map_or("the engine was not started", RunningEngine::walls).to_owned()
    }

    /// Returns where everybody can read the session.
    pub(crate) fn shared(&self) -> Option<Share> {
        self.share.clone()
    }

    /// Returns what the summary says of the network, if any was open.
    pub(crate) fn network(&self) -> Option<String> {
        self.engine.as_ref().and_then(RunningEngine::network)
    }

    /// Returns what the summary says of `gh`, if it was used.
    pub(crate) fn gh(&self) -> Option<String> {
        self.engine.as_ref().and_then(RunningEngine::gh)
    }

    /// Returns what the summary says of the memory.
    pub(crate) fn memory(&self) -> String {
        self.memory.told()
    }

    /// Returns where the answer is handed in, by whatever way.
    pub(crate) fn drafts(&self) -> &Drafts {
        &self.drafts
    }

    /// Returns what the summary says of the recall.
    pub(crate) fn recalled(&self) -> Option<String> {
        let tool_server::Asked { searches, reads } = self.engine.as_ref()?.asked_of_memory();
        let places = self.reminder.as_ref().map_or(0, |reminder| reminder.sessions().len());
        Some(say::recalled(places, searches, reads))
    }

    /// Returns the engine's sessions that served the run.
    pub(crate) fn sessions(&self) -> Vec<Served> {
        let continued = self.reminder.as_ref().map(|reminder| &reminder.continuity);
        let origin = |id: &String| match continued {
            Some(Continuity::Continued(session)) if session == id => Origin::Continued,
            Some(Continuity::Continued(_) | Continuity::Fresh(_)) | None => Origin::Created,
        };
        self.memory.sessions().iter().map(|id| Served { id: id.clone(), origin: origin(id) }).collect()
    }

    /// Returns the agent that was asked, if any was.
    pub(crate) fn agent(&self) -> Option<String> {
        self.engine.as_ref()?.agent().map(str::to_owned)
    }

    /// Returns what a maintainer should know.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let refusals = self.engine.as_ref().map(RunningEngine::refusals).unwrap_or_default();
        [self.warnings.clone(), refusals].concat()
    }
}

/// Removes the folder. An engine whose start was broken off may need a moment to be gone from it.
async fn remove(folder: TempDir) -> Result<(), Fault> {
    let path = folder.keep();
    let mut removed = fs_err::remove_dir_all(&path);
    for _ in 0..100 {
        if removed.is_ok() || !path.exists() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        removed = fs_err::remove_dir_all(&path);
    }
    removed.map_err(|error| Fault::ours(format!("cannot clean up: {error}")))
}
