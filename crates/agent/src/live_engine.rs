//! The engine at work: started behind its wall with what it may use, and stopped.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use fro_boundary::{Address, Deeds, GhCalls, Halt, ModelProxy, Spent, StillRunning, WallProcess};
use fro_core::{Drafts, Fault};
use fro_opencode::{Connection, EngineHome, Launch, People, Server};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    callers::Callers,
    gh::Gh,
    install,
    job::Scope,
    memory::{Record, SessionArchive},
    network::Network,
    opened::Preparation,
    session::{Plan, Session, SessionOrder},
    tool_server::ToolServer,
    tools::ToolList,
    wall::{self, WallOpenings},
};

/// What the engine finds when it starts.
pub(crate) struct EngineSetup<'a> {
    /// The folder that is the engine's own.
    pub(crate) home: &'a Path,
    pub(crate) engine_home: EngineHome,
    /// A folder that it cannot reach.
    pub(crate) private: &'a Path,
    pub(crate) memory: Remembered,
    pub(crate) offer: Offer,
}

/// What the models of an engine are offered, and who they are.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The sets of tools of ours.
    pub tools: Vec<ToolList>,
    /// Who is asked.
    pub role: Role,
    /// The people whom the engine can ask in its turn, if there are any.
    pub people: Option<People>,
}

/// Who is asked in an engine.
#[derive(Debug, Clone)]
pub enum Role {
    /// An agent of the operator's configuration.
    Configured,
    /// One that can only look, with instructions of its own. There is no other.
    Reader {
        /// What it is called.
        name: &'static str,
        /// What it is told before anything else.
        instructions: String,
    },
}

impl Offer {
    /// The agent that the operator configured, with memory and draft.
    pub fn usual() -> Self {
        Self { tools: ToolList::usual(), role: Role::Configured, people: None }
    }
}

/// What the sessions of an engine have of its memory.
#[derive(Clone)]
pub(crate) struct Remembered {
    pub(crate) archive: Arc<SessionArchive>,
    pub(crate) record: Arc<Record>,
    /// Whether there was a memory to begin with.
    pub(crate) is_warm: bool,
}

/// A running engine and what serves it. Sessions are opened here.
pub(crate) struct LiveEngine<'a> {
    scope: Scope<'a>,
    server: Server,
    models: Arc<ModelProxy>,
    gh: Gh,
    network: Option<Network>,
    _tools: ToolServer,
    _listening: AbortOnDropHandle<()>,
    _tools_start: AbortOnDropHandle<()>,
    walls: String,
    pub(crate) engine: EngineAccess,
    /// The drafts that `gh` writes to; they become those of the first session.
    first_drafts: Mutex<Option<Drafts>>,
}

/// What sessions need of their engine.
#[derive(Clone)]
pub(crate) struct EngineAccess {
    pub(crate) connection: Connection,
    pub(crate) callers: Arc<Callers>,
    pub(crate) memory: Remembered,
    /// Where the agent works.
    pub(crate) directory: std::path::PathBuf,
    /// The only agent there is, if no other may be asked.
    pub(crate) only_agent: Option<&'static str>,
    /// The agent that is asked if the operator names none.
    pub(crate) usual_agent: Option<&'static str>,
    /// Why Oh My OpenCode was not loaded although it is there.
    pub(crate) left_out: Option<String>,
}

impl<'a> LiveEngine<'a> {
    /// Opens all that the engine may use, and starts it.
    pub(crate) async fn start(
        scope: Scope<'a>,
        preparation: &Preparation,
        setup: EngineSetup<'_>,
        deeds: impl FnOnce(Drafts, Arc<Callers>) -> Deeds,
    ) -> Result<Self, Fault> {
        let (callers, drafts, settings) = (Arc::<Callers>::default(), Drafts::default(), scope.settings());
        let (models, Offer { tools, role, people }) = (Arc::clone(&preparation.models), setup.offer);
        let deeds = deeds(drafts.clone(), Arc::clone(&callers));
        let gh = Gh::open(scope.process, scope.permit(), setup.home, setup.private, deeds)?;
        let tools = ToolServer::open(setup.private, tools, Arc::clone(&callers))?;
        let network = Network::open(settings, scope.permit()).await?;
        let openings = openings(preparation, (&models, &gh, &tools), network.as_ref());
        let wall = wall::around(setup.home, scope, preparation, openings)?;
        let directory = preparation.repository.folder().to_owned();
        let (config, omo, only_agent) = match role {
            Role::Configured => (models.engine_config(), preparation.omo.clone(), None),
            Role::Reader { name, instructions } => {
                (fro_opencode::read_only(models.engine_config(), name, &instructions), None, Some(name))
            }
        };
        let usual_agent = omo.as_ref().map(|_| install::SISYPHUS);
        let launch = Launch {
            config,
            catalogue: models.engine_catalogue(),
            tools: tools.servers(&settings.engine.program),
            omo,
            environment: wall.environment,
            wrap: wall.command,
            people,
            ..Launch::new(preparation.engine.clone(), &directory, setup.engine_home)
        };
        let (server, left_out) = start(launch, settings.engine.omo_patience).await?;
        let connection = server.connection().clone();
        let usual_agent = usual_agent.filter(|_| left_out.is_none());
        let listening = callers.listen(&connection);
        let tools_start = start_tools(&connection, &directory);
        let memory = setup.memory;
        let engine =
            EngineAccess { connection, callers, memory, directory, only_agent, usual_agent, left_out };
        Ok(Self {
            scope,
            server,
            models,
            gh,
            network,
            _tools: tools,
            _listening: listening,
            _tools_start: tools_start,
            walls: wall.told,
            engine,
            first_drafts: Mutex::new(Some(drafts)),
        })
    }

    /// Opens a session, or goes on in an earlier one. It has its own tools, drafts and meter; clone, wall, network and
    /// `gh` are the engine's, so its permit has to be of the same repository and of the same reach.
    pub(crate) async fn open_session(&self, plan: Plan) -> Result<Session<'a>, Fault> {
        self.scope.job.admits(&plan.permit)?;
        let drafts = self.first_drafts.lock().unwrap_or_else(PoisonError::into_inner).take();
        let order = if drafts.is_some() { SessionOrder::First } else { SessionOrder::Later };
        let drafts = drafts.unwrap_or_default();
        Box::pin(Session::open(self.scope, self.engine.clone(), plan, (drafts, order))).await
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
                tracing::warn!("the engine is ended by force: {why}");
                self.server.end().await.map_or(Err(why), Halt::ended)
            }
        }
    }

    /// Stops the engine and logs what was used. What is returned proves that nothing behind the wall is left.
    pub(crate) async fn stop(self) -> Result<Halt, StillRunning> {
        let status = self.server.stop().await;
        let Spent { calls, refused, input, output, cost } = self.models.spent();
        tracing::info!(
            calls,
            refused,
            "{calls} answers of models: {input} tokens read, {output} written, ${cost:.4}; {refused} requests refused"
        );
        status.map_or_else(|| Err(StillRunning::unseen()), Halt::ended)
    }

    /// Returns the wall's first process, by which a later step knows whether it is gone.
    pub(crate) fn wall_process(&self) -> Option<WallProcess> {
        self.server.pid().and_then(WallProcess::find)
    }

    /// Describes the walls around the engine.
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

    /// Returns what was refused and what cannot be reached, for a maintainer.
    pub(crate) fn refusals(&self) -> Vec<String> {
        let models = (self.models.spent().refused, "the model proxy refused", "requests; the log says which");
        let gh = (self.gh.calls().refused, "gh was refused", "times; the log says what");
        let some = [models, gh].into_iter().filter(|(refused, ..)| *refused > 0);
        let some = some.map(|(refused, who, what)| format!("{who} {refused} {what}"));
        some.chain(self.network.iter().flat_map(|network| network.warnings.clone())).collect()
    }
}

/// Returns where the engine may connect to, and what leads it there.
fn openings(
    preparation: &Preparation,
    (models, gh, tools): (&ModelProxy, &Gh, &ToolServer),
    network: Option<&Network>,
) -> WallOpenings {
    let repository = &preparation.repository;
    let mut openings = WallOpenings {
        connect: vec![Address::Tcp(models.address()), gh.address(), tools.address(), repository.address()],
        environment: [gh.environment(), repository.environment()].concat(),
        read: repository.objects(),
    };
    if let Some(network) = network {
        network.offer(&mut openings);
    }
    openings
}

/// Lets the engine start its servers of tools while the session is opened: that takes as long, and waits for other things.
fn start_tools(connection: &Connection, directory: &Path) -> AbortOnDropHandle<()> {
    let (connection, directory) = (connection.clone(), directory.to_owned());
    AbortOnDropHandle::new(tokio::spawn(async move {
        if let Err(error) = connection.start_tools(&directory).await {
            tracing::debug!("the servers of tools start with the first question: {error}");
        }
    }))
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
