//! Commands that look at what is set, and set it.

use std::collections::BTreeSet;

use fro_core::chat::{
    Approvals, AuditAction, ChannelSettings, Listen, Pick, RoleId, Roles, SlashCommand, WantedHere,
    say::{Verbosity, command as say},
};
use fro_discord::{Interaction, InteractionKind, OptionValue};
use jiff::Timestamp;

use super::{Caller, Reply, Trouble, given, pick};
use crate::{serve::daemon::Daemon, store::offered::Offered};

/// So many decisions are shown.
const SHOWN: i64 = 15;
/// What a name of a model or an agent can be.
const LONGEST_NAME: usize = 100;

pub(super) async fn links(daemon: &Daemon, caller: &Caller) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Look).await?;
    Ok(say::links(&daemon.store.links(caller.guild).await?))
}

pub(super) async fn status(daemon: &Daemon, caller: &Caller) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Look).await?;
    let (running, waiting) = daemon.store.load(Timestamp::now()).await?;
    Ok(say::status(env!("CARGO_PKG_VERSION"), running, waiting))
}

pub(super) async fn audit(daemon: &Daemon, caller: &Caller) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::ReadAudit).await?;
    let entries = daemon.store.audited(caller.guild, SHOWN).await?;
    daemon.store.record(&caller.entry(AuditAction::ReadAudit, "audit")).await?;
    Ok(say::audit(entries.iter().map(|audited| (audited.number, &audited.entry))))
}

pub(super) async fn policy(daemon: &Daemon, asked: &Interaction, caller: &Caller) -> Result<String, Trouble> {
    let was = daemon.store.policy(caller.guild).await?;
    let (may, role) = match (given(asked, "may"), role(asked)) {
        (None, None) => {
            // Whoever could change it may see it, also if no role is set yet.
            if caller.may(daemon, WantedHere::SetPolicy).await.is_err() {
                caller.may(daemon, WantedHere::Look).await?;
            }
            return Ok(say::policy(&was.roles));
        }
        (Some(may), Some(role)) => (may, role),
        (Some(_), None) | (None, Some(_)) => return Ok(say::policy_lacks()),
    };
    caller.may(daemon, WantedHere::SetPolicy).await?;
    let mut roles = was.roles.clone();
    let Some(set) = set_of(&mut roles, may) else { return Ok(say::policy_lacks()) };
    match given(asked, "change") {
        Some("take") => set.remove(&role),
        _ => set.insert(role),
    };
    let mut entry = caller.entry(AuditAction::SetPolicy, format!("{may} {role}"));
    entry.after = serde_json::to_value(&roles).ok();
    let changed = daemon.store.set_policy(caller.guild, &was, &roles, entry).await?;
    Ok(if changed { say::policy(&roles) } else { say::policy_moved() })
}

fn set_of<'a>(roles: &'a mut Roles, may: &str) -> Option<&'a mut BTreeSet<RoleId>> {
    match may {
        "link" => Some(&mut roles.linkers),
        "ask" => Some(&mut roles.askers),
        "approve" => Some(&mut roles.approvers),
        "barred" => Some(&mut roles.barred),
        _ => None,
    }
}

fn role(asked: &Interaction) -> Option<RoleId> {
    let InteractionKind::Command { options, .. } = &asked.what else { return None };
    match options.get("role")? {
        OptionValue::Role(role) => Some(*role),
        OptionValue::Text(_)
        | OptionValue::Number(_)
        | OptionValue::Flag(_)
        | OptionValue::User(_)
        | OptionValue::Channel(_) => None,
    }
}

pub(super) async fn listen(daemon: &Daemon, asked: &Interaction, caller: &Caller) -> Result<String, Trouble> {
    // What is listened to is part of what a link is.
    caller.may(daemon, WantedHere::Unlink).await?;
    let listen = match given(asked, "to") {
        Some("everything") => Some(Listen::Everything),
        Some(_) => Some(Listen::Mentions),
        None => None,
    };
    set(daemon, caller, "listen", |settings| {
        settings.listen = listen.unwrap_or(settings.listen);
    })
    .await
}

pub(super) async fn verbosity(
    daemon: &Daemon,
    asked: &Interaction,
    caller: &Caller,
) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Choose).await?;
    let shown = given(asked, "show").map(|shown| match shown {
        "text" => Verbosity::Text,
        "all" => Verbosity::All,
        _ => Verbosity::Essential,
    });
    set(daemon, caller, "verbosity", |settings| {
        settings.verbosity = shown.unwrap_or(settings.verbosity);
    })
    .await
}

/// Sets what the agent asks leave for. Whoever may say yes for the agent may also let it ask.
pub(super) async fn approvals(
    daemon: &Daemon,
    asked: &Interaction,
    caller: &Caller,
) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Approve).await?;
    let asks = given(asked, "ask").map(|asks| match asks {
        "rules" => Approvals::Rules,
        "changes" => Approvals::Changes,
        _ => Approvals::Nothing,
    });
    set(daemon, caller, "approvals", |settings| {
        settings.approvals = asks.unwrap_or(settings.approvals);
    })
    .await
}

/// Chooses the model or the agent of the channel; without a name, what workers offer is shown.
pub(super) async fn choose_or_offer(
    daemon: &Daemon,
    asked: &Interaction,
    caller: &Caller,
    command: SlashCommand,
) -> Result<Reply, Trouble> {
    let (what, kind) = match command {
        SlashCommand::Agent => (Pick::Agent, Offered::Agent),
        _ => (Pick::Model, Offered::Model),
    };
    let told = choose(daemon, caller, what, given(asked, "name")).await?;
    let offered = match given(asked, "name") {
        Some(_) => Vec::new(),
        None => daemon.store.offered(kind).await?,
    };
    let usual = (!offered.is_empty()).then(|| "usual".to_owned());
    let options = usual.into_iter().chain(offered).map(|name| (name.clone(), name));
    Ok(Reply { menu: pick::menu(what, options), ..Reply::from(told) })
}

/// Chooses the model or the agent of the channel.
pub(super) async fn choose(
    daemon: &Daemon,
    caller: &Caller,
    what: Pick,
    name: Option<&str>,
) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Choose).await?;
    if name.is_some_and(|name| !is_name(name)) {
        return Ok(say::bad_name());
    }
    let word = if what == Pick::Agent { "agent" } else { "model" };
    set(daemon, caller, word, |settings| {
        let Some(name) = name else { return };
        let chosen = (name != "usual").then(|| name.to_owned());
        match what {
            Pick::Agent => settings.agent = chosen,
            Pick::Model | Pick::Session | Pick::Answer(_) => settings.model = chosen,
        }
    })
    .await
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    name.len() <= LONGEST_NAME && name.chars().all(plain)
}

/// Changes how people talk in the channel, or in that of the thread, and says how it is.
async fn set(
    daemon: &Daemon,
    caller: &Caller,
    what: &str,
    change: impl FnOnce(&mut ChannelSettings),
) -> Result<String, Trouble> {
    let thread = daemon.store.thread(caller.channel).await?;
    let channel = thread.map_or(caller.channel, |thread| thread.channel);
    let link = daemon.store.link_of(channel).await?.filter(|link| link.guild == caller.guild);
    let Some(link) = link else { return Ok(fro_core::chat::say::not_linked()) };
    let mut settings = link.settings.clone();
    change(&mut settings);
    if settings != link.settings {
        let mut entry = caller.entry(AuditAction::Choose, format!("{what} of {channel}"));
        entry = entry.before(&link.settings);
        entry.after = serde_json::to_value(&settings).ok();
        daemon.store.set_settings(channel, &settings, &entry).await?;
    }
    Ok(say::settings(&settings))
}
