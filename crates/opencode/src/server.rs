//! One engine process that serves many sessions: started with care, spoken to over loopback, stopped with nothing left.

mod client;
mod export;
mod process;
mod stream;

use std::{
    ffi::OsString,
    net::{Ipv4Addr, TcpListener},
    ops::Deref,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::Arc,
    time::Duration,
};

use serde_json::Value;
use tokio::{
    sync::broadcast,
    time::{self, Instant},
};
use tracing::{info, warn};

use crate::{
    config::{self, McpServer},
    engine_home::{self, EngineHome},
    error::Error,
    event::{Event, ToolCall},
    install::Engine,
    omo::Omo,
    people::People,
    server::{
        client::EngineClient,
        process::{Printed, Process},
        stream::Stream,
    },
    wire::Agent,
};

pub use client::{File, Message, ModelName, Session};

/// Stands in [`Launch::wrap`] for the port, which is chosen later.
pub const PORT: &str = "{port}";

/// How often another free port is tried when somebody took ours between choosing and listening.
const PORTS: u32 = 5;

/// How often an engine is asked that should answer by now, or looked at that stops.
const LOOK: Duration = Duration::from_millis(10);

/// How often an engine that starts is looked at while it prints nothing.
const GLANCE: Duration = Duration::from_millis(250);

/// What the engine prints when it begins to answer.
const LISTENS: &str = "server listening on";

/// How long an engine is given to print that. One that says it in other words is asked from then on.
const UNTOLD: Duration = Duration::from_secs(5);

/// How long the answer to the first question may take.
const FIRST_ANSWER: Duration = Duration::from_secs(2);

/// How long the guard's words may take after the engine answers.
const GUARD_PATIENCE: Duration = Duration::from_secs(5);

/// What a server is started from.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The engine to start.
    pub engine: Engine,
    /// The folder it works in.
    pub directory: PathBuf,
    /// The folders it lives in.
    pub home: EngineHome,
    /// Its configuration; what could wait for a person, share or update is overruled.
    pub config: Value,
    /// The only models that it has to know, in place of its own catalogue of thousands.
    pub catalogue: Option<Value>,
    /// Servers for tools of ours, which no configuration can take away.
    pub tools: Vec<McpServer>,
    /// Oh My OpenCode, if it is to be loaded.
    pub omo: Option<Omo>,
    /// Its environment, complete but for what this crate adds.
    pub environment: Vec<(OsString, OsString)>,
    /// A command that the engine is started through; [`PORT`] in it becomes the engine's port.
    pub wrap: Vec<OsString>,
    /// The port it listens on, where somebody has to know beforehand; a free one otherwise.
    pub port: Option<u16>,
    /// Who is asked when it asks; without them it is refused what it would ask for.
    pub people: Option<People>,
    /// How long it may take until it answers.
    pub patience: Duration,
    /// How long it may take to stop at each step before force is used.
    pub grace: Duration,
}

impl Launch {
    /// The engine in this folder, with nothing but defaults.
    pub fn new(engine: Engine, directory: impl Into<PathBuf>, home: EngineHome) -> Self {
        Self {
            engine,
            directory: directory.into(),
            home,
            config: Value::Null,
            catalogue: None,
            tools: Vec::new(),
            omo: None,
            environment: Vec::new(),
            wrap: Vec::new(),
            port: None,
            people: None,
            patience: Duration::from_mins(2),
            grace: Duration::from_secs(5),
        }
    }
}

/// A running engine. Dropping it kills it; [`Server::stop`] is the friendly way. What is said to it goes over its
/// [`Connection`].
#[derive(Debug)]
pub struct Server {
    connection: Connection,
    process: Process,
    grace: Duration,
}

/// The way to speak with a running engine and to hear it. Clones are the same way; it leads nowhere once the engine is
/// stopped.
#[derive(Debug, Clone)]
pub struct Connection {
    client: EngineClient,
    stream: Arc<Stream>,
    printed: Printed,
    people: Option<People>,
}

impl Deref for Server {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Server {
    /// Starts an engine and returns once it answers and its events are heard.
    pub async fn start(launch: Launch) -> Result<Self, Error> {
        let home = &launch.home;
        let mut config = config::settle(
            launch.config.clone(),
            &launch.tools,
            launch.people.as_ref().map(|people| people.policy),
        );
        if let Some(omo) = &launch.omo {
            omo.join(&mut config);
        }
        let furnished = home.furnish(&launch, &config);
        furnished.map_err(|source| Error::Disk { deed: "furnish", path: home.home(), source })?;
        let mut tries = 0;
        loop {
            tries += 1;
            let port = match launch.port {
                Some(port) => port,
                None => free_port()?,
            };
            match Self::start_on(port, &launch, &config).await {
                Err(Error::PortTaken { .. }) if launch.port.is_none() && tries < PORTS => {
                    warn!(engine.port = port, "port {port} was taken by another program, trying another");
                }
                outcome => return outcome,
            }
        }
    }

    async fn start_on(port: u16, launch: &Launch, config: &Value) -> Result<Self, Error> {
        let password = process::password()?;
        let Launch { engine, home, .. } = launch;
        let mut environment = home.environment(launch, config, password.expose());
        environment.extend(launch.omo.iter().flat_map(|_| Omo::environment()));
        let began = Instant::now();
        let mut process = Process::spawn(launch, port, environment, &password)?;
        let client = EngineClient::new(port, password)?;
        wait_until_ready(&client, &mut process, port, launch).await?;
        let stream = Stream::open(client.clone(), process.life()).await?;
        let seconds = began.elapsed().as_secs_f32();
        info!(
            engine.port = port,
            engine.version = %engine.version,
            "the engine listens on port {port} after {seconds:.1} s"
        );
        let connection = Connection {
            client,
            stream: Arc::new(stream),
            printed: process.printed(),
            people: launch.people.clone(),
        };
        Ok(Self { connection, process, grace: launch.grace })
    }

    /// Returns the way to speak with it, for whoever outlives no engine but does not own it either.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The engine's process id, or that of the command it is wrapped in.
    pub fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    /// Returns how the engine ended, or the command it is wrapped in, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.ended()
    }

    /// Ends the engine and all that it started at once, without asking its sessions.
    pub async fn end(&mut self) -> Option<ExitStatus> {
        self.process.stop(self.grace).await;
        self.process.ended()
    }

    /// Stops the engine so that neither it nor anything it started stays behind.
    ///
    /// The engine does not end the commands of its sessions when it is told to stop, so the sessions are stopped first.
    /// Returns how it ended, or the command that it is wrapped in.
    pub async fn stop(mut self) -> Option<ExitStatus> {
        match time::timeout(self.grace, self.hush()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!("cannot stop the engine's sessions: {error}"),
            Err(_) => warn!("the engine's sessions do not stop"),
        }
        self.end().await
    }

    /// Aborts every session that works, and returns when none does.
    async fn hush(&self) -> Result<(), Error> {
        for directory in self.client.directories() {
            for session in self.client.busy(&directory).await? {
                self.client.abort(&session).await?;
            }
            while !self.client.busy(&directory).await?.is_empty() {
                time::sleep(LOOK).await;
            }
        }
        Ok(())
    }
}

impl Connection {
    /// Removes the files that came with a session's messages: what was attached is not to be remembered.
    pub async fn forget_files(&self, session: &Session) -> Result<(), Error> {
        self.client.forget_files(session).await
    }

    /// Subscribes to everything that is said from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.stream.subscribe()
    }

    /// Subscribes to the calls of tools that begin and end from now on.
    pub fn tool_calls(&self) -> broadcast::Receiver<ToolCall> {
        self.stream.tool_calls()
    }

    /// Lists the agents that a folder's configuration offers.
    pub async fn agents(&self, directory: &Path) -> Result<Vec<Agent>, Error> {
        self.client.agents(directory).await
    }

    /// Lists the models that a folder's configuration offers.
    pub async fn models(&self, directory: &Path) -> Result<Vec<ModelName>, Error> {
        self.client.models(directory).await
    }

    /// Has the servers of tools started that a folder's configuration names. Without it the first question does that, and
    /// waits for each.
    pub async fn start_tools(&self, directory: &Path) -> Result<(), Error> {
        self.client.start_tools(directory).await
    }

    /// Begins a session. One with a title costs no call of the model for finding one.
    pub async fn create_session(&self, directory: &Path, title: &str) -> Result<Session, Error> {
        self.client.create_session(directory, title).await
    }

    /// Begins a session that is a copy of another.
    pub async fn fork(&self, session: &Session) -> Result<Session, Error> {
        self.client.fork(session).await
    }

    /// Puts a session away: it stays to be read, and nobody goes on in it.
    pub async fn close_session(&self, session: &Session) -> Result<(), Error> {
        self.client.close_session(session).await
    }

    /// Writes something into a session that nobody answers.
    pub async fn note(&self, session: &Session, text: &str) -> Result<(), Error> {
        self.client.note(session, text).await
    }

    pub(crate) fn people(&self) -> Option<&People> {
        self.people.as_ref()
    }

    pub(crate) fn client(&self) -> &EngineClient {
        &self.client
    }

    /// Returns the last few kilobytes that the engine printed.
    pub fn output(&self) -> String {
        self.printed.text()
    }
}

async fn wait_until_ready(
    client: &EngineClient,
    process: &mut Process,
    port: u16,
    launch: &Launch,
) -> Result<(), Error> {
    let began = Instant::now();
    while began.elapsed() < launch.patience {
        if let Some(status) = process.ended() {
            // Whoever took the port may answer in the engine's place, so it is looked at only when the engine is gone.
            if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
                return Err(Error::PortTaken { port });
            }
            process.hear_out().await;
            return Err(Error::Died { status, said: process.last_words() });
        }
        if !may_answer(&process.output(), began.elapsed()) {
            process.stirs(GLANCE).await;
            continue;
        }
        if client.health(FIRST_ANSWER).await.is_ok_and(|version| version == launch.engine.version) {
            return guarded(process).await;
        }
        time::sleep(LOOK).await;
    }
    Err(Error::NotReady { seconds: launch.patience.as_secs(), said: process.last_words() })
}

/// Tells whether an engine may answer by now.
///
/// It takes connections about 0.4 s before that, and what is asked in between is never answered, so that whoever asks too
/// early waits for nothing.
fn may_answer(printed: &str, waited: Duration) -> bool {
    printed.contains(LISTENS) || waited > UNTOLD
}

/// Sees that the guard stands. It spoke before the engine did, but on another way, so its words may take a moment longer.
async fn guarded(process: &mut Process) -> Result<(), Error> {
    let deadline = Instant::now() + GUARD_PATIENCE;
    while !process.output().contains(engine_home::GUARDED) {
        if Instant::now() > deadline {
            return Err(Error::Unguarded);
        }
        process.stirs(GLANCE).await;
    }
    Ok(())
}

/// Lets the system choose: for the engine itself port 0 means 4096.
fn free_port() -> Result<u16, Error> {
    let chosen = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    let unlucky = |source| Error::Disk { deed: "find a free port on", path: "127.0.0.1".into(), source };
    chosen.map(|address| address.port()).map_err(unlucky)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_asked_when_it_says_that_it_listens_or_has_had_long_enough_to() {
        let check = |printed: &str, seconds, expect| {
            assert_eq!(may_answer(printed, Duration::from_secs(seconds)), expect, "{printed} {seconds}");
        };
        check("", 0, false);
        check("guarded\n", 4, false);
        check("guarded\nopencode server listening on http://127.0.0.1:4096\n", 0, true);
        check("ready: http://127.0.0.1:4096\n", 6, true);
    }
}
