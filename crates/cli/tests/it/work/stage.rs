//! A little GitHub, a store with a linked channel, and a worker.

use std::{
    path::PathBuf,
    process::{Child, Command, Output},
    sync::{Arc, Mutex},
    time::Duration,
};

use fro_core::{
    Login, RepoName,
    chat::{
        Approvals, AuditAction, AuditEntry, ChannelId, ChannelLink, ChannelSettings, Deed, Follow, GuildId,
        HandedFile, MessageId, RoleId, Roles, Ruling, SaidFile, Thread, ThreadRequest, UserId, Words,
    },
    gate::Policy,
    prompt::Wishes,
    remembered::Audience,
};
use fro_serve::{
    Account, Address, Caps, MemoryQuestion, Recollected, Spent, Store, Watch, WorkSettings, Worker,
};
use fro_sim::{World, discord::Discord};
use jiff::{SignedDuration, Timestamp};
use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

const REPO: &str = "octo/garden";
/// Has shown her GitHub account, which may push.
pub(crate) const MAYA: u64 = 7;
/// Has a role and nothing else.
pub(crate) const SAM: u64 = 8;
const ASKERS: u64 = 2;

pub(crate) struct Stage {
    pub(crate) world: World,
    discord: Discord,
    pub(crate) store: Store,
    settings: fro_agent::Settings,
    folder: TempDir,
    /// How many bytes an engine may take.
    pub(crate) engine_memory: Option<u64>,
    /// The roles that everybody has on Discord.
    everybody: Arc<Mutex<Vec<RoleId>>>,
}

impl Stage {
    /// Opens everything: the channel 1 is octo/garden's, and role 2 may ask.
    pub(crate) async fn open() -> Self {
        let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
        world.model().answers_aside("no");
        let settings = crate::agent::settings(&world, &folder);
        let store = Store::open(&Address::File(folder.path().join("store.db"))).await.unwrap();
        let link = ChannelLink {
            channel: channel(1),
            guild: guild(),
            repository: RepoName::parse(REPO).unwrap(),
            settings: ChannelSettings::default(),
            linked_by: UserId::new(MAYA).unwrap(),
            linked_at: Timestamp::now(),
        };
        store.link(&link, entry(AuditAction::Link)).await.unwrap();
        let roles = Roles { askers: [RoleId::new(ASKERS).unwrap()].into(), ..Roles::default() };
        let before = store.policy(guild()).await.unwrap();
        store.set_policy(guild(), &before, &roles, entry(AuditAction::SetPolicy)).await.unwrap();
        let id = world.state(|state| state.person("maya").unwrap().id);
        let account = Account {
            login: Login::new("maya"),
            github_id: i64::try_from(id).unwrap(),
            proven_at: Timestamp::now(),
        };
        let maya = UserId::new(MAYA).unwrap();
        store.prove_account(maya, &account, &entry(AuditAction::ProveAccount)).await.unwrap();
        let discord = Discord::start().await.unwrap();
        let everybody = Arc::new(Mutex::new(vec![RoleId::new(ASKERS).unwrap()]));
        tokio::spawn(tell_standings(store.clone(), Arc::clone(&everybody)));
        Self { world, discord, store, settings, folder, engine_memory: None, everybody }
    }

    /// Takes everybody's roles away, which only whoever asks Discord can know.
    pub(crate) fn strip_everybody(&self) {
        self.everybody.lock().unwrap().clear();
    }

    /// Has somebody ask who then waits for minutes.
    pub(crate) async fn asked_long_ago(&self, thread: u64, source: u64, who: u64, text: &str) {
        let then = Timestamp::now() - SignedDuration::from_mins(5);
        self.queue((thread, source, who), text, (Audience::Everyone, then), Vec::new()).await;
    }

    /// Lets the agent ask for leave in the channel.
    pub(crate) async fn asks_leave(&self, approvals: Approvals) {
        let settings = ChannelSettings { approvals, ..ChannelSettings::default() };
        self.store.set_settings(channel(1), &settings, &entry(AuditAction::Choose)).await.unwrap();
    }

    /// Answers what the agent asks next, as a click or a choice would, and returns what was asked.
    pub(crate) async fn rules(&self, answer: &str) -> String {
        loop {
            let asked = self.store.due(Timestamp::now(), 9).await.unwrap();
            for due in asked {
                self.store.done(due.id, MessageId::new(5_000_000)).await.unwrap();
                let Deed::Say { text, buttons, menu, .. } = due.deed else { continue };
                if let Some(request) = buttons.first().and_then(|button| button.id.split(':').nth(1)) {
                    let word = (UserId::new(MAYA).unwrap(), answer);
                    let entry = entry(AuditAction::Approve);
                    self.store.rule(request.parse().unwrap(), word, entry).await.unwrap();
                    return format!("{text}\n{:?}", menu.map(|menu| menu.choices));
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Lets no role talk any more.
    pub(crate) async fn bar_everybody(&self) {
        let before = self.store.policy(guild()).await.unwrap();
        let nobody = Roles::default();
        self.store.set_policy(guild(), &before, &nobody, entry(AuditAction::SetPolicy)).await.unwrap();
    }

    /// Returns what was decided last.
    pub(crate) async fn last_decision(&self) -> AuditEntry {
        self.store.audited(guild(), 1).await.unwrap().pop().unwrap().entry
    }

    /// Has somebody ask in a thread that everyone can read.
    pub(crate) async fn asks(&self, thread: u64, source: u64, who: u64, text: &str) {
        self.queue((thread, source, who), text, (Audience::Everyone, Timestamp::now()), Vec::new()).await;
    }

    /// Has Maya ask in a new thread that goes on with a copy of a session.
    pub(crate) async fn asks_in_copy(&self, thread: u64, source: u64, session: &str, text: &str) {
        let opened = Thread { forked_from: Some(session.to_owned()), ..opened(thread) };
        let opening = [Follow::OpenThread(opened)];
        self.store.take_in(format!("thread {thread}"), &opening, Timestamp::now()).await.unwrap();
        self.asks(thread, source, MAYA, text).await;
    }

    /// Has Maya ask in a thread that these people can read.
    pub(crate) async fn asks_before(&self, seen_by: Audience, thread: u64, source: u64, text: &str) {
        self.queue((thread, source, MAYA), text, (seen_by, Timestamp::now()), Vec::new()).await;
    }

    /// Has Maya send a file with her words, which a little Discord keeps.
    pub(crate) async fn asks_with_file(&self, text: &str, file: (&str, &str, &[u8])) {
        let channel = self.discord.channel("garden");
        let message = self.discord.attaches("maya", channel, text, file);
        let url = format!(
            "{}/attachments/{channel}/{}/{}",
            self.file_host(),
            self.discord.state(|chat| chat.message(channel, message).unwrap().files[0].id),
            file.0
        );
        let size = u64::try_from(file.2.len()).unwrap();
        let files = vec![SaidFile { name: file.0.to_owned(), url, size }];
        self.queue((42, 1, MAYA), text, (Audience::Everyone, Timestamp::now()), files).await;
    }

    /// Returns where the little Discord keeps files.
    fn file_host(&self) -> String {
        self.discord.api_url().trim_end_matches("/api").to_owned()
    }

    /// Lets another worker, whose clock is an hour ahead, take a turn whose lease has run out there, and answer it.
    pub(crate) async fn is_answered_elsewhere(&self, text: &str) {
        let caps = Caps { all: 4, repository: 2 };
        let (later, lease) = (Timestamp::now() + Duration::from_hours(1), Duration::from_mins(1));
        let claimed = self.store.claim("other", caps, later, lease).await.unwrap().unwrap();
        let deed = Deed::say(claimed.turn.thread, text);
        self.store.say(claimed.lease, 0, &deed, Timestamp::now()).await.unwrap();
        let spent = Spent { ending: "answered".to_owned(), tokens_in: 0, tokens_out: 0, cost: 0 };
        self.store.finish(claimed.lease, &spent, Timestamp::now()).await.unwrap();
    }

    /// Ends the engine as if it had crashed.
    pub(crate) fn kill_engine(&self) {
        let scratch = fs_err::canonicalize(self.folder.path().join("scratch")).unwrap();
        let mut killed = 0;
        for process in fs_err::read_dir("/proc").unwrap().flatten() {
            let is_engine = fs_err::read_to_string(process.path().join("comm"))
                .is_ok_and(|name| name.trim() == "opencode");
            let is_ours = fs_err::read_link(process.path().join("cwd"))
                .is_ok_and(|folder| folder.starts_with(&scratch));
            if is_engine && is_ours {
                let id = process.file_name();
                assert!(Command::new("kill").arg("-9").arg(id).status().unwrap().success());
                killed += 1;
            }
        }
        assert_eq!(killed, 1, "there is one engine");
    }

    /// Tells whether a session was saved.
    pub(crate) fn remembers_anything(&self) -> bool {
        let output = self.command().args(["sessions", "list"]).output().unwrap();
        let printed = output_text(&output);
        assert!(output.status.success() || printed.contains("the memory is empty"), "{printed}");
        printed.contains("ses_")
    }

    async fn queue(
        &self,
        (thread, source, who): (u64, u64, u64),
        text: &str,
        (seen_by, then): (Audience, Timestamp),
        files: Vec<SaidFile>,
    ) {
        let words = Words {
            name: "Somebody".to_owned(),
            roles: vec![RoleId::new(ASKERS).unwrap()],
            text: text.to_owned(),
            seen_by: Some(seen_by),
            files,
            quoted: None,
        };
        let (source, asker) = (MessageId::new(source).unwrap(), UserId::new(who).unwrap());
        let turn = ThreadRequest { thread: channel(thread), source, asker, words };
        let follows = [Follow::OpenThread(opened(thread)), Follow::Queue(turn)];
        self.store.take_in(source, &follows, then).await.unwrap();
    }

    /// Lets a worker of this very process work until nothing waits any more.
    pub(crate) async fn work(&self) {
        let idle = async {
            while self.store.load(Timestamp::now()).await.unwrap() != (0, 0) {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        Box::pin(self.work_until(idle)).await;
    }

    /// Lets a worker say which sessions may be told of in a place, by their titles.
    pub(crate) async fn recollects(&self, (place, seen_by): (&str, Audience), words: &str) -> Vec<String> {
        let question = MemoryQuestion {
            repository: RepoName::parse(REPO).unwrap(),
            words: words.to_owned(),
            place: place.to_owned(),
            seen_by,
        };
        let id = self.store.ask_memory(&question, Timestamp::now()).await.unwrap();
        let mut told = None;
        let answered = async {
            while told.is_none() {
                told = self.store.memory_told(id).await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        Box::pin(self.work_until(answered)).await;
        let Some(Recollected::Sessions(sessions)) = told else { panic!("{told:?}") };
        sessions.into_iter().map(|session| session.title).collect()
    }

    async fn work_until(&self, done: impl Future<Output = ()>) {
        let settings = self.settings.clone();
        let worker = Worker {
            store: self.store.clone(),
            name: "test".to_owned(),
            caps: Caps { all: 4, repository: 2 },
            most: 2,
            lease: Duration::from_secs(30),
            pace: Duration::from_millis(100),
            approval_time: Duration::from_secs(15),
            engine_memory: self.engine_memory,
            patience: Duration::from_mins(1),
            file_hosts: vec![self.file_host()],
            repo_settings: ".github/fro-bot.toml",
            process: fro_agent::Process::new(settings.clone()),
            settings: Box::new(move |_, _| {
                let (agent, policy, wishes) = (settings.clone(), Policy::usual(), Wishes::default());
                Ok(WorkSettings { agent, policy, wishes })
            }),
            watch: Watch::of_work(self.store.clone()).into(),
        };
        Box::pin(worker.run(done)).await.unwrap();
    }

    /// Starts a worker as a process of its own.
    pub(crate) fn started(&self, name: &str) -> Child {
        let mut command = self.command();
        command.args(["work", "--name", name, "--store"]).arg(self.folder.path().join("store.db"));
        command.spawn().unwrap()
    }

    /// Answers a mention on issue 1 as the action would.
    pub(crate) async fn mention(&self, text: &str) {
        let comment = self.world.write_comment(REPO, 1, "maya", text);
        let event = json!({
            "eventName": "issue_comment",
            "actor": "maya",
            "repo": { "owner": "octo", "repo": "garden" },
            "payload": self.world.comment_event(REPO, comment),
        });
        let file = self.folder.path().join("event.json");
        fs_err::write(&file, event.to_string()).unwrap();
        let mut command = self.command();
        command.args(["run", "--event"]).arg(&file);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{}", output_text(&output));
    }

    /// Returns the session in which something was said last.
    pub(crate) fn last_session(&self) -> String {
        let mut command = self.command();
        let output = command.args(["sessions", "--json", "list"]).output().unwrap();
        assert!(output.status.success(), "{}", output_text(&output));
        let sessions: Value = serde_json::from_slice(&output.stdout).unwrap();
        sessions[0]["id"].as_str().unwrap().to_owned()
    }

    /// Returns our program as somebody would start it who has set it up.
    fn command(&self) -> Command {
        let (world, folder) = (&self.world, self.folder.path());
        let mut command = Command::new(&self.settings.engine.program);
        let memory: PathBuf = folder.join("memory");
        command
            .current_dir(folder)
            .env("GITHUB_API_URL", world.api_url())
            .env("GITHUB_GRAPHQL_URL", world.graphql_url())
            .env("GITHUB_SERVER_URL", world.api_url())
            .env("GITHUB_TOKEN", world.token("fro-bot"))
            .env("INPUT_OPENCODE-CONFIG", world.model().provider().to_string())
            .env("INPUT_ENABLE-OMO", "false")
            .env("RUNNER_TOOL_CACHE", &self.settings.engine.tool_cache)
            .env("RUNNER_TEMP", folder.join("scratch"))
            .env("FRO_MEMORY", memory)
            .env_remove("CI");
        command
    }

    /// Returns a thread as the store knows it.
    pub(crate) async fn thread(&self, number: u64) -> Thread {
        self.store.thread(channel(number)).await.unwrap().unwrap()
    }

    /// Ends when something of the first turn was said.
    pub(crate) async fn waits_for_words(&self) {
        while self.store.places(1).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Does what waits in the outbox, and returns what it was.
    pub(crate) async fn said(&self, thread: u64) -> String {
        let mut lines = Vec::new();
        let mut message = 1000;
        while let Some(due) = self.store.due(Timestamp::now(), 1).await.unwrap().pop() {
            assert_eq!(due.lane, channel(thread));
            message += 1;
            let known = due.message.map(|message| format!(" {message}")).unwrap_or_default();
            lines.push(match &due.deed {
                Deed::Say { text, notify, handed, .. } => {
                    let file = |file: &HandedFile| {
                        format!(" [{}: {}]", file.name, String::from_utf8_lossy(&file.bytes))
                    };
                    let files: String = handed.iter().map(file).collect();
                    format!("say ({notify:?}) {message}: {text}{files}")
                }
                Deed::Change { text, .. } => format!("change{known}: {text}"),
                Deed::TakeBack { .. } => format!("take back{known}"),
                Deed::OpenThread { .. } | Deed::Begin { .. } => format!("{:?}", due.deed),
            });
            let is_new = matches!(due.deed, Deed::Say { .. });
            let posted = is_new.then(|| MessageId::new(message).unwrap());
            self.store.done(due.id, posted).await.unwrap();
        }
        let changing = Regex::new(r"· \d+( min \d+)? s · [0-9.k]+ tokens · \$[0-9.]+").unwrap();
        changing.replace_all(&lines.join("\n"), "· … s · … tokens · $$…").into_owned()
    }

    /// Checks that no folder stayed.
    pub(crate) fn leaves_nothing(&self) {
        let left: Vec<_> = fs_err::read_dir(self.folder.path().join("scratch")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Says what everybody is, as `serve` does when a worker asks.
async fn tell_standings(store: Store, everybody: Arc<Mutex<Vec<RoleId>>>) {
    loop {
        for asked in store.standings_asked().await.unwrap() {
            let roles = everybody.lock().unwrap().clone();
            store.tell_standing(&asked, Some(&roles)).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn opened(thread: u64) -> Thread {
    Thread {
        id: channel(thread),
        channel: channel(1),
        guild: guild(),
        repository: RepoName::parse(REPO).unwrap(),
        session: None,
        forked_from: None,
        named: None,
        opened_at: Timestamp::now(),
    }
}

fn output_text(output: &Output) -> String {
    let [out, err] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    format!("{out}\n{err}")
}

pub(crate) fn channel(number: u64) -> ChannelId {
    ChannelId::new(number).unwrap()
}

fn guild() -> GuildId {
    GuildId::new(900).unwrap()
}

pub(crate) fn entry(action: AuditAction) -> AuditEntry {
    granted(guild(), UserId::new(MAYA).unwrap(), action)
}

/// Returns the row of something that somebody was allowed to do.
pub(crate) fn granted(guild: GuildId, actor: UserId, action: AuditAction) -> AuditEntry {
    AuditEntry {
        at: Timestamp::now(),
        guild,
        actor: Some(actor),
        roles: Vec::new(),
        action,
        target: String::new(),
        before: None,
        after: None,
        ruling: Ruling::Granted,
    }
}
