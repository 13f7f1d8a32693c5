//! Looks into memories for people who choose a session: `serve` cannot reach them, so it asks through the store.

use fro_agent::{Look, look_for_sessions};
use fro_core::{Fault, chat::ToldSession, remembered::Audience};
use jiff::Timestamp;
use tokio::time::sleep;

use super::Worker;
use crate::store::{
    Error,
    recollection::{MemoryQuestion, Recollected},
};

/// So many sessions are told of: Discord shows no more in a menu.
const MOST: u32 = 25;

/// Answers questions for as long as the worker lives.
pub(super) async fn forever(worker: &Worker) {
    loop {
        let answered = next(worker).await.unwrap_or_else(|error| {
            tracing::warn!("cannot answer for the memory: {}", error.fault().what());
            false
        });
        if !answered {
            sleep(worker.pace).await;
        }
    }
}

/// Answers the next question, and returns whether there was one.
async fn next(worker: &Worker) -> Result<bool, Error> {
    let Some((id, question)) = worker.store.take_memory_question(Timestamp::now()).await? else {
        return Ok(false);
    };
    let told = match sessions(worker, question).await {
        Ok(sessions) => Recollected::Sessions(sessions),
        Err(fault) => {
            tracing::warn!("a memory cannot be read: {}", fault.what());
            Recollected::Unread
        }
    };
    worker.store.tell_memory(id, &told).await?;
    Ok(true)
}

async fn sessions(worker: &Worker, question: MemoryQuestion) -> Result<Vec<ToldSession>, Fault> {
    let MemoryQuestion { repository, words, place, seen_by } = question;
    let settings = (worker.settings)(&repository, None)?;
    let process = worker.process.with(settings.agent).signed_in(&repository).await?;
    let rights = process.github(&repository)?.rights().await.map_err(|error| error.fault())?;
    // As for a turn: whoever linked a private repository lets its people hear what is said of it.
    let audience = if rights.private { Audience::Insiders } else { seen_by };
    let look = Look { audience, place, words, most: MOST };
    let found = look_for_sessions(&process, look).await.map_err(Fault::ours)?;
    let told = found.into_iter().map(|session| ToldSession {
        id: session.id,
        title: process.redactor.clean(&session.title).as_str().to_owned(),
        updated: session.updated,
    });
    Ok(told.collect())
}
