//! The daemon behind the bot: its database, its workers, who may ask, and the repositories that channels are linked to.
//! Nothing is said where no database was named.

use std::collections::BTreeSet;

use fro_agent::Process;
use fro_core::{
    Fault, RepoName,
    chat::{ChannelLink, GuildId},
    say::summary::{counted, duration},
};
use fro_serve::{Address, SchemaVersion, Status, Store};
use jiff::Timestamp;

use super::Finding;
use crate::{daemon_store::StoreOption, env::Env, settings, work};

/// So many repositories are asked for at most.
const MOST: usize = 20;

/// Looks at everything that the database knows of, if there is one.
pub(super) async fn all(env: &Env, option: &StoreOption) -> Vec<Finding> {
    const ABOUT: &str = "store";
    let Some(address) = option.said(env) else { return Vec::new() };
    if let Address::File(path) = &address
        && !path.is_file()
    {
        let says = format!("there is no database at {}", path.display());
        return vec![Finding::doubtful(ABOUT, says, "`fro-bot serve` makes it when it is first started")];
    }
    match open(&address).await {
        Err(finding) => vec![finding],
        Ok((store, found)) => match look(env, &address, &store).await {
            Ok(findings) => std::iter::once(found).chain(findings).collect(),
            Err(fault) => vec![found, Finding::bad(ABOUT, &fault)],
        },
    }
}

/// Opens the database, unless that would change it: only `serve` and `work` bring one up to date.
async fn open(address: &Address) -> Result<(Store, Finding), Finding> {
    const ABOUT: &str = "store";
    let bad = |error: fro_serve::Error| Finding::bad(ABOUT, &error.fault());
    let SchemaVersion { found, known } = Store::version(address).await.map_err(bad)?;
    if found < known {
        let says = format!("the database has version {found}, and this fro-bot makes it version {known}");
        let next = "make a backup, then start `fro-bot serve`: an older fro-bot cannot use it after that";
        return Err(Finding::doubtful(ABOUT, says, next));
    }
    let store = Store::open(address).await.map_err(bad)?;
    Ok((store, Finding::good(ABOUT, format!("the database can be reached and has version {found}"))))
}

async fn look(env: &Env, address: &Address, store: &Store) -> Result<Vec<Finding>, Fault> {
    let now = Timestamp::now();
    let status = store.status(now).await.map_err(|error| error.fault())?;
    let links = store.all_links().await.map_err(|error| error.fault())?;
    let mut findings = vec![workers(&status, now), roles(store, &links).await?];
    findings.extend(repositories(env, address, &links).await);
    Ok(findings)
}

fn workers(status: &Status, now: Timestamp) -> Finding {
    const ABOUT: &str = "worker";
    const NEXT: &str = "start `fro-bot work` on this database, or `fro-bot serve` without `--no-worker`";
    let waiting = counted(status.waiting, "turn");
    let since = |time: Timestamp| duration(now.max(time).duration_since(time).unsigned_abs());
    match (status.workers, status.worker_seen) {
        (1.., _) => {
            let says = format!("{} at work, {waiting} waiting", counted(status.workers, "worker"));
            Finding::good(ABOUT, says)
        }
        (_, Some(seen)) => {
            let says = format!("no worker was seen for {}, {waiting} waiting", since(seen));
            Finding::doubtful(ABOUT, says, NEXT)
        }
        (_, None) => Finding::doubtful(ABOUT, format!("no worker is there, {waiting} waiting"), NEXT),
    }
}

/// Sees whether anybody may ask where a channel is linked.
async fn roles(store: &Store, links: &[ChannelLink]) -> Result<Finding, Fault> {
    const ABOUT: &str = "roles";
    let guilds: BTreeSet<GuildId> = links.iter().map(|link| link.guild).collect();
    let mut silent = Vec::new();
    for guild in &guilds {
        let roles = store.policy(*guild).await.map_err(|error| error.fault())?.roles;
        if roles.askers.is_empty() && roles.linkers.is_empty() {
            silent.push(guild.to_string());
        }
    }
    Ok(match (guilds.len(), silent.as_slice()) {
        (0, _) => Finding::doubtful(
            ABOUT,
            "no channel is linked to a repository",
            "`/policy may:link` as the owner of the server, then `/link owner/repo` in a channel",
        ),
        (_, []) => Finding::good(ABOUT, "somebody may ask on every server with a linked channel"),
        (_, silent) => Finding::doubtful(
            ABOUT,
            format!("nobody may ask on the server {}", silent.join(", ")),
            "`/policy may:ask role:@…` as the owner of the server",
        ),
    })
}

/// Asks GitHub for each linked repository, as a worker would.
async fn repositories(env: &Env, address: &Address, links: &[ChannelLink]) -> Option<Finding> {
    const ABOUT: &str = "links";
    let mut linked: Vec<&RepoName> = links.iter().map(|link| &link.repository).collect();
    // They come in order.
    linked.dedup();
    let count = linked.len();
    let mut closed = Vec::new();
    for repo in linked.into_iter().take(MOST) {
        if let Err(fault) = reach(env, address, repo).await {
            closed.push(format!("{repo}: {}", fault.what()));
        }
    }
    match (count, closed.as_slice()) {
        (0, _) => None,
        (_, []) => {
            let which = if count > MOST {
                format!("the first {MOST} of {count} linked repositories")
            } else {
                "every linked repository".to_owned()
            };
            Some(Finding::good(ABOUT, format!("GitHub lets a worker into {which}")))
        }
        (_, closed) => {
            let hint =
                "install the App there, or give the token access; `/unlink` the channel if it is not wanted";
            Some(Finding::bad(ABOUT, &Fault::yours(closed.join("\n"), hint)))
        }
    }
}

async fn reach(env: &Env, address: &Address, repo: &RepoName) -> Result<(), Fault> {
    let settings = settings::of_worker(env, repo, (work::memory(env, address), None))?;
    let process = Process::new(settings.agent).signed_in(repo).await?;
    process.github(repo)?.rights().await.map(drop).map_err(|error| error.fault())
}
