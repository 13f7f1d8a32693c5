//! Posts a thread's diff or transcript as a file of the bot's own, so that no share host gets it.

use fro_core::chat::{TextFile, WantedHere, say::command as told};

use super::{Caller, Reply, Trouble, talk};
use crate::serve::daemon::Daemon;

/// Shows what the last turn changed.
pub(super) async fn diff(daemon: &Daemon, caller: &Caller) -> Result<Reply, Trouble> {
    caller.may(daemon, WantedHere::Look).await?;
    if talk::thread_here(daemon, caller).await?.is_none() {
        return Ok(told::no_thread().into());
    }
    let Some(text) = daemon.store.diff(caller.channel).await? else { return Ok(told::no_diff().into()) };
    Ok(file(TextFile { name: format!("thread-{}.diff", caller.channel), text }))
}

/// Shows what was said.
pub(super) async fn share(daemon: &Daemon, caller: &Caller) -> Result<Reply, Trouble> {
    caller.may(daemon, WantedHere::Look).await?;
    let Some(thread) = talk::thread_here(daemon, caller).await? else { return Ok(told::no_thread().into()) };
    let said = daemon.store.conversation(thread.id).await?;
    if said.is_empty() {
        return Ok(told::nothing_said().into());
    }
    Ok(file(told::transcript(&thread, said.iter().map(|(words, answer)| (words, answer.clone())))))
}

fn file(file: TextFile) -> Reply {
    Reply { text: told::attached(&file), menu: None, file: Some(file) }
}
