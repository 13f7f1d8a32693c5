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

/// How often a server that starts is asked whether it is there.
const KNOCK: Duration = Duration::from_millis(25);

/// How long an answer may take before the engine says that it listens, the first time and at most.
const IMPATIENCE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// What the engine prints when it begins to answer.
const LISTENS: &str = "server listening on";

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
        let mut config = config::settle(launch.config.clone(), &launch.tools);
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
                    warn!(engine.port = port, "port {port} was taken under our hands, trying another");
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
        let connection = Connection { client, stream: Arc::new(stream), printed: process.printed() };
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
    pub async fn stop(mut self) {
        match time::timeout(self.grace, self.hush()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!("cannot stop the engine's sessions: {error}"),
            Err(_) => warn!("the engine's sessions do not stop"),
        }
        self.process.stop(self.grace).await;
    }

    /// Aborts every session that works, and returns when none does.
    async fn hush(&self) -> Result<(), Error> {
        for directory in self.client.directories() {
            for session in self.client.busy(&directory).await? {
                self.client.abort(&session).await?;
            }
            while !self.client.busy(&directory).await?.is_empty() {
                time::sleep(KNOCK).await;
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

    /// Begins a session. One with a title costs no call of the model for finding one.
    pub async fn create_session(&self, directory: &Path, title: &str) -> Result<Session, Error> {
        self.client.create_session(directory, title).await
    }

    /// Puts a session away: it stays to be read, and nobody goes on in it.
    pub async fn put_away(&self, session: &Session) -> Result<(), Error> {
        self.client.put_away(session).await
    }

    /// Writes something into a session that nobody answers.
    pub async fn note(&self, session: &Session, text: &str) -> Result<(), Error> {
        self.client.note(session, text).await
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
    let deadline = Instant::now() + launch.patience;
    let mut knocks = 0;
    while Instant::now() < deadline {
        if let Some(status) = process.ended() {
            // Whoever took the port may answer in the engine's place, so it is looked at only when the engine is gone.
            if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
                return Err(Error::PortTaken { port });
            }
            process.hear_out().await;
            return Err(Error::Died { status, said: process.last_words() });
        }
        let patience = patience(knocks, process.output().contains(LISTENS));
        if client.health(patience).await.is_ok_and(|version| version == launch.engine.version) {
            return guarded(process).await;
        }
        knocks += 1;
        time::sleep(KNOCK).await;
    }
    Err(Error::NotReady { seconds: launch.patience.as_secs(), said: process.last_words() })
}

/// Returns how long the answer to a knock is waited for.
///
/// The engine takes connections about 0.4 s before it answers, and what is asked in between is never answered. So a knock
/// is given up soon until the engine says that it listens, and later each time, should a version say so in other words.
fn patience(knocks: u32, says_it_listens: bool) -> Duration {
    let (first, most) = IMPATIENCE;
    if says_it_listens { most } else { first.saturating_mul(1 + knocks / 8).min(most) }
}

/// Sees that the guard stands. It spoke before the engine did, but on another way, so its words may take a moment longer.
async fn guarded(process: &Process) -> Result<(), Error> {
    let deadline = Instant::now() + GUARD_PATIENCE;
    while !process.output().contains(engine_home::GUARDED) {
        if Instant::now() > deadline {
            return Err(Error::Unguarded);
        }
        time::sleep(KNOCK).await;
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
    fn a_knock_before_the_engine_listens_is_given_up_soon() {
        let waits = [(0, false), (7, false), (8, false), (16, false), (10_000, false), (0, true)];
        let waits = waits.map(|(knocks, says)| patience(knocks, says).as_millis());
        assert_eq!(waits, [100, 100, 200, 300, 2000, 2000]);
    }
}
