//! The worker: takes turns from the store, puts each to an agent of its own, and says there what comes of it.
//!
//! It knows no Discord and holds nothing of it: whatever is to be seen goes into the outbox. Each turn has an engine of its
//! own, which is started for it and stopped after it; the thread goes on in its session, which the memory brings.

mod admission;
mod answer;
mod approvals;
mod files;
mod hand_out;
mod lease_keeper;
mod recollect;
mod turn;
mod turn_writer;
mod weight;

use std::{sync::Arc, time::Duration};

use fro_agent::Process;
use fro_core::{Fault, RepoName, gate::Policy, prompt::Wishes};
use futures::{StreamExt as _, stream::FuturesUnordered};
use jiff::Timestamp;
use tokio::{
    sync::{
        Semaphore, SemaphorePermit,
        mpsc::{Sender, channel},
    },
    time::{Instant, sleep, timeout},
};

use crate::{
    store::{
        Store,
        queue::{Caps, Claimed},
    },
    watch::Watch,
};

/// What the operator says of a repository.
#[derive(Debug, Clone)]
pub struct WorkSettings {
    /// Engines, memory and credentials.
    pub agent: fro_agent::Settings,
    /// What the maintainers want.
    pub policy: Policy,
    /// What the operator adds to what the agent is told.
    pub wishes: Wishes,
}

/// Finds the settings of a repository, with what its own file says if that is known.
pub type SettingsOf = Box<dyn Fn(&RepoName, Option<&str>) -> Result<WorkSettings, Fault> + Send + Sync>;

/// What a worker is.
pub struct Worker {
    /// Where turns wait.
    pub store: Store,
    /// What it is called there, unlike any other that runs.
    pub name: String,
    /// How many turns may run at the same time, on all machines.
    pub caps: Caps,
    /// How many this one takes at the same time.
    pub most: usize,
    /// How long a turn stays its own without a sign of life.
    pub lease: Duration,
    /// How often it looks for work, and for what people want of a turn that runs.
    pub pace: Duration,
    /// How long people have for a word on what the engine asks.
    pub approval_time: Duration,
    /// How many bytes of memory an engine may take; it is ended if it takes more. Any number without one.
    pub engine_memory: Option<u64>,
    /// How long turns may go on once it is asked to stop.
    pub patience: Duration,
    /// Where files come from that people send, such as `https://cdn.discordapp.com`.
    pub file_hosts: Vec<String>,
    /// Where a repository has its own file with settings.
    pub repo_settings: &'static str,
    /// What this process has, whatever repository it works for: the one HTTP client above all.
    pub process: Process,
    /// The settings of a repository.
    pub settings: SettingsOf,
    /// What an operator sees of it.
    pub watch: Arc<Watch>,
}

/// So often a turn is begun that nobody could finish.
const TRIES: i64 = 3;
/// How often a worker says that it lives, whether or not there is something to do.
const GREETING: Duration = Duration::from_secs(30);

impl Worker {
    /// Works until `stop` ends, then brings to an end what is under way. What does not end in time is given back.
    pub async fn run(&self, stop: impl Future<Output = ()>) -> Result<(), Fault> {
        let (places, (sender, mut claimed)) = (Semaphore::new(self.most), channel(1));
        let mut turns = FuturesUnordered::new();
        // All are polled together: a turn that nobody polls may hold the store, and who waits for that waits for ever.
        let working = async {
            loop {
                tokio::select! {
                    Some((turn, place)) = claimed.recv() => turns.push(self.take(turn, place)),
                    Some(()) = turns.next(), if !turns.is_empty() => {}
                }
            }
        };
        tokio::select! {
            () = self.claim_all(&places, &sender) => {}
            () = working => {}
            () = self.greet_all() => {}
            () = recollect::forever(self) => {}
            () = stop => {}
        }
        while let Ok((turn, place)) = claimed.try_recv() {
            turns.push(self.take(turn, place));
        }
        tracing::info!(turns = turns.len(), "asked to stop: no more turns are taken");
        let drained = timeout(self.patience, async { while turns.next().await.is_some() {} }).await;
        drop(turns);
        let given = self.store.abandon(&self.name).await.map_err(|error| error.fault())?;
        self.store.part(&self.name).await.map_err(|error| error.fault())?;
        if drained.is_err() {
            tracing::warn!(given, "turns were given back unfinished");
        }
        Ok(())
    }

    /// Claims turns, for ever, as long as there is a place for one more.
    async fn claim_all<'a>(&self, places: &'a Semaphore, claimed: &Sender<(Claimed, SemaphorePermit<'a>)>) {
        while let Ok(place) = places.acquire().await {
            if let Some(turn) = self.claim().await {
                drop(claimed.send((turn, place)).await);
            } else {
                drop(place);
                sleep(self.pace).await;
            }
        }
    }

    /// Says that this worker lives, for ever.
    async fn greet_all(&self) {
        loop {
            if let Err(error) = self.store.greet(&self.name, Timestamp::now()).await {
                tracing::warn!("cannot give a sign of life: {}", error.fault().what());
            }
            sleep(GREETING).await;
        }
    }

    /// Takes the next turn. A store that cannot be asked is asked again: nothing else helps.
    async fn claim(&self) -> Option<Claimed> {
        match self.store.claim(&self.name, self.caps, Timestamp::now(), self.lease).await {
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::warn!("cannot look for work: {}", error.fault().what());
                None
            }
        }
    }

    /// Brings a turn to its end. Where even that cannot be written down, the lease runs out and another takes it.
    async fn take(&self, claimed: Claimed, _place: SemaphorePermit<'_>) {
        let (turn, began) = (claimed.lease.turn, Instant::now());
        let ending = match Box::pin(turn::once(self, &claimed)).await {
            Ok(ending) => {
                tracing::info!(turn, "{ending}");
                ending
            }
            Err(error) => {
                tracing::warn!(turn, "the turn was left: {}", error.fault().what());
                "left"
            }
        };
        self.watch.counts.turn(ending, began.elapsed());
    }
}
