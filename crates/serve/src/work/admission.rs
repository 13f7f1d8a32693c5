//! What has to hold before a turn is put to an agent: the thread and its link, the speaker's account, who can read it.

use std::time::Duration;

use fro_agent::Process;
use fro_core::{
    Fault, Login, Permission, Permit,
    attachment::Attachments,
    chat::{
        AuditAction, AuditEntry, ChannelLink, ChannelSettings, Denial, Follow, Membership, RoleId, Ruling,
        Thread, say,
    },
    gate::{self, ThreadWords},
    prompt::Wishes,
    remembered::Audience,
};
use jiff::{SignedDuration, Timestamp};
use tokio::time::{sleep, timeout};

use super::{WorkSettings, Worker, files};
use crate::store::{Error, accounts::Account, queue::Claimed, standing::GuildStanding};

/// So long after somebody spoke they are what they were.
const FRESH: SignedDuration = SignedDuration::from_secs(30);
/// So long is waited for whoever speaks to Discord to say what somebody is.
const TELLS: Duration = Duration::from_mins(1);

/// A turn that is put to an agent.
pub(super) struct Admitted {
    pub(super) process: Process,
    pub(super) wishes: Wishes,
    /// The house rules for agents, if the repository has any.
    pub(super) rules: Option<String>,
    /// What came with the words.
    pub(super) files: Attachments,
    pub(super) thread: Thread,
    /// How people talk in its channel.
    pub(super) channel: ChannelSettings,
    pub(super) permit: Permit,
    /// Who reads the thread, if anybody could tell.
    pub(super) audience: Option<Audience>,
}

/// What became of the look at a turn.
pub(super) enum Admission {
    /// The turn is put to an agent.
    Yes(Box<Admitted>),
    /// The turn is answered with a fixed text.
    No(String),
    /// Whether the turn may be answered could not be found out.
    Broken(Fault),
}

/// Looks at a turn that was claimed. Only the store can make it fail: everything else is said in the thread.
pub(super) async fn look(worker: &Worker, claimed: &Claimed) -> Result<Admission, Error> {
    let turn = &claimed.turn;
    let Some(thread) = worker.store.thread(turn.thread).await? else {
        return Ok(Admission::No(say::unlinked(&turn.repository)));
    };
    let link = match worker.store.link_of(thread.channel).await? {
        Some(link) if link.repository == thread.repository => link,
        Some(link) => {
            return Ok(Admission::No(say::other_repository(&thread.repository, &link.repository)));
        }
        None => return Ok(Admission::No(say::unlinked(&thread.repository))),
    };
    let Some((membership, roles_now)) = standing(worker, claimed, &thread).await? else {
        return Ok(Admission::No(say::standing_unknown()));
    };
    let roles = worker.store.policy(thread.guild).await?.roles;
    let account = worker.store.account(turn.asker).await?;
    let known = match Box::pin(learn(worker, &thread, &link, account.as_ref())).await {
        Ok(known) => known,
        Err(fault) => return Ok(Admission::Broken(fault)),
    };
    let TurnFacts { settings, process, own, permission, private, rules } = known;
    let account: Option<(Login, Permission)> = account.map(|account| account.login).zip(permission);
    let talk = ThreadWords {
        repo: &thread.repository,
        thread: thread.id,
        speaker: turn.asker,
        membership,
        roles: roles_now.into_iter().collect(),
        account,
        text: &turn.words.text,
    };
    let permit = match gate::talk(&talk, &roles, &own, &settings.policy) {
        Ok(permit) => permit,
        Err(denial) => {
            record(worker, claimed, &thread, denial).await?;
            return Ok(Admission::No(say::refused(denial)));
        }
    };
    let files = files::bring(&process, &worker.file_hosts, &turn.words.files).await;
    let audience = if private { Some(Audience::Insiders) } else { turn.words.seen_by };
    Ok(Admission::Yes(Box::new(Admitted {
        process,
        wishes: settings.wishes,
        rules,
        files,
        thread,
        channel: link.settings,
        permit,
        audience,
    })))
}

/// Returns what the speaker is in the guild now. Words that have waited say only what they were.
async fn standing(
    worker: &Worker,
    claimed: &Claimed,
    thread: &Thread,
) -> Result<Option<(Membership, Vec<RoleId>)>, Error> {
    let turn = &claimed.turn;
    if Timestamp::now().duration_since(turn.arrived_at) < FRESH {
        return Ok(Some((Membership::Member, turn.words.roles.clone())));
    }
    let asked = worker.store.ask_standing(thread.guild, turn.asker).await?;
    let told = async {
        loop {
            match worker.store.standing(&asked).await {
                Ok(None) => sleep(worker.pace).await,
                told => return told,
            }
        }
    };
    Ok(match timeout(TELLS, told).await.unwrap_or(Ok(None))? {
        Some(GuildStanding::Member(roles)) => Some((Membership::Member, roles)),
        Some(GuildStanding::Gone) => Some((Membership::Outsider, Vec::new())),
        None => None,
    })
}

/// Writes down that somebody was refused who was not when they spoke.
async fn record(worker: &Worker, claimed: &Claimed, thread: &Thread, denial: Denial) -> Result<(), Error> {
    let (turn, now) = (&claimed.turn, Timestamp::now());
    let entry = AuditEntry {
        at: now,
        guild: thread.guild,
        actor: Some(turn.asker),
        roles: turn.words.roles.clone(),
        action: AuditAction::Ask,
        target: thread.id.to_string(),
        before: None,
        after: None,
        ruling: Ruling::Denied(denial.to_string()),
    };
    // However often the turn is begun, it is refused once.
    let event = format!("turn {} refused", claimed.lease.turn);
    worker.store.take_in(event, &[Follow::Record(entry)], now).await.map(drop)
}

/// What GitHub and the settings say of a turn.
struct TurnFacts {
    settings: WorkSettings,
    process: Process,
    own: Login,
    permission: Option<Permission>,
    private: bool,
    rules: Option<String>,
}

/// Asks GitHub all that the decision hangs on.
async fn learn(
    worker: &Worker,
    thread: &Thread,
    link: &ChannelLink,
    account: Option<&Account>,
) -> Result<TurnFacts, Fault> {
    let repo = &thread.repository;
    let process = worker.process.with((worker.settings)(repo, None)?.agent).signed_in(repo).await?;
    let github = process.github(repo)?;
    let permission = async {
        match account {
            Some(account) => github.permission_of(&account.login, account.github_id).await.map(Some),
            None => Ok(None),
        }
    };
    let file = github.file(worker.repo_settings, "");
    let rules = github.file("AGENTS.md", "");
    let (own, permission, rights, file, rules) =
        tokio::join!(github.viewer(), permission, github.rights(), file, rules);
    let file = file.map_err(|error| error.fault())?;
    let settings = chosen((worker.settings)(repo, file.as_deref())?, link);
    let token = process.settings.token.clone();
    let process = process.with(fro_agent::Settings { token, ..settings.agent.clone() });
    let (own, permission) = (own.map_err(|error| error.fault())?, permission.map_err(|error| error.fault())?);
    // A turn goes on without the rules, as a run does.
    let rules = rules.unwrap_or_else(|error| {
        tracing::warn!("going on without `AGENTS.md`: {}", error.fault().what());
        None
    });
    Ok(TurnFacts {
        settings,
        process,
        own,
        permission,
        private: rights.map_err(|error| error.fault())?.private,
        rules,
    })
}

/// Takes the channel's own choice of model and agent.
fn chosen(settings: WorkSettings, link: &ChannelLink) -> WorkSettings {
    let WorkSettings { mut agent, policy, wishes } = settings;
    if let Some(model) = &link.settings.model {
        agent.engine.model = Some(model.clone());
    }
    if let Some(name) = &link.settings.agent {
        agent.engine.agent = Some(name.clone());
    }
    WorkSettings { agent, policy, wishes }
}
