//! What is done after a run that was killed: its memory is saved, a comment that shows its progress says that it ended, 👀
//! and the label are taken away, its folders removed.
//!
//! Nothing is believed but the event and what the run wrote where the agent cannot reach. A run that ended by itself
//! left nothing, and doing this twice is doing it once.

use std::path::PathBuf;

use fro_core::{
    Decision, Fault, Permit, Task, Trigger,
    event::{self, Reading},
    gate::{self, Policy},
    remembered::Audience,
    say::marker::Marker,
};

use crate::{
    ending::Ending,
    occasion::Occasion,
    process::Process,
    progress::{Progress, Tell},
    venue::{self, Host},
};

/// What a killed run left behind.
pub struct KilledRun(fro_agent::KilledRun);

impl KilledRun {
    /// Looks at the run's private folder, and refuses whatever is not of this run.
    pub fn read(process: &Process, occasion: &Occasion, private: PathBuf) -> Result<Self, Fault> {
        fro_agent::KilledRun::read(&process.agent, &occasion.run.id, private).map(Self)
    }

    /// Tells whether there is a memory to save, for which the repository's own settings matter.
    pub fn has_memory(&self) -> bool {
        self.0.has_memory()
    }

    /// Finishes what is open.
    pub async fn finish(self, process: &Process, occasion: &Occasion, tell: Tell<'_>) -> Result<(), Fault> {
        // Where nobody could tell who reads the repository, nothing private is kept with what everyone may hear.
        let audience = occasion.audience.unwrap_or(Audience::Everyone);
        let (origin, steps) = (occasion.origin(&occasion.event.name), |step| tell(Progress::Agent(step)));
        let kept = self.0.save(&process.agent, (&origin, audience), &steps).await;
        venue::memory(process, occasion, kept.as_ref());
        let removed = remove_signs_of_work(process, occasion, tell).await;
        self.0.remove()?;
        removed
    }
}

/// Takes 👀 and the label away and ends the comment of the progress, if the event still says that they were ours to give.
async fn remove_signs_of_work(process: &Process, occasion: &Occasion, tell: Tell<'_>) -> Result<(), Fault> {
    let Reading::Trigger(trigger) = event::read(&occasion.event)? else { return Ok(()) };
    let host = Host::open(process, &trigger)?;
    if let Some((permit, task)) = decide_again(&process.policy, occasion, &trigger, &host).await? {
        let venue = host.venue(&permit, occasion, tell);
        let marker = Marker::new(&occasion.run.id, &trigger);
        venue.end_progress(process, &marker).await;
        let mut acknowledgement = venue.acknowledgement(task.visibility());
        acknowledgement.resume().await;
        acknowledgement.end(&Ok(Ending::Interrupted)).await;
    }
    Ok(())
}

async fn decide_again(
    policy: &Policy,
    occasion: &Occasion,
    trigger: &Trigger,
    host: &Host,
) -> Result<Option<(Box<Permit>, Task)>, Fault> {
    if gate::glance(trigger, policy).is_err() {
        return Ok(None);
    }
    let facts = host.facts(trigger, policy, occasion).await?;
    match gate::decide(trigger, &facts, policy) {
        Decision::Run(permit, task) => Ok(Some((permit, task))),
        Decision::Skip(_) => Ok(None),
    }
}
