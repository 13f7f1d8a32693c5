//! The world of these tests: the pinned engine, installed once, and one server with a scripted model that most of them share.

use std::{
    env,
    ffi::OsString,
    io::{self, Write as _},
    panic,
    path::{Path, PathBuf},
    process,
    sync::LazyLock,
    thread,
};

use fro_core::Secret;
use fro_core::conversation::{
    Limits,
    heard::Heard,
    outcome::{Outcome, Turn},
};
use fro_http::{Answer, Client, ClientSettings, Request};
use fro_opencode::{
    Engine, EngineHome, Launch, Message, ModelName, Server, Session, ToolCache, Wanted, converse, install,
};
use fro_sim::model::Model;
use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    runtime,
    sync::{
        Mutex, MutexGuard, OnceCell,
        mpsc::{self, UnboundedSender},
        oneshot,
    },
    task::{self, LocalSet},
};

/// Runs a test on the one runtime that outlives all of them, so that they can share a server.
pub(crate) fn run(test: impl AsyncFnOnce() + Send + 'static) {
    type Job = Box<dyn FnOnce() + Send>;
    static JOBS: LazyLock<UnboundedSender<Job>> = LazyLock::new(|| {
        // What a test says on this thread belongs to no test, so the harness would swallow it.
        panic::set_hook(Box::new(|panic| io::stderr().write_all(format!("{panic}\n").as_bytes()).unwrap()));
        let (jobs, mut todo) = mpsc::unbounded_channel::<Job>();
        thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            LocalSet::new().block_on(&runtime, async {
                while let Some(job) = todo.recv().await {
                    job();
                }
            });
        });
        jobs
    });
    let (done, outcome) = oneshot::channel();
    let job = move || drop(task::spawn_local(async { done.send(task::spawn_local(test()).await) }));
    JOBS.send(Box::new(job)).unwrap();
    if let Err(failed) = outcome.blocking_recv().unwrap() {
        panic::resume_unwind(failed.into_panic());
    }
}

/// The environment of a machine with nothing special, as a caller would pass it on.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    ["PATH", "HOME"].iter().filter_map(|name| Some((name.into(), env::var_os(name)?))).collect()
}

/// Installs the pinned engine into the target folder, where the next run of the tests finds it.
pub(crate) async fn engine() -> Engine {
    static ENGINE: OnceCell<Engine> = OnceCell::const_new();
    let installed = ENGINE.get_or_init(|| async {
        let test = env::current_exe().unwrap();
        let target = test.ancestors().nth(3).unwrap();
        let mut wanted = Wanted::pinned(environment(), Client::new(ClientSettings::default()).unwrap());
        // The engine watch asks whether the next release has the same traps.
        if let Ok(version) = env::var("FRO_ENGINE_VERSION") {
            wanted.version = version.parse().unwrap();
        }
        install(&wanted, &ToolCache::new(target.join("tools")), &mut |_| {}).await.unwrap()
    });
    installed.await.clone()
}

/// A server in a folder of its own, with a model of its own.
pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) model: Model,
    /// A second model under the provider `spare`, for what would spoil the first one's script.
    pub(crate) spare: Model,
    pub(crate) folder: TempDir,
}

impl Stage {
    /// Everything to start a server with, for tests that change something about it.
    pub(crate) async fn prepare() -> (Launch, Model, Model, TempDir) {
        let (model, spare) = (Model::start().await, Model::start().await);
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        std::fs::create_dir(&work).unwrap();
        let mut launch = Launch::new(engine().await, work, EngineHome::at(folder.path().join("home")));
        launch.config = model.provider();
        launch.config["provider"]["spare"] = spare.provider()["provider"]["scripted"].clone();
        launch.config["enabled_providers"] = json!(["scripted", "spare"]);
        launch.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        launch.wrap = lifeline("true");
        (launch, model, spare, folder)
    }

    pub(crate) async fn open() -> Self {
        Self::with(|_, _| {}).await
    }

    /// One without a wrapping command.
    pub(crate) async fn bare() -> Self {
        Self::with(|launch, _| launch.wrap.clear()).await
    }

    /// The shared one. Whoever holds it is alone on it.
    ///
    /// Nobody ever drops it, so its folder is removed by what wraps its engine.
    pub(crate) async fn shared() -> MutexGuard<'static, Self> {
        static SHARED: OnceCell<Mutex<Stage>> = OnceCell::const_new();
        let open =
            || Self::with(|launch, folder| launch.wrap = lifeline(&format!("rm -rf {}", folder.display())));
        SHARED.get_or_init(|| async { Mutex::new(open().await) }).await.lock().await
    }

    async fn with(change: impl FnOnce(&mut Launch, &Path)) -> Self {
        let (mut launch, model, spare, folder) = Self::prepare().await;
        change(&mut launch, folder.path());
        let server = Server::start(launch).await.unwrap();
        Self { server, model, spare, folder }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// A fresh folder beside the one the server was started in.
    pub(crate) fn elsewhere(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    }

    pub(crate) async fn session(&self) -> Session {
        self.server.create_session(&self.work(), "a test").await.unwrap()
    }

    /// Has one turn in a new session.
    pub(crate) async fn ask(&self, text: &str) -> TurnDriver {
        let session = self.session().await;
        self.ask_in(&session, text).await
    }

    pub(crate) async fn ask_in(&self, session: &Session, text: &str) -> TurnDriver {
        self.say(session, &Message::new(text), Limits::default()).await
    }

    pub(crate) async fn say(&self, session: &Session, message: &Message, limits: Limits) -> TurnDriver {
        let deadline = limits.deadline.unwrap_or(Timestamp::now() + 1.minute());
        let limits = Limits { deadline: Some(deadline), ..limits };
        let mut heard = Vec::new();
        let turn = converse(&self.server, session, message, limits, &mut |one| heard.push(one.clone())).await;
        TurnDriver { turn, heard }
    }

    /// Has a command run in the engine's shell, and goes while it runs. Returns the command, the only one of its kind.
    pub(crate) async fn leave_running(&self) -> String {
        let command = format!("sleep 4107.{}{}", process::id(), self.server.pid().unwrap());
        let session = self.session().await;
        self.model.calls("bash", json!({ "command": command, "description": "run" }));
        let (message, mut ignore) = (Message::new("run it"), |_: &Heard| {});
        tokio::select! {
            turn = converse(&self.server, &session, &message, Limits::default(), &mut ignore) => {
                panic!("it ended by itself: {turn:?}")
            }
            () = until("the command runs", || !processes(&command).is_empty()) => {}
        }
        command
    }

    /// The engine's HTTP interface without our client in between.
    pub(crate) fn raw(&self) -> Raw {
        Raw::connect(&self.server)
    }

    /// Checks at the door that the model was called exactly as often as the test said.
    pub(crate) fn finish(&self) {
        assert_eq!(
            (self.model.unplayed(), self.model.unscripted()),
            (0, 0),
            "the script and the calls differ"
        );
    }
}

/// What came of one turn.
#[derive(Debug)]
pub(crate) struct TurnDriver {
    pub(crate) turn: Turn,
    pub(crate) heard: Vec<Heard>,
}

impl TurnDriver {
    #[track_caller]
    pub(crate) fn answer(&self) -> &str {
        match &self.turn.outcome {
            Outcome::Answered { text, .. } => text,
            other => panic!("no answer but {other:?} after {:#?}", self.heard),
        }
    }
}

pub(crate) fn answered(text: &str) -> Outcome {
    Outcome::Answered { text: text.to_owned(), cut_short: false }
}

pub(crate) fn spare() -> Option<ModelName> {
    ModelName::parse("spare/m1")
}

/// A wrapping command like the wall: it ends the engine when our end of its standard input is gone, however we ended.
pub(crate) fn lifeline(afterwards: &str) -> Vec<OsString> {
    let script = r#""$@" < /dev/null & engine=$!
        trap 'kill $engine' TERM
        { cat; kill -9 $engine; sleep 0.2; $0; } > /dev/null 2>&1 < /dev/stdin &
        wait $engine"#;
    ["/bin/bash", "-c", script, afterwards].map(OsString::from).into()
}

/// Requests to the engine as anybody could send them.
pub(crate) struct Raw {
    client: Client,
    base: String,
    password: Secret,
}

impl Raw {
    pub(crate) fn connect(server: &Server) -> Self {
        let pid = server.pid().unwrap();
        let show = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap();
        let find = |text: &str, prefix: &str| {
            text.split('\0').find_map(|word| word.strip_prefix(prefix)).unwrap().to_owned()
        };
        let port = find(&show("cmdline"), "--port=");
        let password = Secret::new(find(&show("environ"), "OPENCODE_SERVER_PASSWORD="));
        let client = Client::new(ClientSettings::loopback()).unwrap();
        Self { client, base: format!("http://127.0.0.1:{port}"), password }
    }

    pub(crate) fn port(&self) -> u16 {
        self.base.rsplit(':').next().unwrap().parse().unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Answer, fro_http::Error> {
        self.send(self.client.get(format!("{}{path}", self.base))).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Result<Answer, fro_http::Error> {
        self.send(self.client.post(format!("{}{path}", self.base)).json(&body)).await
    }

    async fn send(&self, request: Request) -> Result<Answer, fro_http::Error> {
        request.basic("opencode", &self.password).send().await
    }
}

/// Returns the processes whose command line holds these words.
pub(crate) fn processes(words: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(words)).collect()
}

/// Waits until something is so; a test that waits in vain says for what.
pub(crate) async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Timestamp::now() + 1.minute();
    while !so() {
        assert!(Timestamp::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
