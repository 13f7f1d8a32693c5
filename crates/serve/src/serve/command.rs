//! Commands and clicks: who may, what is done, and what is answered.
//!
//! Discord waits three seconds, so a promise is given first and the answer follows. Everything that is refused is
//! written down.

mod manage;
mod pick;
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
    Asked, Choice, CommandOption, CommandSpec, Given, Interaction, InteractionId, OptionKind, Post, Row,
    Seen, Upload,
};
use tracing::{debug, warn};

use super::{
    desk::{Desk, entry},
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
pub(super) async fn answer(desk: Arc<Desk>, asked: Interaction) {
    let answered = match &asked.what {
        Asked::Command { name, .. } => match SlashCommand::named(name) {
            Some(command) => obey(&desk, &asked, command).await,
            None => return,
        },
        Asked::Button { custom_id, message } => match Click::read(custom_id) {
            Some(click) => talk::click(&desk, &asked, click, *message).await,
            None => tell(&desk, &asked, &say::command::stale()).await,
        },
        Asked::Menu { custom_id, chosen, message } => match Pick::read(custom_id) {
            Some(pick) => pick::chosen(&desk, &asked, (pick, chosen), *message).await,
            None => tell(&desk, &asked, &say::command::stale()).await,
        },
        // None of ours has these.
        Asked::Complete { .. } | Asked::Form { .. } => return,
    };
    // An answer that comes too late, as after a restart, is nobody's any more.
    if let Err(error) = answered {
        debug!("{error}");
    }
}

async fn obey(desk: &Desk, asked: &Interaction, command: SlashCommand) -> Result<(), fro_discord::Error> {
    let answer = match promise(desk, asked).await? {
        Ok(caller) => match done(desk, asked, &caller, command).await {
            Ok(answer) => answer,
            Err(trouble) => apologise(desk, &caller, action(command), command.name(), trouble).await.into(),
        },
        Err(why) => why,
    };
    give(desk, asked, answer).await
}

/// Promises whoever asks an answer, before anything is looked up, and reads who they are; or says why there is none.
async fn promise(desk: &Desk, asked: &Interaction) -> Result<Result<Caller, Reply>, fro_discord::Error> {
    desk.discord.defer(asked, Seen::ByAsker).await?;
    Ok(match caller_of(desk, asked).await {
        Ok(caller) => caller.ok_or_else(|| say::command::no_guild().into()),
        Err(error) => {
            warn!("{error}");
            Err(say::command::broke().into())
        }
    })
}

/// Gives the answer that was promised. If Discord refuses it, whoever waits for it hears so.
async fn give(desk: &Desk, asked: &Interaction, answer: Reply) -> Result<(), fro_discord::Error> {
    let Err(refused) = desk.discord.edit_answer(asked, &answer.post(desk)).await else { return Ok(()) };
    if refused.gone() || refused.stranger() {
        return Err(refused);
    }
    warn!("{refused}");
    let apology = desk.post(&say::command::unanswerable());
    desk.discord.edit_answer(asked, &apology).await.map(drop)
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
    fn post(self, desk: &Desk) -> Post {
        let upload = |file: TextFile| Upload {
            bytes: desk.clean(&file.text).as_str().as_bytes().to_vec(),
            name: file.name,
        };
        Post {
            rows: self.menu.into_iter().collect(),
            files: self.file.map(upload).into_iter().collect(),
            ..desk.post(&self.text)
        }
    }
}

async fn done(
    desk: &Desk,
    asked: &Interaction,
    caller: &Caller,
    command: SlashCommand,
) -> Result<Reply, Trouble> {
    let text = match command {
        SlashCommand::Link => link::link(desk, asked, caller).await,
        SlashCommand::Account => link::account(desk, asked, caller).await,
        SlashCommand::Unlink => link::unlink(desk, caller).await,
        SlashCommand::Links => manage::links(desk, caller).await,
        SlashCommand::Listen => manage::listen(desk, asked, caller).await,
        SlashCommand::Policy => manage::policy(desk, asked, caller).await,
        SlashCommand::Audit => manage::audit(desk, caller).await,
        SlashCommand::Model | SlashCommand::Agent => {
            return manage::choose_or_offer(desk, asked, caller, command).await;
        }
        SlashCommand::Verbosity => manage::verbosity(desk, asked, caller).await,
        SlashCommand::Approvals => manage::approvals(desk, asked, caller).await,
        SlashCommand::Status => manage::status(desk, caller).await,
        SlashCommand::Help => Ok(say::command::help()),
        SlashCommand::New => talk::new(desk, asked, caller).await,
        SlashCommand::Resume => return talk::resume(desk, asked, caller).await,
        SlashCommand::Fork => talk::fork(desk, asked, caller).await,
        SlashCommand::Sessions => talk::sessions(desk, asked, caller).await,
        SlashCommand::Diff => return show::diff(desk, caller).await,
        SlashCommand::Share => return show::share(desk, caller).await,
        SlashCommand::Abort => talk::abort(desk, caller).await,
        SlashCommand::Queue => talk::queue(desk, caller).await,
    };
    text.map(Reply::from)
}

/// Writes a refusal down, and says what went wrong.
pub(super) async fn apologise(
    desk: &Desk,
    caller: &Caller,
    action: AuditAction,
    target: &str,
    trouble: Trouble,
) -> String {
    match trouble {
        Trouble::Denied(denial) => {
            let entry = caller.entry(action, target).denied(denial.to_string());
            desk.insist("write down a refusal", || desk.store.record(&entry)).await;
            say::refused(denial)
        }
        Trouble::Broke(fault) => {
            warn!("a command failed: {}", fault.what());
            say::command::broke()
        }
    }
}

/// Reads who asks; nobody outside of a guild.
async fn caller_of(desk: &Desk, asked: &Interaction) -> Result<Option<Caller>, fro_discord::Error> {
    let Some(guild) = asked.guild else { return Ok(None) };
    let membership = if asked.asker.bot {
        Membership::Automaton
    } else {
        desk.places.membership(guild, asked.asker.id).await?
    };
    let roles = asked.roles.iter().copied().collect();
    let speaker = Speaker { id: asked.asker.id, membership, roles, account: AccountAccess::NoAccount };
    let (id, name, roles) = (asked.asker.id, asked.asker.name.clone(), asked.roles.clone());
    Ok(Some(Caller { guild, channel: asked.channel, id, name, asked: asked.id, roles, speaker }))
}

/// Answers a click to whoever clicked.
pub(super) async fn tell(desk: &Desk, asked: &Interaction, text: &str) -> Result<(), fro_discord::Error> {
    desk.discord.answer(asked, &desk.post(text), Seen::ByAsker).await
}

impl Caller {
    /// Asks whether they may.
    pub(super) async fn may(&self, desk: &Desk, wanted: WantedHere) -> Result<(), Trouble> {
        let roles = desk.store.policy(self.guild).await?.roles;
        decide(wanted, &self.speaker, &roles)?;
        Ok(())
    }

    /// Reads what they are by now.
    pub(super) async fn as_of_now(&self, desk: &Desk) -> Result<Speaker, Trouble> {
        let (membership, roles) = match desk.places.roles(self.guild, self.id).await? {
            Some(roles) => (desk.places.membership(self.guild, self.id).await?, roles),
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
    let Asked::Command { options, .. } = &asked.what else { return None };
    match options.get(name)? {
        Given::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        Given::Number(_) | Given::Flag(_) | Given::User(_) | Given::Channel(_) | Given::Role(_) => None,
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
