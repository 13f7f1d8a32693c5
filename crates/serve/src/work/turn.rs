//! One turn, from its claim to its end.

use fro_core::{
    Clean, Redactor,
    chat::say::{self, Footer, Verbosity},
    conversation::outcome::Usage,
};
use jiff::Timestamp;

use super::{
    TRIES, Worker,
    admission::{self, Admission, Admitted},
    answer::{self, Answered},
    lease_keeper::LeaseKeeper,
    turn_writer::TurnWriter,
};
use crate::store::{
    Error,
    queue::{Claimed, Spent},
};

/// Answers a turn once, and returns how it ended. Whatever can be said in the thread is; an error means that the store
/// could not be written to, or that the turn is somebody else's.
pub(super) async fn once(worker: &Worker, claimed: &Claimed) -> Result<&'static str, Error> {
    let lease = claimed.lease;
    let mut keeper = LeaseKeeper::start(&worker.store, lease, (worker.lease, worker.pace));
    if claimed.attempt > TRIES {
        return word(worker, claimed, &say::given_up(TRIES)).await;
    }
    worker.store.forget_requests(lease).await?;
    let admitted = match admission::look(worker, claimed).await? {
        Admission::Yes(admitted) => admitted,
        Admission::No(text) => return word(worker, claimed, &text).await,
        Admission::Broken(fault) => {
            tracing::warn!(turn = lease.turn, "the turn could not be begun: {}", fault.what());
            return word(worker, claimed, &say::not_begun()).await;
        }
    };
    let began = Timestamp::now();
    let redactor = admitted.process.redactor.clone();
    let shown = (redactor.clone(), admitted.channel.verbosity);
    let mut writer = TurnWriter::new(&worker.store, lease, claimed.turn.thread, shown);
    let engine = worker.watch.counts.engine();
    let answering = answer::give(worker, &admitted, claimed, began, (&mut keeper, &mut writer));
    let answered = Box::pin(answering).await;
    drop(engine);
    let answered = answered.ok_or(Error::Stale { turn: lease.turn })?;
    worker.watch.counts.spent(&answered.told.usage);
    worker.watch.counts.saved(answered.saved);
    if let Some(session) = &answered.session {
        worker.store.go_on_in(lease, session).await?;
    }
    let diff = answered.patch.as_deref().map(|patch| redactor.clean(&bounded(patch)));
    worker.store.keep_diff(lease, diff.as_ref().map(Clean::as_str)).await?;
    writer.hand(&answered.handed);
    writer.end(&answered.told.outcome, &answered.notes, &footer(&admitted, &answered, began));
    writer.finish().await?;
    let ending = answered.told.outcome.word();
    worker.store.finish(lease, &spent(ending, &answered.told.usage), Timestamp::now()).await?;
    Ok(ending)
}

/// Answers a turn with a word of ours.
async fn word(worker: &Worker, claimed: &Claimed, text: &str) -> Result<&'static str, Error> {
    let shown = (Redactor::knowing([]), Verbosity::default());
    let mut writer = TurnWriter::new(&worker.store, claimed.lease, claimed.turn.thread, shown);
    writer.note(text);
    writer.finish().await?;
    let ending = "answered without an engine";
    worker.store.finish(claimed.lease, &spent(ending, &Usage::default()), Timestamp::now()).await?;
    Ok(ending)
}

/// Returns what of a patch is kept, whole lines of it.
fn bounded(patch: &str) -> String {
    const MOST: usize = 1 << 20;
    if patch.len() <= MOST {
        return patch.to_owned();
    }
    let end = patch.floor_char_boundary(MOST);
    let kept = patch[..end].rsplit_once('\n').map_or("", |(kept, _)| kept);
    format!("{kept}\n# … and {} bytes more\n", patch.len() - kept.len())
}

fn footer(admitted: &Admitted, answered: &Answered, began: Timestamp) -> Footer {
    let usage = &answered.told.usage;
    Footer {
        repository: admitted.thread.repository.clone(),
        branch: answered.branch.clone(),
        took: Timestamp::now().duration_since(began).unsigned_abs(),
        tokens: read(usage) + written(usage),
        cost: usage.millionths(),
        model: admitted.process.settings.model().unwrap_or_else(|| "the engine's own model".to_owned()),
    }
}

fn spent(ending: &str, usage: &Usage) -> Spent {
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    Spent {
        ending: ending.to_owned(),
        tokens_in: whole(read(usage)),
        tokens_out: whole(written(usage)),
        cost: whole(usage.millionths()),
    }
}

fn read(usage: &Usage) -> u64 {
    usage.input + usage.cache_read + usage.cache_write
}

fn written(usage: &Usage) -> u64 {
    usage.output + usage.reasoning
}
