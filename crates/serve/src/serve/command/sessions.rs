//! The sessions that people can choose from: a channel's own, and those that its repository's memory tells of there.

use std::time::Duration;

use fro_core::{
    chat::{
        ChannelLink, Choosable, WantedHere, choosable,
        say::{
            self,
            command::{self as told, MemoryAnswer},
        },
    },
    remembered::Audience,
};
use fro_discord::Interaction;
use jiff::Timestamp;
use tokio::time;

use super::{Caller, Trouble, given, talk};
use crate::{
    place::place,
    serve::daemon::Daemon,
    store::{
        self,
        recollection::{MemoryQuestion, Recollected},
    },
};

/// So many threads are looked at.
const SHOWN: i64 = 15;

/// How long somebody who gave a command waits for what the memory has.
const WAITS: Duration = Duration::from_secs(10);

/// Lists them.
pub(super) async fn list(daemon: &Daemon, asked: &Interaction, caller: &Caller) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Look).await?;
    let words = given(asked, "search").unwrap_or_default();
    Ok(match here(daemon, caller, words).await? {
        Some((sessions, memory)) => told::sessions(&sessions, memory),
        None => say::not_linked(),
    })
}

/// Returns the sessions that may be told of in the channel and in which these words were said: those of its threads, and
/// those of the memory, such as of runs on GitHub.
pub(super) async fn here(
    daemon: &Daemon,
    caller: &Caller,
    words: &str,
) -> Result<Option<(Vec<Choosable>, MemoryAnswer)>, Trouble> {
    let thread = daemon.store.thread(caller.channel).await?;
    let channel = thread.map_or(caller.channel, |thread| thread.channel);
    let Some(link) = talk::link_here(daemon, channel, caller).await? else { return Ok(None) };
    // Those of other channels may be among fewer people.
    let threads = daemon.store.threads_about((channel, &link.repository), words, SHOWN).await?;
    Ok(Some(match recollect(daemon, &link, words).await? {
        Recollected::Sessions(told) => (choosable(&threads, &told), MemoryAnswer::Told),
        Recollected::Unread => (choosable(&threads, &[]), MemoryAnswer::None),
    }))
}

/// Lets a worker look into the memory of a channel's repository, if one is there and answers while somebody waits.
async fn recollect(daemon: &Daemon, link: &ChannelLink, words: &str) -> Result<Recollected, store::Error> {
    let (store, now) = (&daemon.store, Timestamp::now());
    if store.status(now).await?.workers == 0 {
        return Ok(Recollected::Unread);
    }
    let seen_by = daemon.places.audience(link.channel).await;
    let question = MemoryQuestion {
        repository: link.repository.clone(),
        words: words.to_owned(),
        place: place(seen_by, link.channel),
        // A place of which nobody can tell who reads it is told what everyone may hear.
        seen_by: seen_by.unwrap_or(Audience::Everyone),
    };
    let id = store.ask_memory(&question, now).await?;
    let told = async {
        loop {
            match store.memory_told(id).await? {
                Some(told) => return Ok(told),
                None => time::sleep(daemon.settings.pace.look).await,
            }
        }
    };
    time::timeout(WAITS, told).await.unwrap_or(Ok(Recollected::Unread))
}
