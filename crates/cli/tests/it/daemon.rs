//! The whole daemon: `fro-bot serve` with the worker that it starts, a little Discord, a little GitHub, the real engine.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

use fro_core::{
    RepoName,
    chat::{
        AuditAction, AuditEntry, ChannelId, ChannelLink, ChannelSettings, GuildId, RoleId, Roles, Ruling,
        UserId,
    },
};
use fro_serve::{Address, Store};
use fro_sim::{
    World,
    discord::{Chat, Discord},
};
use jiff::Timestamp;
use tempfile::TempDir;

/// A mention in a linked channel opens a thread and is answered there; words in the thread go on with the session, also
/// after both processes were started anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_channel_is_answered_by_both_processes_and_a_thread_goes_on_after_a_restart() {
    let stage = Stage::open().await;
    let model = stage.github.model();
    let garden = stage.discord.channel("garden");

    let serving = stage.serve().await;
    model.says("The hose leaks at the brass coupling.");
    let thread = stage.discord.says("maya", garden, "@fro-bot why is the floor wet?");
    stage.until_said(thread, "The hose leaks at the brass coupling.").await;
    stage.stop(serving).await;

    let serving = stage.serve().await;
    model.says("Since Tuesday.");
    stage.discord.says("maya", thread, "And since when?");
    stage.until_said(thread, "Since Tuesday.").await;
    let seen = serde_json::json!(model.seen().last().unwrap().body).to_string();
    assert!(seen.contains("brass coupling"), "it does not know what was said: {seen}");
    stage.stop(serving).await;

    let answers = stage.said(thread);
    let once = |words: &str| answers.iter().filter(|text| text.contains(words)).count();
    assert_eq!((once("brass coupling"), once("Since Tuesday")), (1, 1), "{answers:?}");
}

struct Stage {
    github: World,
    discord: Discord,
    folder: TempDir,
}

impl Stage {
    /// #garden is octo/garden's, and maintainers may ask.
    async fn open() -> Self {
        let (github, discord) = (World::start().await.unwrap(), Discord::start().await.unwrap());
        github.model().answers_aside("no");
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("scratch")).unwrap();
        let store = Store::open(&Address::File(folder.path().join("store.db"))).await.unwrap();
        let guild = GuildId::new(discord.state(|chat| chat.guilds[0].id)).unwrap();
        let maya = UserId::new(discord.person("maya")).unwrap();
        let entry = |action| AuditEntry {
            at: Timestamp::now(),
            guild,
            actor: Some(maya),
            roles: Vec::new(),
            action,
            target: String::new(),
            before: None,
            after: None,
            ruling: Ruling::Granted,
        };
        let link = ChannelLink {
            channel: ChannelId::new(discord.channel("garden")).unwrap(),
            guild,
            repository: RepoName::parse("octo/garden").unwrap(),
            settings: ChannelSettings::default(),
            linked_by: maya,
            linked_at: Timestamp::now(),
        };
        store.link(&link, entry(AuditAction::Link)).await.unwrap();
        let maintainers = RoleId::new(guild.number() + 2).unwrap();
        let roles = Roles { askers: [maintainers].into(), ..Roles::default() };
        let before = store.policy(guild).await.unwrap();
        assert!(store.set_policy(guild, &before, &roles, entry(AuditAction::SetPolicy)).await.unwrap());
        Self { github, discord, folder }
    }

    /// Starts `fro-bot serve`, which starts its worker.
    async fn serve(&self) -> Child {
        let (github, folder) = (&self.github, self.folder.path());
        let program = env!("CARGO_BIN_EXE_fro-bot");
        let tools = std::path::Path::new(program).ancestors().nth(2).unwrap().join("tools");
        let serving = Command::new(program)
            .args(["serve", "--store"])
            .arg(folder.join("store.db"))
            .current_dir(folder)
            .env_remove("CI")
            .env("FRO_DISCORD_TOKEN", self.discord.token())
            .env("FRO_DISCORD_API", self.discord.api_url())
            .env("FRO_DISCORD_GATEWAY", self.discord.gateway_url())
            .env("GITHUB_API_URL", github.api_url())
            .env("GITHUB_GRAPHQL_URL", github.graphql_url())
            .env("GITHUB_SERVER_URL", github.api_url())
            .env("GITHUB_TOKEN", github.token("fro-bot"))
            .env("INPUT_OPENCODE-CONFIG", github.model().provider().to_string())
            .env("INPUT_ENABLE-OMO", "false")
            .env("RUNNER_TOOL_CACHE", tools)
            .env("RUNNER_TEMP", folder.join("scratch"))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        self.discord.wait_until_connected(1).await;
        serving
    }

    /// Asks the daemon to stop, and checks that nothing of it stays.
    async fn stop(&self, mut serving: Child) {
        let pid = rustix::process::Pid::from_child(&serving);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let ended = tokio::task::spawn_blocking(move || serving.wait().unwrap()).await.unwrap();
        assert_eq!(ended.code(), Some(0));
        self.discord.wait_until_connected(0).await;
        let left: Vec<_> = fs_err::read_dir(self.folder.path().join("scratch")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Waits until the bot has said this in a thread.
    async fn until_said(&self, thread: u64, words: &str) {
        let bot = self.discord.state(|chat| chat.application.id);
        let said = |chat: &Chat| {
            chat.messages_in(thread).any(|message| message.author == bot && message.content.contains(words))
        };
        let waiting = self.discord.wait_until(said);
        let ended = tokio::time::timeout(Duration::from_mins(2), waiting).await;
        assert!(ended.is_ok(), "{words:?} was not said; instead: {:?}", self.said(thread));
    }

    fn said(&self, thread: u64) -> Vec<String> {
        let bot = self.discord.state(|chat| chat.application.id);
        self.discord.state(|chat| {
            let ours = chat.messages_in(thread).filter(|message| message.author == bot);
            ours.map(|message| message.content.clone()).collect()
        })
    }
}
