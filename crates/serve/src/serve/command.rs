//! Commands and clicks: who may, what is done, and what is answered.
//!
//! Discord waits three seconds, so a promise is given first and the answer follows. Everything that is refused is
//! written down.

mod manage;
mod pick;
mod sessions;
mod show;
mod talk;

use std::sync::Arc;

use fro_core::{
    Fault,
    chat::{
        AccountAccess, AuditAction, ChannelId, Click, Denial, GuildId, Membership, ParameterKind, Pick,
        Requirement, RoleId, SlashCommand, Speaker, TextFile, UserId, WantedHere, decide, say,
    },
};
use fro_discord::{
    AnswerVisibility, Choice, CommandOption, CommandSpec, Interaction, InteractionId, InteractionKind,
    OptionKind, OptionValue, Post, Row, Upload,
};
use tracing::{debug, warn};

use super::{
    daemon::{Daemon, entry},
    link,
};
use crate::store;

/// Somebody who gave a command or clicked.
pub(super) struct Caller {
    pub(super) guild: GuildId,
    pub(super) channel: ChannelId,
    pub(super) id: UserId,
    /// What they are called.
    pub(super) name: String,
    /// The number of their command or click.
    pub(super) asked: InteractionId,
    pub(super) roles: Vec<RoleId>,
    pub(super) speaker: Speaker,
}

/// What kept a command from being done.
pub(super) enum Trouble {
    /// Somebody may not.
    Denied(Denial),
    /// Something broke.
    Broke(Fault),
}

impl From<Denial> for Trouble {
    fn from(denial: Denial) -> Self {
        Self::Denied(denial)
    }
}

impl From<store::Error> for Trouble {
    fn from(error: store::Error) -> Self {
        Self::Broke(error.fault())
    }
}

impl From<fro_discord::Error> for Trouble {
    fn from(error: fro_discord::Error) -> Self {
        Self::Broke(error.fault())
    }
}

impl From<fro_github::Error> for Trouble {
    fn from(error: fro_github::Error) -> Self {
        Self::Broke(error.fault())
    }
}

/// Returns the commands as Discord is told them.
pub(super) fn specs() -> Vec<CommandSpec> {
    let option = |it: &fro_core::chat::Parameter| CommandOption {
        name: it.name.to_owned(),
        description: it.about.to_owned(),
        kind: match it.kind {
            ParameterKind::Text => OptionKind::Text,
            ParameterKind::Role => OptionKind::Role,
            ParameterKind::OneOf(words) => {
                let choice = |word: &&str| Choice { name: (*word).to_owned(), value: (*word).to_owned() };
                OptionKind::OneOf(words.iter().map(choice).collect())
            }
        },
        required: it.need == Requirement::Must,
    };
    let spec = |command: SlashCommand| CommandSpec {
        name: command.name().to_owned(),
        description: command.about().to_owned(),
        options: command.parameters().iter().map(option).collect(),
    };
    SlashCommand::ALL.map(spec).into()
}

/// Answers a command or a click.
pub(super) async fn answer(daemon: Arc<Daemon>, asked: Interaction) {
    let answered = match &asked.what {
        InteractionKind::Command { name, .. } => match SlashCommand::named(name) {
            Some(command) => obey(&daemon, &asked, command).await,
            None => return,
        },
        InteractionKind::Button { custom_id, message } => match Click::read(custom_id) {
            Some(click) => talk::click(&daemon, &asked, click, *message).await,
            None => tell(&daemon, &asked, &say::command::stale()).await,
        },
        InteractionKind::Menu { custom_id, chosen, message } => match Pick::read(custom_id) {
            Some(pick) => pick::chosen(&daemon, &asked, (pick, chosen), *message).await,
            None => tell(&daemon, &asked, &say::command::stale()).await,
        },
        // None of ours has these.
        InteractionKind::Complete { .. } | InteractionKind::Form { .. } => return,
    };
    // An answer that comes too late, as after a restart, is nobody's any more.
    if let Err(error) = answered {
        debug!("{error}");
    }
}

async fn obey(daemon: &Daemon, asked: &Interaction, command: SlashCommand) -> Result<(), fro_discord::Error> {
    let answer = match promise(daemon, asked).await? {
        Ok(caller) => match done(daemon, asked, &caller, command).await {
            Ok(answer) => answer,
            Err(trouble) => apologise(daemon, &caller, action(command), command.name(), trouble).await.into(),
        },
        Err(why) => why,
    };
    give(daemon, asked, answer).await
}

/// Promises whoever asks an answer, before anything is looked up, and reads who they are; or says why there is none.
async fn promise(daemon: &Daemon, asked: &Interaction) -> Result<Result<Caller, Reply>, fro_discord::Error> {
    daemon.discord.defer(asked, AnswerVisibility::ByAsker).await?;
    Ok(match caller_of(daemon, asked).await {
        Ok(caller) => caller.ok_or_else(|| say::command::no_guild().into()),
        Err(error) => {
            warn!("{error}");
            Err(say::command::broke().into())
        }
    })
}

/// Gives the answer that was promised. If Discord refuses it, whoever waits for it hears so.
async fn give(daemon: &Daemon, asked: &Interaction, answer: Reply) -> Result<(), fro_discord::Error> {
    let Err(refused) = daemon.discord.edit_answer(asked, &answer.post(daemon)).await else { return Ok(()) };
    if refused.gone() || refused.stranger() {
        return Err(refused);
    }
    warn!("{refused}");
    let apology = daemon.post(&say::command::unanswerable());
    daemon.discord.edit_answer(asked, &apology).await.map(drop)
}

/// What is answered to a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    text: String,
    menu: Option<Row>,
    file: Option<TextFile>,
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self { text, menu: None, file: None }
    }
}

impl Reply {
    fn post(self, daemon: &Daemon) -> Post {
        let upload = |file: TextFile| Upload {
            bytes: daemon.clean(&file.text).as_str().as_bytes().to_vec(),
            name: file.name,
        };
        Post {
            rows: self.menu.into_iter().collect(),
            files: self.file.map(upload).into_iter().collect(),
            ..daemon.post(&self.text)
        }
    }
}

async fn done(
    daemon: &Daemon,
    asked: &Interaction,
    caller: &Caller,
    command: SlashCommand,
) -> Result<Reply, Trouble> {
    let text = match command {
        SlashCommand::Link => link::link(daemon, asked, caller).await,
        SlashCommand::Account => link::account(daemon, asked, caller).await,
        SlashCommand::Unlink => link::unlink(daemon, caller).await,
        SlashCommand::Links => manage::links(daemon, caller).await,
        SlashCommand::Listen => manage::listen(daemon, asked, caller).await,
        SlashCommand::Policy => manage::policy(daemon, asked, caller).await,
        SlashCommand::Audit => manage::audit(daemon, caller).await,
        SlashCommand::Model | SlashCommand::Agent => {
            return manage::choose_or_offer(daemon, asked, caller, command).await;
        }
        SlashCommand::Verbosity => manage::verbosity(daemon, asked, caller).await,
        SlashCommand::Approvals => manage::approvals(daemon, asked, caller).await,
        SlashCommand::Status => manage::status(daemon, caller).await,
        SlashCommand::Help => Ok(say::command::help()),
        SlashCommand::New => talk::new(daemon, asked, caller).await,
        SlashCommand::Resume => return talk::resume(daemon, asked, caller).await,
        SlashCommand::Fork => talk::fork(daemon, asked, caller).await,
        SlashCommand::Sessions => sessions::list(daemon, asked, caller).await,
        SlashCommand::Diff => return show::diff(daemon, caller).await,
        SlashCommand::Share => return show::share(daemon, caller).await,
        SlashCommand::Abort => talk::abort(daemon, caller).await,
        SlashCommand::Queue => talk::queue(daemon, caller).await,
    };
    text.map(Reply::from)
}

/// Writes a refusal down, and says what went wrong.
pub(super) async fn apologise(
    daemon: &Daemon,
    caller: &Caller,
    action: AuditAction,
    target: &str,
    trouble: Trouble,
) -> String {
    match trouble {
        Trouble::Denied(denial) => {
            let entry = caller.entry(action, target).denied(denial.to_string());
            daemon.insist("write down a refusal", || daemon.store.record(&entry)).await;
            say::refused(denial)
        }
        Trouble::Broke(fault) => {
            warn!("a command failed: {}", fault.what());
            say::command::broke()
        }
    }
}

/// Reads who asks; nobody outside of a guild.
async fn caller_of(daemon: &Daemon, asked: &Interaction) -> Result<Option<Caller>, fro_discord::Error> {
    let Some(guild) = asked.guild else { return Ok(None) };
    let membership = if asked.asker.bot {
        Membership::Automaton
    } else {
        daemon.places.membership(guild, asked.asker.id).await?
    };
    let roles = asked.roles.iter().copied().collect();
    let speaker = Speaker { id: asked.asker.id, membership, roles, account: AccountAccess::NoAccount };
    let (id, name, roles) = (asked.asker.id, asked.asker.name.clone(), asked.roles.clone());
    Ok(Some(Caller { guild, channel: asked.channel, id, name, asked: asked.id, roles, speaker }))
}

/// Answers a click to whoever clicked.
pub(super) async fn tell(daemon: &Daemon, asked: &Interaction, text: &str) -> Result<(), fro_discord::Error> {
    daemon.discord.answer(asked, &daemon.post(text), AnswerVisibility::ByAsker).await
}

impl Caller {
    /// Asks whether they may.
    pub(super) async fn may(&self, daemon: &Daemon, wanted: WantedHere) -> Result<(), Trouble> {
        let roles = daemon.store.policy(self.guild).await?.roles;
        decide(wanted, &self.speaker, &roles)?;
        Ok(())
    }

    /// Reads what they are by now.
    pub(super) async fn as_of_now(&self, daemon: &Daemon) -> Result<Speaker, Trouble> {
        let (membership, roles) = match daemon.places.roles(self.guild, self.id).await? {
            Some(roles) => (daemon.places.membership(self.guild, self.id).await?, roles),
            None => (Membership::Outsider, Vec::new()),
        };
        Ok(Speaker { membership, roles: roles.into_iter().collect(), ..self.speaker.clone() })
    }

    pub(super) fn entry(&self, action: AuditAction, target: impl Into<String>) -> fro_core::chat::AuditEntry {
        entry(self.guild, (Some(self.id), &self.roles), action, target)
    }
}

/// Returns a text that a command was given.
pub(super) fn given<'a>(asked: &'a Interaction, name: &str) -> Option<&'a str> {
    let InteractionKind::Command { options, .. } = &asked.what else { return None };
    match options.get(name)? {
        OptionValue::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        OptionValue::Number(_)
        | OptionValue::Flag(_)
        | OptionValue::User(_)
        | OptionValue::Channel(_)
        | OptionValue::Role(_) => None,
    }
}

/// Says under which name a refused command is written down.
fn action(command: SlashCommand) -> AuditAction {
    match command {
        SlashCommand::Link => AuditAction::Link,
        SlashCommand::Unlink => AuditAction::Unlink,
        SlashCommand::Account => AuditAction::ProveAccount,
        SlashCommand::Policy => AuditAction::SetPolicy,
        SlashCommand::Audit => AuditAction::ReadAudit,
        SlashCommand::Abort => AuditAction::Abort,
        SlashCommand::Listen
        | SlashCommand::Model
        | SlashCommand::Agent
        | SlashCommand::Verbosity
        | SlashCommand::Approvals => AuditAction::Choose,
        SlashCommand::New
        | SlashCommand::Resume
        | SlashCommand::Fork
        | SlashCommand::Diff
        | SlashCommand::Share
        | SlashCommand::Sessions
        | SlashCommand::Queue
        | SlashCommand::Links
        | SlashCommand::Status
        | SlashCommand::Help => AuditAction::Ask,
    }
}
