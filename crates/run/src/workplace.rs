//! Where the engine lives during one run: a folder of its own, a wall around it, and what it remembers.
//!
//! `close` leaves nothing behind, however far the run came.

use std::{path::PathBuf, time::Duration};

use fro_boundary::{Address, GhCalls, ModelProxy, Spent};
use fro_core::{
    Fault, Prompt, agent,
    conversation::{Limits, heard::Heard, outcome::Turn},
};
use fro_http::Road;
use fro_memory::{Folder, Kept, Provenance, Recall};
use fro_opencode::{Engine, House, Launch, Message, ModelName, Server, ToolCache, Wanted};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::{
    answer::Asked,
    ask,
    gh::Gh,
    models,
    news::{News, Tell},
    settings::Settings,
    wall::{self, Offers},
};

/// The engine's place and its state.
pub(crate) struct Workplace {
    folder: TempDir,
    house: House,
    memory: Option<PathBuf>,
    engine: Option<Engine>,
    recall: Option<Recall>,
    models: Option<ModelProxy>,
    gh: Option<Gh>,
    server: Option<Server>,
    session: Option<String>,
    agent: Option<String>,
    walls: Option<String>,
    warnings: Vec<String>,
}

impl Workplace {
    /// Makes the folder; nothing else happens yet.
    pub(crate) fn open(settings: &Settings) -> Result<Self, Fault> {
        let folder = tempfile::Builder::new().prefix("fro-bot-").tempdir_in(&settings.scratch);
        let folder = folder.map_err(|error| {
            let what = format!("cannot make a folder in `{}`: {error}", settings.scratch.display());
            Fault::yours(what, "see that the folder for temporary files can be written and has room")
        })?;
        Ok(Self {
            house: House::at(folder.path()),
            folder,
            memory: settings.memory.clone(),
            engine: None,
            recall: None,
            models: None,
            gh: None,
            server: None,
            session: None,
            agent: None,
            walls: None,
            warnings: Vec::new(),
        })
    }

    /// Brings the engine and the memory, both at once.
    pub(crate) async fn prepare(&mut self, settings: &Settings, tell: Tell<'_>) -> Result<(), Fault> {
        let (engine, recall) =
            tokio::join!(install(settings, tell), recall(self.memory.clone(), self.house.data()));
        match recall {
            Ok(recall) => {
                tell(News::Recalled(recall.clone()));
                if let Recall::Damaged { why } = &recall {
                    self.warnings.push(format!(
                        "the memory was damaged ({why}) and set aside; this run began without it"
                    ));
                }
                self.recall = Some(recall);
            }
            Err(why) => self.warn(tell, format!("the memory could not be read: {why}")),
        }
        let engine = engine?;
        tell(News::Installed { version: engine.version.to_owned(), binary: engine.binary.clone() });
        self.engine = Some(engine);
        Ok(())
    }

    /// Starts the engine behind its wall and has one turn with it.
    pub(crate) async fn converse(&mut self, asked: &Asked<'_>, prompt: &Prompt) -> Result<Turn, Fault> {
        let (settings, tell) = (asked.settings, asked.tell);
        let engine =
            self.engine.clone().ok_or_else(|| Fault::ours("the engine was asked before it was prepared"))?;
        let models = models::open(settings).await?;
        let gh = Gh::open(settings, asked.permit, self.folder.path())?;
        let offers = Offers {
            connect: vec![Address::Tcp(models.address()), gh.address()],
            environment: gh.environment(),
        };
        let launch = self.launch(settings, engine, offers, models.engine_config())?;
        (self.models, self.gh) = (Some(models), Some(gh));
        let server = self.server.insert(Server::start(launch).await.map_err(|error| error.fault())?);
        tell(News::EngineUp { walls: self.walls.clone().unwrap_or_default() });

        let directory = &settings.workspace;
        let agents = server.agents(directory).await.map_err(|error| error.fault())?;
        let primary: Vec<_> =
            agents.iter().filter(|agent| agent.is_primary()).map(|agent| agent.name.as_str()).collect();
        let choice = agent::choose(settings.engine.agent.as_deref(), &primary);
        let choice = choice.ok_or_else(|| Fault::ours("the engine offers no agent that could be asked"))?;
        let title = format!("{} of {}", asked.permit.subject(), asked.permit.repo());
        let session = server.create_session(directory, &title).await.map_err(|error| error.fault())?;
        tell(News::Session { id: session.id.clone(), agent: choice.agent.clone() });
        self.session = Some(session.id.clone());
        self.agent = Some(choice.agent.clone());

        let model = settings.engine.model.as_deref().and_then(ModelName::parse);
        let message = Message { text: prompt.render(), files: Vec::new(), agent: Some(choice.agent), model };
        let deadline = settings.engine.timeout.and_then(|timeout| settings.began.checked_add(timeout).ok());
        let limits = Limits { deadline, steps: settings.engine.max_steps, ..Limits::default() };
        let listen = &mut |heard: &Heard| tell(News::Heard(heard.clone()));
        let answered = ask::ask(server, session, &message, (&limits, settings.engine.pause), listen).await;
        self.session = Some(answered.session.id);
        for warning in answered.warnings {
            self.warn(tell, warning);
        }
        if let Some(warning) = choice.warning {
            self.warn(tell, warning);
        }
        Ok(answered.turn)
    }

    fn launch(
        &mut self,
        settings: &Settings,
        engine: Engine,
        offers: Offers,
        config: Value,
    ) -> Result<Launch, Fault> {
        let wall = wall::around(self.folder.path(), settings, &engine, offers)?;
        self.walls = Some(wall.told);
        Ok(Launch {
            config,
            environment: wall.environment,
            wrap: wall.command,
            ..Launch::new(engine, &settings.workspace, self.house.clone())
        })
    }

    /// Stops the engine, keeps what it knows and removes the folder.
    pub(crate) async fn close(mut self, tell: Tell<'_>) -> Result<(), Fault> {
        if let Some(server) = self.server.take() {
            server.stop().await;
            tell(News::EngineStopped);
            self.account();
            match self.keep().await {
                Ok(Some(kept)) => tell(News::Kept(kept)),
                Ok(None) => {}
                Err(why) => tell(News::Warning(format!("the memory was not saved: {why}"))),
            }
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
        if let Some(GhCalls { passed, refused }) = self.gh.as_ref().map(Gh::calls) {
            tracing::info!(passed, refused, "gh: {passed} requests passed, {refused} refused");
        }
    }

    async fn keep(&self) -> Result<Option<Kept>, String> {
        let (Some(memory), Some(engine)) = (self.memory.clone(), &self.engine) else { return Ok(None) };
        let provenance = Provenance {
            now: Timestamp::now(),
            engine_version: engine.version.to_owned(),
            parent: self.recall.as_ref().and_then(Recall::head).cloned(),
        };
        let data = self.house.data();
        blocking(move || {
            let folder = Folder::open(&memory)?;
            fro_memory::keep(&folder, &data, &provenance)
        })
        .await
        .map(Some)
    }

    fn warn(&mut self, tell: Tell<'_>, warning: String) {
        tell(News::Warning(warning.clone()));
        self.warnings.push(warning);
    }

    /// Returns what the summary says of the walls.
    pub(crate) fn walls(&self) -> String {
        self.walls.clone().unwrap_or_else(|| "the engine was not started".to_owned())
    }

    /// Returns what the summary says of the memory.
    pub(crate) fn memory(&self) -> String {
        match (&self.memory, &self.recall) {
            (None, _) => "none is kept".to_owned(),
            (Some(_), None) => "not looked up".to_owned(),
            (Some(_), Some(Recall::Cold)) => "miss (first run)".to_owned(),
            (Some(_), Some(Recall::Warm { sessions, .. })) => format!("hit, {sessions} sessions"),
            (Some(_), Some(Recall::Damaged { .. })) => "damaged, began without it".to_owned(),
        }
    }

    /// Returns the engine's session, if one was opened.
    pub(crate) fn session(&self) -> Option<String> {
        self.session.clone()
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

async fn install(settings: &Settings, tell: Tell<'_>) -> Result<Engine, Fault> {
    let road = Road::new(settings.road.clone()).map_err(|error| error.fault())?;
    let wanted = Wanted::pinned(settings.engine.environment.clone(), road);
    let cache = ToolCache::new(&settings.engine.tool_cache);
    let progress = &mut |progress| tell(News::Installing(progress));
    fro_opencode::install(&wanted, &cache, progress).await.map_err(|error| error.fault())
}

async fn recall(memory: Option<PathBuf>, data: PathBuf) -> Result<Recall, String> {
    let Some(memory) = memory else { return Ok(Recall::Cold) };
    blocking(move || {
        let folder = Folder::open(&memory)?;
        fro_memory::recall(&folder, &data)
    })
    .await
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

/// Gives blocking work a thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, fro_memory::Error> + Send + 'static,
) -> Result<T, String> {
    let done = spawn_blocking(work).await.map_err(|error| error.to_string())?;
    done.map_err(|error| error.to_string())
}
