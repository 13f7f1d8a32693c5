//! Where the engine lives during one run: a folder of its own, a wall around it, and what it remembers.
//!
//! `close` leaves nothing behind, however far the run came.

use std::{path::Path, time::Duration};

use fro_boundary::{Address, Deeds, GhCalls, ModelProxy, Spent};
use fro_core::{
    Context, Drafts, Fault, Prompt, agent,
    continuity::{Continuity, Reminder},
    conversation::{Limits, heard::Heard, outcome::Turn},
    prompt::Workbench,
    say::{
        sessions as say,
        summary::{Origin, Served},
    },
};
use fro_memory::Recollection;
use fro_opencode::{Engine, File, House, Launch, Message, ModelName, Omo, Server, Session};
use tempfile::TempDir;

use crate::{
    Receipt,
    answer::Asked,
    ask,
    desk::{self, Desk},
    equip::{self, Equipment},
    gh::Gh,
    handover::Handover,
    memory::{self, Figures, Memory},
    models,
    news::{News, Tell},
    propose,
    repository::Repository,
    settings::Settings,
    wall::{self, Offers},
};

/// The engine's place and its state.
pub(crate) struct Workplace {
    folder: TempDir,
    house: House,
    memory: Memory,
    drafts: Drafts,
    engine: Option<Engine>,
    omo: Option<Omo>,
    repository: Option<Repository>,
    models: Option<ModelProxy>,
    gh: Option<Gh>,
    desk: Option<Desk>,
    reminder: Option<Reminder>,
    explorations: u32,
    server: Option<Server>,
    agent: Option<String>,
    walls: Option<String>,
    warnings: Vec<String>,
}

impl Workplace {
    /// Makes the folder; nothing else happens yet.
    pub(crate) fn open(settings: &Settings, tell: Tell<'_>) -> Result<Self, Fault> {
        let folder = tempfile::Builder::new().prefix("fro-bot-").tempdir_in(&settings.scratch);
        let folder = folder.map_err(|error| {
            let what = format!("cannot make a folder in `{}`: {error}", settings.scratch.display());
            Fault::yours(what, "see that the folder for temporary files can be written and has room")
        })?;
        let house = House::at(folder.path());
        let memory = Memory::open(settings, house.data())?;
        tell(News::Opened { private: memory.private().to_owned() });
        Ok(Self {
            memory,
            house,
            folder,
            drafts: Drafts::default(),
            engine: None,
            omo: None,
            repository: None,
            models: None,
            gh: None,
            desk: None,
            reminder: None,
            explorations: 0,
            server: None,
            agent: None,
            walls: None,
            warnings: Vec::new(),
        })
    }

    /// Brings the engine, the memory and the repository, all at once.
    pub(crate) async fn prepare(&mut self, asked: &Asked<'_>) -> Result<(), Fault> {
        let (settings, tell) = (asked.settings, asked.tell);
        let private = self.memory.private().to_owned();
        let (equipment, recall, repository) = tokio::join!(
            equip::equip(settings, tell),
            self.memory.bring(fro_opencode::VERSION),
            Repository::open(asked, self.folder.path(), &private),
        );
        match recall {
            Ok(Recollection { recall, warnings, .. }) => {
                tell(News::Recalled(recall));
                for warning in warnings {
                    self.warn(tell, warning);
                }
            }
            Err(why) => self.warn(tell, format!("the memory could not be read: {why}")),
        }
        let Equipment { engine, omo, warning } = equipment?;
        if let Some(warning) = warning {
            self.warn(tell, warning);
        }
        self.omo = omo;
        tell(News::Installed { version: engine.version.clone(), binary: engine.binary.clone() });
        self.engine = Some(engine);
        let repository = repository?;
        for warning in repository.warnings() {
            self.warn(tell, warning);
        }
        self.repository = Some(repository);
        Ok(())
    }

    /// Finds out where the run takes place, and what it is reminded of.
    pub(crate) async fn remember(&mut self, asked: &Asked<'_>, context: &Context) -> Option<&Reminder> {
        let folder = self.repository.as_ref().map_or(self.folder.path(), Repository::folder).to_owned();
        match self.memory.remember(asked, context, folder).await {
            Ok(reminder) => {
                (asked.tell)(News::Reminded(reminder.clone()));
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
        let (settings, tell) = (asked.settings, asked.tell);
        let engine =
            self.engine.clone().ok_or_else(|| Fault::ours("the engine was asked before it was prepared"))?;
        let models = models::open(settings).await?;
        let gh = self.open_gh(asked)?;
        let audience = memory::audience(settings);
        let desk = Desk::open(self.memory.private(), self.memory.shelf(audience), self.drafts.clone())?;
        let offers = Offers {
            connect: vec![Address::Tcp(models.address()), gh.address(), desk.address()],
            environment: gh.environment(),
            read: Vec::new(),
        };
        let launch = Launch {
            config: models.engine_config(),
            tools: desk.servers(&settings.engine.program),
            ..self.launch(settings, engine, offers)?
        };
        let directory = launch.directory.clone();
        (self.models, self.gh, self.desk) = (Some(models), Some(gh), Some(desk));
        let server = self.server.insert(Server::start(launch).await.map_err(|error| error.fault())?);
        tell(News::EngineUp { walls: self.walls.clone().unwrap_or_default() });

        let usual = self.omo.as_ref().map(|_| equip::SISYPHUS);
        let choice = choice(server, settings, &directory, usual).await?;
        let session = match self.reminder.as_ref().map(|reminder| &reminder.continuity) {
            Some(Continuity::Continued(id)) => Session { id: id.clone(), directory: directory.clone() },
            Some(Continuity::Fresh(_)) | None => {
                let title = format!("{} of {}", asked.permit.subject(), asked.permit.repo());
                server.create_session(&directory, &title).await.map_err(|error| error.fault())?
            }
        };
        tell(News::Session { id: session.id.clone(), agent: choice.agent.clone() });
        self.desk.iter().for_each(|desk| desk.serve(&session.id));
        let mut noted = self.memory.begin(asked, &session.id).await;
        self.agent = Some(choice.agent.clone());

        let model = settings.engine.model.as_deref().and_then(ModelName::parse);
        let message = Message { text: prompt.render(), files, agent: Some(choice.agent), model };
        let limits = limits(settings);
        let mut explorations = 0;
        let listen = &mut |heard: &Heard| {
            explorations += u32::from(heard.explores());
            tell(News::Heard(heard.clone()));
        };
        let answered = ask::ask(server, session, &message, (&limits, settings.engine.pause), listen).await;
        self.explorations = explorations;
        if self.memory.session() != Some(&answered.session.id) {
            noted = self.memory.begin(asked, &answered.session.id).await;
        }
        for warning in answered.warnings.into_iter().chain(choice.warning).chain(noted.err()) {
            self.warn(tell, warning);
        }
        Ok(answered.turn)
    }

    /// Plans the start of an engine that works in the clone and may push.
    fn launch(&mut self, settings: &Settings, engine: Engine, mut offers: Offers) -> Result<Launch, Fault> {
        let repository = self.repository.as_ref();
        let repository = repository.ok_or_else(|| Fault::ours("there is no clone for the engine"))?;
        offers.connect.push(repository.address());
        offers.environment.extend(repository.environment());
        offers.read.extend(repository.objects());
        let wall = wall::around(self.folder.path(), settings, (&engine, self.omo.as_ref()), offers)?;
        self.walls = Some(wall.told);
        Ok(Launch {
            omo: self.omo.clone(),
            environment: wall.environment,
            wrap: wall.command,
            ..Launch::new(engine, repository.folder(), self.house.clone())
        })
    }

    /// Writes down what came of the run, in the ledger and in the session itself.
    pub(crate) async fn write_back(&mut self, asked: &Asked<'_>, turn: &Turn, receipt: &Receipt) {
        let Some(id) = self.memory.session().cloned() else { return };
        let called = self.desk.as_ref().map(Desk::asked).unwrap_or_default();
        let figures = Figures {
            turn,
            receipt,
            recalled: self.reminder.as_ref().map(Reminder::sessions).unwrap_or_default(),
            memory_calls: called.searches + called.reads,
            exploration_calls: self.explorations,
            is_warm: self.memory.is_warm(),
        };
        let noted = match (self.memory.end(asked, &id, &figures).await, &self.server) {
            (Ok(note), Some(server)) => {
                let session = Session { id, directory: asked.settings.workspace.clone() };
                server.note(&session, &note).await.map_err(|error| error.to_string())
            }
            (Ok(_), None) => Ok(()),
            (Err(why), _) => Err(why),
        };
        if let Err(why) = noted {
            self.warn(asked.tell, format!("the run was not written down: {why}"));
        }
    }

    /// Stops the engine, keeps what it knows and removes the folder.
    pub(crate) async fn close(mut self, settings: &Settings, tell: Tell<'_>) -> Result<(), Fault> {
        if let Some(server) = self.server.take() {
            server.stop().await;
            tell(News::EngineStopped);
            self.account();
            self.memory.save(settings, fro_opencode::VERSION, tell).await;
        }
        remove(self.folder).await
    }

    fn account(&self) {
        if let Some(spent) = self.models.as_ref().map(ModelProxy::spent) {
            let Spent { calls, refused, input, output, cost } = spent;
            tracing::info!(
                calls,
                refused,
                "{calls} answers of models: {input} tokens read, {output} written, ${cost:.4}; {refused} requests refused"
            );
        }
        if let Some(GhCalls { passed, done, refused }) = self.gh.as_ref().map(Gh::calls) {
            tracing::info!(
                passed,
                done,
                refused,
                "gh: {passed} requests passed, {done} taken over, {refused} refused"
            );
        }
        if let Some(desk::Asked { searches, reads }) = self.desk.as_ref().map(Desk::asked) {
            tracing::info!(
                searches,
                reads,
                "memory: the agent searched {searches} times and read {reads} times"
            );
        }
    }

    /// Adds to what a maintainer should know, without telling it again.
    pub(crate) fn note(&mut self, warnings: Vec<String>) {
        self.warnings.extend(warnings);
    }

    fn warn(&mut self, tell: Tell<'_>, warning: String) {
        tell(News::Warning(warning.clone()));
        self.warnings.push(warning);
    }

    fn open_gh(&self, asked: &Asked<'_>) -> Result<Gh, Fault> {
        let (home, private) = (self.folder.path(), self.memory.private());
        Gh::open(asked.settings, asked.permit, home, private, self.deeds(asked))
    }

    /// Returns what becomes of what the agent does by `gh`.
    fn deeds(&self, asked: &Asked<'_>) -> Deeds {
        let (permit, server) = (asked.permit, asked.settings.server.trim_end_matches('/'));
        let number = permit.subject().number().unwrap_or_default();
        let page = format!("{server}/{}/issues/{number}", permit.repo());
        let nothing = || Err("there is nothing to propose".to_owned());
        let proposer = self.repository.as_ref().map_or_else(nothing, Repository::proposer);
        propose::deeds(page, self.drafts.clone(), proposer)
    }

    /// Hands over what the agent pushed.
    pub(crate) async fn hand_over(&self, asked: &Asked<'_>) -> Handover {
        match &self.repository {
            Some(repository) => repository.hand_over(asked).await,
            None => Handover::default(),
        }
    }

    /// Returns what the agent may do with its changes.
    pub(crate) fn workbench(&self) -> Workbench {
        self.repository.as_ref().map_or(Workbench::Closed, |repository| repository.assignment.workbench())
    }

    /// Returns what the summary says of the walls.
    pub(crate) fn walls(&self) -> String {
        self.walls.clone().unwrap_or_else(|| "the engine was not started".to_owned())
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
        let desk::Asked { searches, reads } = self.desk.as_ref()?.asked();
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
        self.agent.clone()
    }

    /// Returns what a maintainer should know.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        let refused = self.models.as_ref().map_or(0, |models| models.spent().refused);
        if refused > 0 {
            warnings.push(format!("the model proxy refused {refused} requests; the log says which"));
        }
        let refused = self.gh.as_ref().map_or(0, |gh| gh.calls().refused);
        if refused > 0 {
            warnings.push(format!("gh was refused {refused} times; the log says what"));
        }
        warnings
    }
}

/// Chooses the agent to ask among those that the engine offers.
async fn choice(
    server: &Server,
    settings: &Settings,
    directory: &Path,
    usual: Option<&str>,
) -> Result<agent::Choice, Fault> {
    let agents = server.agents(directory).await.map_err(|error| error.fault())?;
    let primary: Vec<_> =
        agents.iter().filter(|agent| agent.is_primary()).map(|agent| agent.name.as_str()).collect();
    agent::choose(settings.engine.agent.as_deref().or(usual), &primary)
        .ok_or_else(|| Fault::ours("the engine offers no agent that could be asked"))
}

/// Returns the bounds of the run's turns; the clock began to run with the process.
fn limits(settings: &Settings) -> Limits {
    let deadline = settings.engine.timeout.and_then(|timeout| settings.began.checked_add(timeout).ok());
    Limits { deadline, steps: settings.engine.max_steps, ..Limits::default() }
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
