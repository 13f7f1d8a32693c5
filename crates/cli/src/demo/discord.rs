//! The demo of Discord: a question in a channel, one more in its thread, and an issue on GitHub that remembers both.

mod script;

use std::{process::ExitCode, sync::Arc, time::Duration};

use anstream::println;
use fro_core::{
    Fault, Redactor, RepoName, Secret,
    chat::{
        AuditAction, AuditEntry, ChannelId, ChannelLink, ChannelSettings, GuildId, RoleId, Roles, Ruling,
        UserId, say::APPROVAL_TIME,
    },
};
use fro_http::{Client, ClientSettings};
use fro_run::{Ending, Process, REPO_SETTINGS, Settings};
use fro_serve::{Address, Caps, Pace, ServeSettings, Server, Status, Store, Watch, WorkSettings, Worker};
use fro_sim::discord::{Chat, Discord};
use jiff::Timestamp;
use tokio::{sync::watch, time};

use super::{Stage, garden, next, play, show::DemoScreen};
use crate::{action, interrupt};

/// Between two looks at the little Discord.
const LOOK: Duration = Duration::from_millis(100);

/// The little Discord, the daemon's store, and who plays.
struct DiscordDemo<'a> {
    stage: &'a Stage,
    discord: Discord,
    store: Store,
    show: &'a DemoScreen,
}

/// Plays it, and leaves the channel open if that is wanted.
pub(super) async fn main(
    stage: &Stage,
    settings: Settings,
    (show, keep): (&DemoScreen, bool),
    interrupt: &mut interrupt::Interrupt,
) -> Result<ExitCode, Fault> {
    let room = DiscordDemo::open(stage, show).await?;
    let garden = room.discord.channel("garden");
    let page = room.discord.page_url(garden);
    let what = "a channel on Discord and an issue on GitHub, answered from one memory";
    show.opening(("Discord", &page), what, "with a scripted model");
    let ending = Box::pin(room.perform(settings, garden, interrupt)).await.inspect_err(|_| show.done())?;
    show.done();
    match ending {
        Ending::Interrupted => {
            println!("interrupted; nothing is left behind");
            return Ok(ExitCode::from(interrupt::EXIT_CODE));
        }
        _ if keep => {
            println!("\nThe simulated Discord stays open until Ctrl-C:\n  {page}");
            interrupt.asked().await;
        }
        _ => println!("{}", next(Some("--discord"))),
    }
    Ok(action::exit_code(&ending))
}

impl<'a> DiscordDemo<'a> {
    /// Links #garden to octo/garden, and lets maintainers ask, as `/link` and `/policy` do.
    async fn open(stage: &'a Stage, show: &'a DemoScreen) -> Result<Self, Fault> {
        let discord = Discord::start().await;
        let discord =
            discord.map_err(|error| Fault::ours(format!("cannot open a port on this machine: {error}")))?;
        let store = Store::open(&Address::File(stage.folder.path().join("store.db"))).await;
        let room = Self { stage, discord, store: store.map_err(|error| error.fault())?, show };
        room.link().await?;
        Ok(room)
    }

    async fn link(&self) -> Result<(), Fault> {
        let missing = || Fault::ours("the little Discord has no guild");
        let number =
            self.discord.state(|chat| chat.guilds.first().map(|guild| guild.id)).ok_or_else(missing)?;
        let guild = GuildId::new(number).ok_or_else(missing)?;
        let maya = UserId::new(self.discord.person("maya")).ok_or_else(missing)?;
        let link = ChannelLink {
            channel: ChannelId::new(self.discord.channel("garden")).ok_or_else(missing)?,
            guild,
            repository: RepoName::parse(garden::REPO).map_err(|error| Fault::ours(error.to_string()))?,
            settings: ChannelSettings::default(),
            linked_by: maya,
            linked_at: Timestamp::now(),
        };
        let maintainers = self.discord.state(|chat| {
            let roles = &chat.guilds.first()?.roles;
            roles.iter().find(|role| role.name == "maintainers").and_then(|role| RoleId::new(role.id))
        });
        let roles = Roles { askers: maintainers.into_iter().collect(), ..Roles::default() };
        let granted = |action| granted(guild, maya, action);
        let before = self.store.policy(guild).await.map_err(|error| error.fault())?;
        let linked = self.store.link(&link, granted(AuditAction::Link)).await;
        let set = self.store.set_policy(guild, &before, &roles, granted(AuditAction::SetPolicy)).await;
        linked.and(set).map(drop).map_err(|error| error.fault())
    }

    /// Lets the daemon run, both of its processes in this one, for as long as people talk.
    async fn perform(
        &self,
        settings: Settings,
        channel: u64,
        interrupt: &mut interrupt::Interrupt,
    ) -> Result<Ending, Fault> {
        let (server, worker) = (self.server().await?, self.worker(&settings));
        let (leave, leaving) = watch::channel(false);
        let asked_to_leave = || {
            let mut leaving = leaving.clone();
            async move { drop(leaving.wait_for(|leave| *leave).await) }
        };
        let playing = async {
            let ending = Box::pin(self.acts(settings, channel, interrupt)).await;
            leave.send_replace(true);
            ending
        };
        let (ending, (), drained) =
            tokio::join!(playing, server.run(asked_to_leave()), Box::pin(worker.run(asked_to_leave())));
        drained.and(ending)
    }

    async fn server(&self) -> Result<Server, Fault> {
        let client = Client::new(ClientSettings::loopback()).map_err(|error| error.fault())?;
        let settings = ServeSettings {
            discord: fro_discord::Settings {
                api: self.discord.api_url(),
                gateway: Some(self.discord.gateway_url()),
                ..fro_discord::Settings::new(Secret::new(self.discord.token()))
            },
            name: "serve".to_owned(),
            sign_in: None,
            first_roles: Vec::new(),
            redactor: Redactor::knowing([]),
            pace: Pace::default(),
            watch: Arc::new(Watch::of_serve(self.store.clone(), client.clone())),
        };
        Server::open(settings, self.store.clone(), &client).await
    }

    fn worker(&self, settings: &Settings) -> Worker {
        let settings = WorkSettings {
            agent: settings.agent.clone(),
            policy: settings.policy.clone(),
            wishes: settings.wishes.clone(),
        };
        Worker {
            store: self.store.clone(),
            name: "work".to_owned(),
            caps: Caps { all: 1, repository: 1 },
            most: 1,
            lease: Duration::from_secs(30),
            pace: LOOK,
            approval_time: APPROVAL_TIME,
            engine_memory: None,
            patience: Duration::from_secs(5),
            file_hosts: Vec::new(),
            repo_settings: REPO_SETTINGS,
            process: fro_agent::Process::new(settings.agent.clone()),
            settings: Box::new(move |_, _| Ok(settings.clone())),
            watch: Arc::new(Watch::of_work(self.store.clone())),
        }
    }

    /// A question, one more in its thread, and an issue.
    async fn acts(
        &self,
        settings: Settings,
        channel: u64,
        interrupt: &mut interrupt::Interrupt,
    ) -> Result<Ending, Fault> {
        let model = self.stage.world.model();
        script::rehearse(&model);
        self.show.act("maya asks in #garden, which is linked to octo/garden");
        let thread = self.discord.says("maya", channel, script::FIRST);
        if !self.answered(thread, interrupt).await? {
            return Ok(Ending::Interrupted);
        }
        self.show.act("maya goes on in the thread: the same session, from the memory");
        self.discord.says("maya", thread, script::SECOND);
        if !self.answered(thread, interrupt).await? {
            return Ok(Ending::Interrupted);
        }
        self.show.act("maya asks on an issue on GitHub, where a run recalls what the thread learned");
        let request = script::on_github(&self.stage.world)?;
        let occasion = self.stage.occasion(request.event, Timestamp::now());
        let process = Process::new(settings);
        let ending = Box::pin(play(&process, &occasion, &|news| self.show.tell(&news), interrupt)).await?;
        if ending != Ending::Interrupted {
            self.show.comment(&garden::answer(&self.stage.world, request.issue)?);
        }
        Ok(ending)
    }

    /// Shows what is said in a thread until the daemon has nothing to do any more; tells whether it came to that.
    async fn answered(&self, thread: u64, interrupt: &mut interrupt::Interrupt) -> Result<bool, Fault> {
        let is_open = || self.discord.state(|chat| chat.channel(thread).is_some());
        let mut was_open = is_open();
        // What an earlier act has shown is not shown again.
        let known = if was_open {
            self.discord.state(|chat| said_in(chat, thread)).len().saturating_sub(1)
        } else {
            0
        };
        loop {
            let status = self.store.status(Timestamp::now()).await.map_err(|error| error.fault())?;
            let said = self.discord.state(|chat| said_in(chat, thread));
            let is_over = is_idle(&status) && said.last().is_some_and(|last| last.is_ours);
            if !was_open && is_open() {
                self.show.note("the thread is open");
                was_open = true;
            }
            if is_over {
                self.show.note("the turn is done, and remembered");
                for words in said.iter().skip(known) {
                    self.show.lines(&words.lines());
                }
                return Ok(true);
            }
            tokio::select! {
                () = time::sleep(LOOK) => {}
                () = interrupt.asked() => return Ok(false),
            }
        }
    }
}

/// Something that was said.
struct Shown {
    who: String,
    text: String,
    is_ours: bool,
}

impl Shown {
    fn lines(&self) -> Vec<String> {
        let named = std::iter::once(format!("{}:", self.who));
        named.chain(self.text.lines().map(|line| format!("  {line}"))).collect()
    }
}

/// Returns what stands in a thread, with the words on which it was opened.
fn said_in(chat: &Chat, thread: u64) -> Vec<Shown> {
    let parent = chat.channel(thread).and_then(|place| place.thread.as_ref()).map(|thread| thread.parent);
    let first = parent.and_then(|channel| chat.message(channel, thread)).into_iter();
    let messages = first.chain(chat.messages_in(thread)).filter(|message| !message.content.is_empty());
    let shown = messages.map(|message| {
        let who = chat.account(message.author).map_or("somebody", |account| account.name.as_str()).to_owned();
        let text = chat.accounts.iter().fold(message.content.clone(), |text, account| {
            text.replace(&format!("<@{}>", account.id), &format!("@{}", account.name))
        });
        Shown { is_ours: message.author == chat.application.id, who, text }
    });
    shown.collect()
}

fn is_idle(status: &Status) -> bool {
    (status.waiting, status.running, status.outbox) == (0, 0, 0)
}

fn granted(guild: GuildId, actor: UserId, action: AuditAction) -> AuditEntry {
    AuditEntry {
        at: Timestamp::now(),
        guild,
        actor: Some(actor),
        roles: Vec::new(),
        action,
        target: garden::REPO.to_owned(),
        before: None,
        after: None,
        ruling: Ruling::Granted,
    }
}
