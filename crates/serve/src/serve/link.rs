//! Linking a channel: by a role, by the App on the repository, and by the linker's own account that can push there.
//!
//! Whose account it is GitHub tells itself, each time anew; the token of that moment answers the questions and is gone.

use std::time::Duration;

use fro_core::{
    Login, Permission, RepoName, Secret,
    chat::{
        AccountAccess, App, AuditAction, ChannelLink, ChannelSettings, Speaker, WantedHere, decide,
        say::command as say,
    },
};
use fro_discord::{ChannelKind, Interaction};
use fro_github::{DeviceCode, GitHub, SignedIn};
use jiff::Timestamp;
use tokio::time;

use super::{
    SignIn,
    command::{Caller, Trouble, given},
    daemon::Daemon,
};
use crate::store::accounts::Account;

/// Discord takes the answer to a command for a quarter of an hour, so nobody is waited for until its last second.
const ANSWERABLE: Duration = Duration::from_mins(14);

/// Links the channel.
pub(super) async fn link(daemon: &Daemon, asked: &Interaction, caller: &Caller) -> Result<String, Trouble> {
    let wish = given(asked, "repo").unwrap_or_default();
    let Ok(repository) = RepoName::parse(wish) else { return Ok(say::bad_repository(wish)) };
    // Nobody is sent to GitHub who would be refused afterwards.
    let hopeful = Speaker { account: AccountAccess::Has(Permission::Admin), ..caller.speaker.clone() };
    let roles = daemon.store.policy(caller.guild).await?.roles;
    decide(WantedHere::Link(App::Installed), &hopeful, &roles)?;
    let place = daemon.places.channel(caller.channel).await?;
    if place.is_none_or(|place| place.kind != ChannelKind::Text) {
        return Ok(say::no_text_channel());
    }
    if let Some(link) = daemon.store.link_of(caller.channel).await? {
        return Ok(say::linked_already(&link.repository));
    }
    let Some(sign_in) = &daemon.settings.sign_in else { return Ok(say::no_sign_in()) };
    let Some(token) = signed_in(daemon, asked, sign_in, Some(&repository)).await? else {
        return Ok(say::not_signed_in());
    };
    let github = sign_in.github(token, &repository);
    prove(daemon, caller, &github).await?;
    let (permission, installed) = (permission(&github).await?, github.installed().await?);
    // Minutes may have passed: what their roles are worth is read anew, and which they have.
    let roles = daemon.store.policy(caller.guild).await?.roles;
    let speaker = Speaker { account: AccountAccess::Has(permission), ..caller.as_of_now(daemon).await? };
    decide(WantedHere::Link(if installed { App::Installed } else { App::Missing }), &speaker, &roles)?;
    write(daemon, caller, repository).await
}

/// Asks what their own token may do: only those who may push are told what others may.
async fn permission(github: &GitHub) -> Result<Permission, Trouble> {
    match github.rights().await {
        Ok(rights) if rights.push => Ok(Permission::Write),
        Ok(_) => Ok(Permission::Read),
        Err(error) if matches!(error.status(), Some(403 | 404)) => Ok(Permission::None),
        Err(error) => Err(error.into()),
    }
}

async fn write(daemon: &Daemon, caller: &Caller, repository: RepoName) -> Result<String, Trouble> {
    let link = ChannelLink {
        channel: caller.channel,
        guild: caller.guild,
        repository: repository.clone(),
        settings: ChannelSettings::default(),
        linked_by: caller.id,
        linked_at: Timestamp::now(),
    };
    let mut entry = caller.entry(AuditAction::Link, caller.channel.to_string());
    entry.after = Some(repository.to_string().into());
    Ok(match daemon.store.link(&link, entry).await? {
        Some(taken) => say::linked_already(&taken.repository),
        None => say::linked(&repository),
    })
}

/// Makes the channel nobody's; what waits in its threads is dropped, and said so there.
pub(super) async fn unlink(daemon: &Daemon, caller: &Caller) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Unlink).await?;
    let here = daemon.store.link_of(caller.channel).await?.filter(|link| link.guild == caller.guild);
    if here.is_none() {
        return Ok(fro_core::chat::say::not_linked());
    }
    let entry = caller.entry(AuditAction::Unlink, caller.channel.to_string());
    let Some(was) = daemon.store.unlink(caller.channel, entry).await? else {
        return Ok(fro_core::chat::say::not_linked());
    };
    for thread in daemon.store.unfinished_in(caller.channel).await? {
        daemon.store.clear(thread).await?;
        let farewell = fro_core::chat::Deed::say(thread, fro_core::chat::say::unlinked(&was));
        daemon.store.post(thread, &farewell, Timestamp::now()).await?;
    }
    daemon.outbox.notify_one();
    Ok(say::unlinked_now(&was))
}

/// Notes or forgets whose GitHub account is whose.
pub(super) async fn account(
    daemon: &Daemon,
    asked: &Interaction,
    caller: &Caller,
) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Look).await?;
    if given(asked, "do") == Some("forget") {
        let entry = caller.entry(AuditAction::ForgetAccount, caller.id.to_string());
        daemon.store.forget_account(caller.id, &entry).await?;
        return Ok(say::account_forgotten());
    }
    let Some(sign_in) = &daemon.settings.sign_in else { return Ok(say::no_sign_in()) };
    let Some(token) = signed_in(daemon, asked, sign_in, None).await? else { return Ok(say::not_signed_in()) };
    // The question is about the account alone; a repository is only part of how it is asked.
    let Ok(none) = RepoName::parse("octocat/hello-world") else { return Ok(say::not_signed_in()) };
    let login = prove(daemon, caller, &sign_in.github(token, &none)).await?;
    Ok(say::account_shown(&login))
}

async fn prove(daemon: &Daemon, caller: &Caller, github: &GitHub) -> Result<Login, Trouble> {
    let told = github.account().await?;
    let github_id = i64::try_from(told.id).unwrap_or(i64::MAX);
    let account = Account { login: told.login.clone(), github_id, proven_at: Timestamp::now() };
    let mut entry = caller.entry(AuditAction::ProveAccount, caller.id.to_string());
    entry.after = Some(told.login.to_string().into());
    daemon.store.prove_account(caller.id, &account, &entry).await?;
    Ok(told.login)
}

/// Shows a code and waits until somebody has typed it.
async fn signed_in(
    daemon: &Daemon,
    asked: &Interaction,
    sign_in: &SignIn,
    wish: Option<&RepoName>,
) -> Result<Option<Secret>, Trouble> {
    let code = sign_in.flow.begin().await?;
    let text = say::sign_in(&code.page, &code.user_code, wish);
    daemon.discord.edit_answer(asked, &daemon.post(&text)).await?;
    match time::timeout(code.good_for.min(ANSWERABLE), typed(sign_in, &code)).await {
        Ok(typed) => typed,
        Err(_) => Ok(None),
    }
}

async fn typed(sign_in: &SignIn, code: &DeviceCode) -> Result<Option<Secret>, Trouble> {
    let mut pause = code.pause;
    loop {
        time::sleep(pause).await;
        match sign_in.flow.ask(code).await? {
            SignedIn::Yes(token) => return Ok(Some(token)),
            SignedIn::No => return Ok(None),
            SignedIn::NotYet(wait) => pause = wait,
        }
    }
}

impl SignIn {
    fn github(&self, token: Secret, repository: &RepoName) -> GitHub {
        GitHub::new(self.address.clone(), token, repository.clone(), self.client.clone())
    }
}
