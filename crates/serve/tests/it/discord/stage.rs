//! A Discord, a store, a process that serves both, and a worker by hand.

use std::{future::pending, thread, time::Duration};

use fro_core::{
    Redactor, RepoName, Secret,
    chat::{AuditAction, ChannelId, ChannelLink, ChannelSettings, Deed, GuildId, RoleId, Roles, UserId},
};
use fro_http::{Client, ClientSettings, Retry};
use fro_serve::{Claimed, Pace, ServeSettings, Server, SignIn, Store, Watch};
use fro_sim::discord::{Chat, ChatMessage, Discord as World};
use jiff::Timestamp;
use tokio::{runtime, sync::oneshot, time};

use crate::{
    contract::{CAPS, entry, spent},
    databases::{Database, file},
};

pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) store: Store,
    pub(crate) sign_in: Option<SignIn>,
    pub(crate) first_roles: Vec<(GuildId, Roles)>,
    _database: Database,
}

/// A process that serves: a runtime of its own, which takes everything with it that was begun there.
pub(crate) struct Serving {
    stop: oneshot::Sender<()>,
    kill: oneshot::Sender<()>,
    thread: thread::JoinHandle<()>,
}

impl Serving {
    fn start(server: Server) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (kill, killed) = oneshot::channel();
        let asked = async {
            if stopped.await.is_err() {
                pending::<()>().await;
            }
        };
        let thread = thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = server.run(asked) => {}
                    _ = killed => {}
                }
            });
        });
        Self { stop, kill, thread }
    }

    /// Ends it as a signal would that leaves no time.
    pub(crate) async fn kill(self) {
        drop(self.kill);
        ended(self.thread).await;
    }

    /// Asks it to end.
    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        ended(self.thread).await;
    }
}

async fn ended(thread: thread::JoinHandle<()>) {
    tokio::task::spawn_blocking(|| thread.join().unwrap()).await.unwrap();
}

impl Stage {
    /// #garden is octo/garden's; maintainers may everything.
    pub(crate) async fn new() -> Self {
        let stage = Self::unlinked().await;
        let link = ChannelLink {
            channel: stage.garden(),
            guild: stage.guild(),
            repository: RepoName::parse("octo/garden").unwrap(),
            settings: ChannelSettings::default(),
            linked_by: stage.person("maya"),
            linked_at: Timestamp::UNIX_EPOCH,
        };
        stage.store.link(&link, entry(AuditAction::Link, "garden")).await.unwrap();
        stage.allow_maintainers().await;
        stage
    }

    pub(crate) async fn unlinked() -> Self {
        let (world, database) = (World::start().await.unwrap(), file());
        let store = database.open().await;
        Self { world, store, sign_in: None, first_roles: Vec::new(), _database: database }
    }

    pub(crate) async fn allow_maintainers(&self) {
        let set = || [RoleId::new(self.guild().number() + 2).unwrap()].into();
        let roles = Roles { linkers: set(), askers: set(), approvers: set(), ..Roles::default() };
        let was = self.store.policy(self.guild()).await.unwrap();
        let entry = entry(AuditAction::SetPolicy, "roles");
        assert!(self.store.set_policy(self.guild(), &was, &roles, entry).await.unwrap());
    }

    pub(crate) async fn serve(&self) -> Serving {
        let pauses: Vec<_> = [1, 1, 1].map(Duration::from_millis).into();
        let retry =
            Retry { failing: pauses.clone(), limited: pauses.clone(), longest: Duration::from_secs(5) };
        let client = Client::new(ClientSettings { retry, ..ClientSettings::loopback() }).unwrap();
        let discord = fro_discord::Settings {
            api: self.world.api_url(),
            gateway: Some(self.world.gateway_url()),
            refused: pauses,
            ..fro_discord::Settings::new(Secret::new(self.world.token()))
        };
        let beat = Duration::from_millis(20);
        // The same name each time: whoever starts again under it goes on at once.
        let settings = ServeSettings {
            discord,
            name: "serve-1".to_owned(),
            sign_in: self.sign_in.clone(),
            first_roles: self.first_roles.clone(),
            redactor: Redactor::knowing([&Secret::new("planted-secret-value")]),
            pace: Pace { look: beat, typing: beat, again: beat, ..Pace::default() },
            watch: Watch::of_serve(self.store.clone(), client.clone()).into(),
        };
        let server = Server::open(settings, self.store.clone(), &client).await.unwrap();
        let serving = Serving::start(server);
        self.world.wait_until_connected(1).await;
        serving
    }

    pub(crate) fn guild(&self) -> GuildId {
        GuildId::new(self.world.state(|chat| chat.guilds[0].id)).unwrap()
    }

    pub(crate) fn garden(&self) -> ChannelId {
        ChannelId::new(self.world.channel("garden")).unwrap()
    }

    pub(crate) fn person(&self, name: &str) -> UserId {
        UserId::new(self.world.person(name)).unwrap()
    }

    pub(crate) fn says(&self, name: &str, text: &str) -> u64 {
        self.world.says(name, self.garden().number(), text)
    }

    /// What the bot says in a channel or thread, as all see it.
    pub(crate) fn said(&self, channel: u64) -> Vec<String> {
        let bot = self.world.state(|chat| chat.application.id);
        let by_us = |it: &&ChatMessage| it.author == bot && !it.ephemeral();
        self.world
            .state(|chat| chat.messages_in(channel).filter(by_us).map(|it| it.content.clone()).collect())
    }

    pub(crate) async fn until(&self, fact: impl FnMut(&Chat) -> bool) {
        self.world.wait_until(fact).await;
    }

    /// Waits until the bot has said so much in a channel.
    pub(crate) async fn until_said(&self, channel: u64, count: usize) -> Vec<String> {
        let bot = self.world.state(|chat| chat.application.id);
        self.until(|chat| chat.messages_in(channel).filter(|it| it.author == bot).count() >= count).await;
        self.said(channel)
    }

    pub(crate) async fn until_thread(&self, id: u64) {
        self.until(|chat| chat.channel(id).is_some()).await;
    }

    /// Waits until somebody's command or click has its answer.
    pub(crate) async fn answer_to(&self, interaction: u64) -> String {
        let answer = |chat: &Chat| {
            let found = chat.messages.iter().find(|it| it.interaction == Some(interaction));
            found.map(|it| it.content.clone()).filter(|text| !text.is_empty())
        };
        self.until(|chat| answer(chat).is_some()).await;
        self.world.state(|chat| answer(chat).unwrap())
    }

    /// What the menu of an answer offers.
    pub(crate) fn offered_in(&self, interaction: u64) -> Vec<String> {
        self.world.state(|chat| {
            let answer = chat.messages.iter().find(|it| it.interaction == Some(interaction)).unwrap();
            let options = answer.components[0]["components"][0]["options"].as_array().unwrap();
            options.iter().map(|it| it["value"].as_str().unwrap().to_owned()).collect()
        })
    }

    /// Serves a mention of Maya's up to the moment at which a worker has taken it and its thread is open.
    pub(crate) async fn under_way(&self) -> (Serving, u64, Claimed) {
        let serving = self.serve().await;
        let thread = self.says("maya", "@fro-bot one");
        let claimed = self.claim().await;
        self.until_thread(thread).await;
        (serving, thread, claimed)
    }

    /// Waits until there is a turn, and takes it as a worker does.
    pub(crate) async fn claim(&self) -> Claimed {
        let claiming = async {
            loop {
                let lease = Duration::from_secs(30);
                if let Some(claimed) = self.store.claim("w", CAPS, Timestamp::now(), lease).await.unwrap() {
                    return claimed;
                }
                time::sleep(Duration::from_millis(5)).await;
            }
        };
        time::timeout(Duration::from_mins(1), claiming).await.unwrap()
    }

    /// Answers a turn with one message that repeats its words, and returns the words.
    pub(crate) async fn work(&self) -> String {
        let claimed = self.claim().await;
        self.finish(&claimed, &format!("You asked: {}", claimed.turn.words.text)).await;
        claimed.turn.words.text
    }

    pub(crate) async fn finish(&self, claimed: &Claimed, text: &str) {
        let deed = Deed::say(claimed.turn.thread, text);
        self.store.say(claimed.lease, 0, &deed, Timestamp::now()).await.unwrap();
        self.store.finish(claimed.lease, &spent(), Timestamp::now()).await.unwrap();
    }
}
