//! The engine at work: started behind its wall with what it may use, asked, and stopped.

use std::{path::Path, sync::Arc, time::Duration};

use fro_boundary::{Address, Deeds, Enclosure, GhCalls, Halt, ModelProxy, Spent, StillRunning};
use fro_core::{
    Bounded, Drafts, Fault,
    agent::{self, Choice},
    continuity::Continuity,
    conversation::{
        Limits,
        heard::Heard,
        outcome::{Outcome, Usage},
    },
};
use fro_opencode::{Engine, EngineHome, File, Launch, Message, ModelName, Omo, Server, Session};
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    answer::Asked,
    ask,
    gh::Gh,
    install,
    memory::SessionArchive,
    network::Network,
    progress::Progress,
    repository::Repository,
    review::ReviewTools,
    tool_server::{self, ToolServer},
    wall::{self, Offers},
};

/// So many lines that a failing engine printed are logged.
const LAST_WORDS: usize = 20;

/// What the engine is started with: itself, what is loaded into it, and where it works.
pub(crate) struct Prepared {
    pub(crate) engine: Engine,
    pub(crate) omo: Option<Omo>,
    pub(crate) repository: Repository,
    /// What can stand around the wall.
    pub(crate) enclosure: Enclosure,
    pub(crate) models: Arc<ModelProxy>,
    /// What it took to find out what the request means.
    pub(crate) judged: Spent,
}

impl Prepared {
    /// Returns what was asked of models before the engine came.
    pub(crate) fn judged_usage(&self) -> Usage {
        let Spent { calls, input, output, cost, .. } = self.judged;
        Usage { calls, input, output, cost, ..Usage::default() }
    }
}

/// What it finds at its place.
pub(crate) struct Place<'a> {
    /// The folder that is the engine's own.
    pub(crate) home: &'a Path,
    pub(crate) engine_home: EngineHome,
    /// A folder that it cannot reach.
    pub(crate) private: &'a Path,
    pub(crate) archive: SessionArchive,
    pub(crate) drafts: Drafts,
    pub(crate) deeds: Deeds,
    /// Makes it a reviewer's.
    pub(crate) review: Option<Reviewing>,
}

/// What makes an engine a reviewer's: its tools, and what it is told before anything else.
#[derive(Clone)]
pub(crate) struct Reviewing {
    pub(crate) tools: Arc<ReviewTools>,
    pub(crate) instructions: String,
}

/// The only agent of a reviewer's engine.
const REVIEWER: &str = "reviewer";

/// A running engine and what serves it.
pub(crate) struct RunningEngine {
    server: Server,
    models: Arc<ModelProxy>,
    gh: Gh,
    network: Option<Network>,
    tools: ToolServer,
    walls: String,
    /// Why Oh My OpenCode was not loaded although it is there.
    left_out: Option<String>,
    /// The only agent there is, if no other may be asked.
    only: Option<&'static str>,
    choice: Option<Choice>,
    explorations: u32,
}

impl RunningEngine {
    /// Opens all that the engine may use, and starts it.
    pub(crate) async fn open(
        asked: &Asked<'_>,
        prepared: &Prepared,
        place: Place<'_>,
    ) -> Result<Self, Fault> {
        let settings = asked.settings();
        let Prepared { engine, omo, repository, .. } = prepared;
        let models = Arc::clone(&prepared.models);
        let gh = Gh::open(asked.process, asked.permit, place.home, place.private, place.deeds)?;
        let reviewing = place.review.as_ref().map(|review| Arc::clone(&review.tools));
        let tools = ToolServer::open(place.private, (place.archive, place.drafts), reviewing)?;
        let connect =
            vec![Address::Tcp(models.address()), gh.address(), tools.address(), repository.address()];
        let network = Network::open(settings, asked.permit).await?;
        let mut offers = Offers {
            connect,
            environment: [gh.environment(), repository.environment()].concat(),
            read: repository.objects(),
        };
        if let Some(network) = &network {
            network.offer(&mut offers);
        }
        let wall = wall::around(place.home, settings, asked.occasion, prepared, offers)?;
        let config = match &place.review {
            Some(review) => fro_opencode::read_only(models.engine_config(), REVIEWER, &review.instructions),
            None => models.engine_config(),
        };
        let launch = Launch {
            config,
            catalogue: models.engine_catalogue(),
            tools: tools.servers(&settings.engine.program),
            omo: omo.clone().filter(|_| place.review.is_none()),
            environment: wall.environment,
            wrap: wall.command,
            ..Launch::new(engine.clone(), repository.folder(), place.engine_home)
        };
        let (server, left_out) = start(launch, settings.engine.omo_patience).await?;
        (asked.tell)(Progress::EngineUp { walls: wall.told.clone() });
        let (walls, choice, explorations) = (wall.told, None, 0);
        let only = place.review.map(|_| REVIEWER);
        Ok(Self { server, models, gh, network, tools, walls, left_out, only, choice, explorations })
    }

    /// Chooses the agent, and takes up the session or begins one.
    pub(crate) async fn begin(
        &mut self,
        asked: &Asked<'_>,
        prepared: &Prepared,
        (continuity, title): (Option<&Continuity>, &str),
    ) -> Result<Session, Fault> {
        let directory = prepared.repository.folder().to_owned();
        let usual = prepared.omo.as_ref().filter(|_| self.left_out.is_none()).map(|_| install::SISYPHUS);
        let wanted = self.only.or(asked.settings().engine.agent.as_deref()).or(usual);
        let choice = choice(&self.server, &directory, wanted).await?;
        let session = match continuity {
            Some(Continuity::Continued(id)) => Session { id: id.clone(), directory },
            Some(Continuity::Fresh(_)) | None => {
                self.server.create_session(&directory, title).await.map_err(|error| error.fault())?
            }
        };
        (asked.tell)(Progress::Session { id: session.id.clone(), agent: choice.agent.clone() });
        self.tools.serve(&session.id);
        self.choice = Some(choice);
        Ok(session)
    }

    /// Asks, and listens to the end.
    pub(crate) async fn ask(
        &mut self,
        asked: &Asked<'_>,
        session: Session,
        (text, files): (String, Vec<File>),
    ) -> ask::Asked {
        let settings = asked.settings();
        let model = settings.engine.model.as_deref().and_then(ModelName::parse);
        let agent = self.agent().map(str::to_owned);
        let message = Message { text, files, agent, model };
        let explorations = &mut self.explorations;
        let listen = &mut |heard: &Heard| {
            *explorations += u32::from(heard.explores());
            (asked.tell)(Progress::Heard(heard.clone()));
        };
        let bounds = (&limits(asked), settings.engine.pause);
        let mut answered = ask::ask(&self.server, session, &message, bounds, listen).await;
        let chosen = self.choice.as_ref().and_then(|choice| choice.warning.clone());
        answered.warnings.extend(self.left_out.clone().into_iter().chain(chosen));
        if let Outcome::Failed { .. } = answered.turn.outcome {
            self.log_last_words();
        }
        answered
    }

    /// Logs the end of what the engine printed, which may be all there is to know of its failure.
    fn log_last_words(&self) {
        let printed = self.server.output();
        let lines: Vec<_> = printed.lines().collect();
        for line in &lines[lines.len().saturating_sub(LAST_WORDS)..] {
            tracing::warn!("the engine printed: {}", Bounded::text(line, 300).value());
        }
    }

    /// Brings everything behind the wall to a stand. What does not freeze is ended; only what is known to have been
    /// swept is believed to be gone.
    pub(crate) async fn halt(&mut self) -> Result<Halt, StillRunning> {
        if let Some(status) = self.server.ended() {
            return Halt::ended(status);
        }
        let frozen = match self.server.pid() {
            Some(wall) => Halt::freeze(wall).await,
            None => return Err(StillRunning::unseen()),
        };
        match frozen {
            Ok(halt) => Ok(halt),
            Err(why) => {
                tracing::warn!("the engine is ended: {why}");
                self.server.end().await.map_or(Err(why), Halt::ended)
            }
        }
    }

    /// Writes something into a session that nobody answers.
    pub(crate) async fn note(&self, session: &Session, text: &str) -> Result<(), String> {
        self.server.note(session, text).await.map_err(|error| error.to_string())
    }

    /// Returns a session as a share host takes it.
    pub(crate) async fn export(&self, session: &Session) -> Result<Vec<Value>, String> {
        self.server.export(session).await.map_err(|error| error.to_string())
    }

    /// Stops the engine, and logs what was used.
    pub(crate) async fn close(self) {
        self.server.stop().await;
        let Spent { calls, refused, input, output, cost } = self.models.spent();
        tracing::info!(
            calls,
            refused,
            "{calls} answers of models: {input} tokens read, {output} written, ${cost:.4}; {refused} requests refused"
        );
        let tool_server::Asked { searches, reads } = self.tools.asked();
        tracing::info!(searches, reads, "memory: the agent searched {searches} times and read {reads} times");
    }

    /// Returns what stands around the engine, in words.
    pub(crate) fn walls(&self) -> &str {
        &self.walls
    }

    /// Returns how often `gh` was used, if it was.
    pub(crate) fn gh(&self) -> Option<String> {
        let calls = self.gh.calls();
        (calls != GhCalls::default()).then(|| calls.to_string())
    }

    /// Returns how often the network was used, if any was open.
    pub(crate) fn network(&self) -> Option<String> {
        self.network.as_ref().map(|network| network.calls().to_string())
    }

    /// Returns the agent that was asked, if it came so far.
    pub(crate) fn agent(&self) -> Option<&str> {
        Some(&self.choice.as_ref()?.agent)
    }

    /// Returns how often the agent asked what is remembered.
    pub(crate) fn asked_of_memory(&self) -> tool_server::Asked {
        self.tools.asked()
    }

    /// Returns how often the agent looked around in the code.
    pub(crate) fn explorations(&self) -> u32 {
        self.explorations
    }

    /// Returns what was refused and what cannot be reached, for a maintainer.
    pub(crate) fn refusals(&self) -> Vec<String> {
        let models = (self.models.spent().refused, "the model proxy refused", "requests; the log says which");
        let gh = (self.gh.calls().refused, "gh was refused", "times; the log says what");
        let some = [models, gh].into_iter().filter(|(refused, ..)| *refused > 0);
        let some = some.map(|(refused, who, what)| format!("{who} {refused} {what}"));
        some.chain(self.network.iter().flat_map(|network| network.warnings.clone())).collect()
    }
}

/// Starts the engine. If it does not get ready with Oh My OpenCode in it, it is started again without, and that is said.
async fn start(launch: Launch, patience: Duration) -> Result<(Server, Option<String>), Fault> {
    let server = Server::start(launch.clone()).await.map_err(|error| error.fault())?;
    if launch.omo.is_none() {
        return Ok((server, None));
    }
    let why = match timeout(patience, server.agents(&launch.directory)).await {
        Ok(Ok(_)) => return Ok((server, None)),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("the engine was not ready with it after {} s", patience.as_secs()),
    };
    server.stop().await;
    let server = Server::start(Launch { omo: None, ..launch }).await.map_err(|error| error.fault())?;
    Ok((server, Some(install::left_out(&why))))
}

/// Chooses the agent to ask among those that the engine offers.
async fn choice(server: &Server, directory: &Path, wanted: Option<&str>) -> Result<Choice, Fault> {
    let agents = server.agents(directory).await.map_err(|error| error.fault())?;
    let primary: Vec<_> =
        agents.iter().filter(|agent| agent.is_primary()).map(|agent| agent.name.as_str()).collect();
    agent::choose(wanted, &primary)
        .ok_or_else(|| Fault::ours("the engine offers no agent that could be asked"))
}

/// Returns the bounds of the run's turns; the clock began to run with the run.
fn limits(asked: &Asked<'_>) -> Limits {
    let engine = &asked.settings().engine;
    let deadline = engine.timeout.and_then(|timeout| asked.occasion.began.checked_add(timeout).ok());
    Limits { deadline, steps: engine.max_steps, ..Limits::default() }
}
