//! One conversation in a running engine: asked as often as one likes, with its own tools, drafts, meter and permit.

use std::sync::Arc;

use fro_core::{
    Bounded, Drafts, Fault, Permit,
    agent::{self, Choice},
    attachment::GivenFile,
    continuity::Continuity,
    conversation::{
        Limits,
        heard::Heard,
        outcome::{Outcome, Turn, Usage},
    },
};
use fro_memory::Figures;
use fro_opencode::{File, Message, ModelName};
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    ask,
    callers::ToolRegistration,
    job::{Origin, Scope},
    live_engine::EngineAccess,
    memory::{FinishedTurn, RowOwner},
    settings::Settings,
    step::Step,
    tools::{DraftTools, MemoryCalls, MemoryMeter, MemoryTools, Tools},
};

/// So many lines that a failing engine printed are logged.
const LAST_WORDS: usize = 20;

/// What a session is opened for.
pub struct Plan {
    /// Whose words it is for.
    pub permit: Permit,
    /// The run that it serves.
    pub origin: Origin,
    /// Which session it continues; a new one if nobody says.
    pub continuity: Option<Continuity>,
    /// Whether it goes on in the earlier session itself.
    pub resume: Resume,
    /// What a new session is called.
    pub title: String,
    /// The sessions that were recalled for it, for the ledger.
    pub recalled: Vec<String>,
    /// Its tools besides memory and draft, for the lists that the engine was started with.
    pub tools: Vec<Arc<dyn Tools>>,
}

/// How an earlier session is continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// The earlier session itself grows.
    InPlace,
    /// The earlier session stays as it is, and a copy of it grows.
    InACopy,
}

/// Whether an engine had sessions before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionOrder {
    /// It had none: nobody behind the wall has said a word.
    First,
    /// The engine had sessions before.
    Later,
}

/// What is asked.
pub struct Question {
    /// The words, as the model gets them.
    pub text: String,
    /// What goes with them.
    pub files: Vec<GivenFile>,
    /// When the clock of the time limit began to run.
    pub began: Timestamp,
}

/// A session of a running engine. Dropping it takes its tools away.
pub struct Session<'a> {
    scope: Scope<'a>,
    engine: EngineAccess,
    permit: Permit,
    origin: Origin,
    /// The earlier session that it goes on in.
    continued: Option<String>,
    recalled: Vec<String>,
    place: fro_opencode::Session,
    registration: ToolRegistration,
    choice: Choice,
    drafts: Drafts,
    meter: Arc<MemoryMeter>,
    usage: Usage,
    explorations: u32,
    warnings: Vec<String>,
}

impl<'a> Session<'a> {
    pub(crate) async fn open(
        scope: Scope<'a>,
        engine: EngineAccess,
        plan: Plan,
        (drafts, order): (Drafts, SessionOrder),
    ) -> Result<Self, Fault> {
        let Plan { permit, origin, continuity, resume, title, recalled, tools } = plan;
        let choice = choose_agent(&engine, scope.settings()).await?;
        let continued = continuity.as_ref().and_then(Continuity::session).map(str::to_owned);
        let place = open_place(&engine, (continued.clone(), resume), &title).await?;
        (scope.tell)(Step::Session { id: place.id.clone(), agent: choice.agent.clone() });
        let meter = Arc::<MemoryMeter>::default();
        let (archive, own) = (Arc::clone(&engine.memory.archive), place.id.clone());
        let memory: Arc<dyn Tools> = Arc::new(MemoryTools { archive, meter: Arc::clone(&meter), own });
        let draft: Arc<dyn Tools> = Arc::new(DraftTools(drafts.clone()));
        let registration = engine.callers.register(&place.id, [vec![memory, draft], tools].concat());
        let warnings = engine.left_out.iter().chain(&choice.warning).cloned().collect();
        let mut session = Self {
            scope,
            permit,
            origin,
            continued,
            recalled,
            place,
            registration,
            choice,
            drafts,
            meter,
            usage: Usage::default(),
            explorations: 0,
            warnings,
            engine,
        };
        for warning in &session.warnings {
            (scope.tell)(Step::Warning(warning.clone()));
        }
        if order == SessionOrder::First
            && let Err(why) = session.engine.memory.record.set_apart().await
        {
            session.warn(why);
        }
        session.record_start().await;
        Ok(session)
    }

    /// Asks, and listens to the end. A full session is replaced by a new one, and a model that breaks off is asked again.
    pub async fn ask(&mut self, question: Question) -> Turn {
        let engine = &self.scope.settings().engine;
        let deadline = engine.timeout.and_then(|timeout| question.began.checked_add(timeout).ok());
        let limits = Limits { deadline, steps: engine.max_steps, ..Limits::default() };
        let model = self.scope.settings().model_of(&self.choice.agent);
        let model = model.as_deref().and_then(ModelName::parse);
        let agent = Some(self.choice.agent.clone());
        let files = question.files.into_iter();
        let files = files.map(|GivenFile { name, mime, bytes }| File { name, mime: mime.to_owned(), bytes });
        let message = Message { text: question.text, files: files.collect(), agent, model };
        let (tell, explorations) = (self.scope.tell, &mut self.explorations);
        let listen = &mut |heard: &Heard| {
            *explorations += u32::from(heard.explores());
            tell(Step::Heard(heard.clone()));
        };
        let (place, how) = (self.place.clone(), ((&limits, engine.pause), &self.registration));
        let answered = ask::ask(&self.engine.connection, place, &message, how, listen).await;
        answered.warnings.into_iter().for_each(|warning| self.warn(warning));
        if answered.session.id != self.place.id {
            self.place = answered.session;
            self.record_start().await;
        }
        if let Outcome::Failed { .. } = answered.turn.outcome {
            self.log_last_words();
        }
        self.usage += answered.turn.usage;
        answered.turn
    }

    /// Writes down what came of a turn, in the ledger and in the session itself.
    pub async fn record(&mut self, turn: &Turn, links: Vec<String>) {
        let MemoryCalls { searches, reads } = self.memory_calls();
        tracing::info!(searches, reads, "memory: the agent searched {searches} times and read {reads} times");
        let figures = Figures {
            recalled: self.recalled.clone(),
            memory_calls: searches + reads,
            exploration_calls: self.explorations,
            is_warm: self.engine.memory.is_warm,
            ..Figures::default()
        };
        let row = self.row_owner().ended(&self.place.id, FinishedTurn { turn, links, figures });
        let noted = match self.engine.memory.record.end(row).await {
            Ok(note) => {
                let noted = self.engine.connection.note(&self.place, &note).await;
                noted.map_err(|error| error.to_string())
            }
            Err(why) => Err(why),
        };
        if let Err(why) = noted {
            self.warn(format!("the run was not written down: {why}"));
        }
    }

    /// Returns the session as a share host takes it.
    pub async fn export(&self) -> Result<Vec<Value>, String> {
        self.engine.connection.export(&self.place).await.map_err(|error| error.to_string())
    }

    /// Returns the engine's id of the session.
    pub fn id(&self) -> &str {
        &self.place.id
    }

    /// Returns the earlier session that it goes on in, if it does.
    pub fn continued(&self) -> Option<&str> {
        self.continued.as_deref()
    }

    /// Returns whose words it is for.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// Returns the agent that is asked.
    pub fn agent(&self) -> &str {
        &self.choice.agent
    }

    /// Returns what was handed in as the answer.
    pub fn drafts(&self) -> &Drafts {
        &self.drafts
    }

    /// Returns what all its turns took, by the engine's account of its own and its children's messages.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns how often its agent asked what is remembered.
    pub fn memory_calls(&self) -> MemoryCalls {
        self.meter.read()
    }

    /// Returns the sessions that were recalled for it.
    pub fn recalled(&self) -> &[String] {
        &self.recalled
    }

    /// Returns what a maintainer should know.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn row_owner(&self) -> RowOwner<'_> {
        RowOwner { permit: &self.permit, origin: &self.origin, audience: self.scope.job.audience }
    }

    /// Makes the session known, also to the step after a killed run.
    async fn record_start(&mut self) {
        let row = self.row_owner().begun(&self.place.id);
        if let Err(why) = self.engine.memory.record.begin(&self.place.id, row).await {
            self.warn(why);
        }
    }

    fn warn(&mut self, warning: String) {
        (self.scope.tell)(Step::Warning(warning.clone()));
        self.warnings.push(warning);
    }

    /// Logs the end of what the engine printed, which may be all there is to know of its failure.
    fn log_last_words(&self) {
        let printed = self.engine.connection.output();
        let lines: Vec<_> = printed.lines().collect();
        for line in &lines[lines.len().saturating_sub(LAST_WORDS)..] {
            tracing::warn!("the engine printed: {}", Bounded::text(line, 300).value());
        }
    }
}

/// Goes on in an earlier session, or begins one.
async fn open_place(
    engine: &EngineAccess,
    (continued, resume): (Option<String>, Resume),
    title: &str,
) -> Result<fro_opencode::Session, Fault> {
    let directory = engine.directory.clone();
    if let Some(id) = continued {
        let earlier = fro_opencode::Session { id, directory };
        return match resume {
            Resume::InPlace => Ok(earlier),
            Resume::InACopy => engine.connection.fork(&earlier).await.map_err(|error| error.fault()),
        };
    }
    engine.connection.create_session(&directory, title).await.map_err(|error| error.fault())
}

/// Chooses the agent to ask among those that the engine offers.
async fn choose_agent(engine: &EngineAccess, settings: &Settings) -> Result<Choice, Fault> {
    // The models are wanted when the question is put. The engine finds both out at once in the time that one takes.
    let (agents, _models) = tokio::join!(
        engine.connection.agents(&engine.directory),
        engine.connection.models(&engine.directory)
    );
    let agents = agents.map_err(|error| error.fault())?;
    let primary: Vec<_> =
        agents.iter().filter(|agent| agent.is_primary()).map(|agent| agent.name.as_str()).collect();
    let wanted = engine.only_agent.or(settings.engine.agent.as_deref()).or(engine.usual_agent);
    agent::choose(wanted, &primary)
        .ok_or_else(|| Fault::ours("the engine offers no agent that could be asked"))
}
