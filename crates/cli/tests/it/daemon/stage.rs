//! A little Discord, a little GitHub, a store, and the daemon's processes between them.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use fro_core::{
    RepoName,
    chat::{AuditAction, ChannelId, ChannelLink, ChannelSettings, GuildId, RoleId, Roles, UserId},
};
use fro_serve::{Address, Store};
use fro_sim::{
    World,
    discord::{Chat, ChatMessage, Discord},
    model::{Reply, Seen},
};
use jiff::Timestamp;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::work::stage::granted;

/// Longer than any step of a daemon that works takes, also beside others.
const PATIENCE: Duration = Duration::from_mins(4);

/// Tells whether the whole tables are wanted, as `./test --all` does; else they are shown by a few rows.
pub(crate) fn all() -> bool {
    std::env::var_os("FRO_TEST_ALL").is_some()
}

/// Prints a row of a table.
#[expect(clippy::print_stdout, reason = "the table is half of what this is for")]
pub(crate) fn report(row: &str) {
    println!("{row}");
}

pub(crate) struct Stage {
    pub(crate) github: World,
    pub(crate) discord: Discord,
    pub(crate) store: Store,
    pub(crate) folder: TempDir,
    address: String,
}

/// A process of the daemon's, which ends with the test.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Ends it as a power cut would.
    pub(crate) async fn kill(self) {
        self.signal(Signal::KILL);
        self.ended().await;
    }

    /// Asks it to stop.
    pub(crate) async fn stop(self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended().await
    }

    async fn ended(mut self) -> ExitStatus {
        tokio::task::spawn_blocking(move || self.0.wait().unwrap()).await.unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Stage {
    /// #garden is octo/garden's, and maintainers may ask. The store is a file.
    pub(crate) async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = folder.path().join("store.db").display().to_string();
        Self::open_on(folder, address).await
    }

    /// The same on another database.
    pub(crate) async fn open_on(folder: TempDir, address: String) -> Self {
        let (github, discord) = (World::start().await.unwrap(), Discord::start().await.unwrap());
        github.model().answers_aside("no");
        fs_err::create_dir(folder.path().join("scratch")).unwrap();
        let store = Store::open(&Address::read(&address)).await.unwrap();
        let stage = Self { github, discord, store, folder, address };
        stage.link("garden", "octo/garden").await;
        let maintainers = RoleId::new(stage.guild().number() + 2).unwrap();
        let set = || [maintainers].into();
        let roles = Roles { linkers: set(), askers: set(), approvers: set(), ..Roles::default() };
        let before = stage.store.policy(stage.guild()).await.unwrap();
        let entry = stage.granted(AuditAction::SetPolicy);
        assert!(stage.store.set_policy(stage.guild(), &before, &roles, entry).await.unwrap());
        stage
    }

    /// Makes a channel a repository's.
    pub(crate) async fn link(&self, channel: &str, repository: &str) {
        let link = ChannelLink {
            channel: ChannelId::new(self.discord.channel(channel)).unwrap(),
            guild: self.guild(),
            repository: RepoName::parse(repository).unwrap(),
            settings: ChannelSettings::default(),
            linked_by: self.maya(),
            linked_at: Timestamp::now(),
        };
        self.store.link(&link, self.granted(AuditAction::Link)).await.unwrap();
    }

    pub(crate) fn guild(&self) -> GuildId {
        GuildId::new(self.discord.state(|chat| chat.guilds[0].id)).unwrap()
    }

    fn maya(&self) -> UserId {
        UserId::new(self.discord.person("maya")).unwrap()
    }

    pub(crate) fn granted(&self, action: AuditAction) -> fro_core::chat::AuditEntry {
        granted(self.guild(), self.maya(), action)
    }

    /// Lets Maya mention the bot in #garden, and returns the thread that will be on her message.
    pub(crate) fn asks(&self, text: &str) -> u64 {
        self.discord.says("maya", self.discord.channel("garden"), &format!("@fro-bot {text}"))
    }

    /// Starts `fro-bot serve`, which starts its worker.
    pub(crate) async fn serve(&self) -> Running {
        self.serve_with(&[]).await
    }

    /// Starts `fro-bot serve` without a worker.
    pub(crate) async fn serve_alone(&self) -> Running {
        self.serve_with(&["--no-worker"]).await
    }

    async fn serve_with(&self, arguments: &[&str]) -> Running {
        let serving = self.start("serve", arguments);
        self.discord.wait_until_connected(1).await;
        serving
    }

    /// Starts a worker of this name.
    pub(crate) fn works(&self, name: &str, arguments: &[&str]) -> Running {
        self.start("work", &[&["--name", name], arguments].concat())
    }

    fn start(&self, command: &str, arguments: &[&str]) -> Running {
        let mut program = self.program();
        program.arg(command).args(arguments).env("FRO_STORE", &self.address).stdout(Stdio::null());
        Running(program.spawn().unwrap())
    }

    /// Returns our program as somebody would start it who has set it up.
    pub(crate) fn program(&self) -> Command {
        let (github, folder) = (&self.github, self.folder.path());
        let program = env!("CARGO_BIN_EXE_fro-bot");
        let tools = Path::new(program).ancestors().nth(2).unwrap().join("tools");
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_remove("CI")
            .env("FRO_DISCORD_TOKEN", self.discord.token())
            .env("FRO_DISCORD_API", self.discord.api_url())
            .env("FRO_DISCORD_GATEWAY", self.discord.gateway_url())
            .env("FRO_MEMORY", folder.join("memory"))
            .env("GITHUB_API_URL", github.api_url())
            .env("GITHUB_GRAPHQL_URL", github.graphql_url())
            .env("GITHUB_SERVER_URL", github.api_url())
            .env("GITHUB_TOKEN", github.token("fro-bot"))
            .env("INPUT_OPENCODE-CONFIG", github.model().provider().to_string())
            .env("INPUT_ENABLE-OMO", "false")
            .env("RUNNER_TOOL_CACHE", tools)
            .env("RUNNER_TEMP", folder.join("scratch"));
        command
    }

    /// Starts a run that answers a mention on issue 1 as the action would.
    pub(crate) fn mention(&self, text: &str) -> Child {
        self.mention_on(1, text)
    }

    /// Lets Maya mention us on an issue or a pull request, and waits until that is answered.
    pub(crate) async fn is_mentioned(&self, number: u64, text: &str) {
        let mut run = self.mention_on(number, text);
        assert!(tokio::task::spawn_blocking(move || run.wait().unwrap()).await.unwrap().success());
    }

    fn mention_on(&self, number: u64, text: &str) -> Child {
        let comment = self.github.write_comment("octo/garden", number, "maya", &format!("@fro-bot {text}"));
        let event = json!({
            "eventName": "issue_comment",
            "actor": "maya",
            "repo": { "owner": "octo", "repo": "garden" },
            "payload": self.github.comment_event("octo/garden", comment),
        });
        let file = self.folder.path().join("event.json");
        fs_err::write(&file, event.to_string()).unwrap();
        let memory = self.folder.path().join("memory/octo/garden");
        let mut program = self.program();
        program.args(["run", "--event"]).arg(&file).env("FRO_MEMORY", memory).stdout(Stdio::null());
        program.spawn().unwrap()
    }

    /// Asks the daemon to stop, and checks that nothing of it stays.
    pub(crate) async fn stop(&self, serving: Running) {
        assert_eq!(serving.stop().await.code(), Some(0));
        self.discord.wait_until_connected(0).await;
        let left: Vec<_> = fs_err::read_dir(self.folder.path().join("scratch")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Keeps everybody else from the store until what is returned is dropped.
    pub(crate) fn hold_store(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(&self.address).unwrap();
        connection.busy_timeout(PATIENCE).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        connection
    }

    /// Lets the model repeat the last word of what it is asked, so many times.
    pub(crate) fn model_echoes(&self, times: usize, words: &'static [&'static str]) {
        for _ in 0..times {
            self.github.model().plays(Reply::answering(move |seen| Reply::text(echo(seen, words))));
        }
    }

    /// The same, once, in pieces that take some seconds.
    pub(crate) fn model_echoes_slowly(&self, words: &'static [&'static str]) {
        let reply = move |seen: &Seen| Reply::text(echo(seen, words)).slowly(Duration::from_millis(700));
        self.github.model().plays(Reply::answering(reply));
    }

    /// Waits until the bot has said this in a thread.
    pub(crate) async fn until_said(&self, thread: u64, words: &str) {
        self.until(thread, |said| said.iter().any(|text| text.contains(words))).await;
    }

    /// Waits until so many turns of a thread have ended, and returns what the bot said in answer: no tools, no footers.
    pub(crate) async fn answers(&self, thread: u64, turns: usize) -> Vec<String> {
        let footers = |said: &[String]| said.iter().filter(|text| is_footer(text)).count();
        self.until(thread, |said| footers(said) >= turns).await;
        let said = self.said(thread);
        assert_eq!(footers(&said), turns, "each turn ends once: {said:?}");
        let small = |text: &String| text.starts_with("-# ") || text.starts_with("Noted;");
        said.into_iter().filter(|text| !small(text)).collect()
    }

    /// Waits until what the bot has said in a thread is as told.
    pub(crate) async fn until(&self, thread: u64, fact: impl Fn(&[String]) -> bool) {
        let waiting = async {
            while !fact(&self.said(thread)) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = timeout(PATIENCE, waiting).await;
        assert!(waited.is_ok(), "it is not as expected: {:?}", self.said(thread));
    }

    pub(crate) fn said(&self, thread: u64) -> Vec<String> {
        let bot = self.discord.state(|chat| chat.application.id);
        let ours = |message: &&ChatMessage| message.author == bot;
        let look = |chat: &Chat| chat.messages_in(thread).filter(ours).map(|it| it.content.clone()).collect();
        self.discord.state(look)
    }

    /// Waits until so many turns run and so many wait.
    pub(crate) async fn until_load(&self, running: i64, waiting: i64) {
        let wanted = async {
            while self.store.load(Timestamp::now()).await.unwrap() != (running, waiting) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        assert!(timeout(PATIENCE, wanted).await.is_ok(), "the queue is not as expected");
    }

    /// Waits until the memory has a session.
    pub(crate) async fn until_remembered(&self) {
        let memory = self.folder.path().join("memory/octo/garden");
        let remembers = || {
            let mut listing = self.program();
            let output = listing.args(["sessions", "list"]).env("FRO_MEMORY", &memory).output().unwrap();
            String::from_utf8_lossy(&output.stdout).contains("ses_")
        };
        let remembered = async {
            while !remembers() {
                sleep(Duration::from_millis(50)).await;
            }
        };
        assert!(timeout(PATIENCE, remembered).await.is_ok(), "nothing was saved");
    }

    /// Returns the engine that runs for this stage.
    pub(crate) fn engine(&self) -> Pid {
        let scratch = fs_err::canonicalize(self.folder.path().join("scratch")).unwrap();
        let is_ours = |process: &PathBuf| {
            let name = fs_err::read_to_string(process.join("comm")).unwrap_or_default();
            let folder = fs_err::read_link(process.join("cwd")).unwrap_or_default();
            name.trim() == "opencode" && folder.starts_with(&scratch)
        };
        let engines: Vec<_> = processes().filter(is_ours).collect();
        let [engine] = &engines[..] else { panic!("there is not one engine: {engines:?}") };
        pid(engine).unwrap()
    }
}

fn echo(seen: &Seen, words: &[&str]) -> String {
    let asked = seen.last_user();
    let word = words.iter().find(|word| asked.contains(&format!("question {word}")));
    format!("You asked: {}", word.unwrap_or_else(|| panic!("nothing known is asked: {asked}")))
}

pub(crate) fn is_footer(text: &str) -> bool {
    text.starts_with("-# octo/") && text.contains(" tokens")
}

/// Returns the worker that a process started.
pub(crate) async fn worker_of(serving: &Running) -> Pid {
    let parent = serving.pid().as_raw_nonzero().get();
    let is_child = |process: &PathBuf| {
        // The parent stands behind the name, which may have anything in it, and the state.
        let stat = fs_err::read_to_string(process.join("stat")).unwrap_or_default();
        let behind = stat.rsplit(')').next().unwrap_or_default();
        behind.split_whitespace().nth(1) == Some(parent.to_string().as_str())
    };
    let found = async {
        loop {
            if let Some(worker) = processes().find(is_child).as_deref().and_then(pid) {
                return worker;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, found).await.unwrap()
}

fn processes() -> impl Iterator<Item = PathBuf> {
    fs_err::read_dir("/proc").unwrap().flatten().map(|entry| entry.path())
}

fn pid(process: &Path) -> Option<Pid> {
    process.file_name()?.to_str()?.parse().ok().and_then(Pid::from_raw)
}
