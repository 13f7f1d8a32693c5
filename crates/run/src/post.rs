//! What is done after a run that was killed: its memory is saved, 👀 and the label are taken away, its folders removed.
//!
//! Nothing is believed but the event and what the run wrote where the agent cannot reach. A run that ended by itself
//! left nothing, and doing this twice is doing it once.

use std::path::{Path, PathBuf};

use fro_boundary::Enclosure;
use fro_core::{
    Decision, Fault, Permit, Trigger,
    event::{self, Reading},
    gate::{self, Policy, ReviewWish},
};
use fro_github::GitHub;

use crate::{
    Ending,
    acknowledge::Acknowledgement,
    facts,
    memory::{Memory, PRIVATE},
    occasion::Occasion,
    process::Process,
    progress::Tell,
    state::State,
};

/// What a killed run left behind.
pub struct Left {
    private: PathBuf,
    state: Option<State>,
}

impl Left {
    /// Looks at the run's private folder, and refuses whatever is not of this run.
    pub fn read(process: &Process, occasion: &Occasion, private: PathBuf) -> Result<Self, Fault> {
        let scratch = &process.settings.scratch;
        ours(&private, scratch, PRIVATE)?;
        let state = State::read(&private)?;
        if let Some(state) = &state {
            if state.run != occasion.run.id {
                return Err(Fault::ours("what was left is of another run"));
            }
            ours(state.engine_data.parent().unwrap_or(&private), scratch, "fro-bot-")?;
        }
        Ok(Self { private, state })
    }

    /// Tells whether there is a memory to save, for which the repository's own settings matter.
    pub fn has_memory(&self) -> bool {
        self.state.is_some()
    }

    /// Finishes what is open.
    pub async fn finish(self, process: &Process, occasion: &Occasion, tell: Tell<'_>) -> Result<(), Fault> {
        if let Some(state) = &self.state {
            let enclosure = Enclosure::find(&process.settings.engine.program).await;
            let mut memory = Memory::reopen(process, occasion, &self.private, state);
            memory.save(process, occasion, enclosure, tell).await;
        }
        let unseen = unsee(process, occasion, tell).await;
        let engine = self.state.iter().filter_map(|state| state.engine_data.parent());
        for folder in engine.chain([self.private.as_path()]) {
            fs_err::remove_dir_all(folder)
                .map_err(|error| Fault::ours(format!("cannot clean up: {error}")))?;
        }
        unseen
    }
}

/// Takes 👀 and the label away, if the event still says that they were ours to give.
async fn unsee(process: &Process, occasion: &Occasion, tell: Tell<'_>) -> Result<(), Fault> {
    let Reading::Trigger(trigger) = event::read(&occasion.event)? else { return Ok(()) };
    let github = process.github(trigger.repo())?;
    if let Some(permit) = decide_again(&process.settings.policy, occasion, &trigger, &github).await? {
        let wish = ReviewWish::of(&trigger, &process.settings.policy);
        let mut acknowledgement = Acknowledgement::of(&github, &permit, tell, wish);
        acknowledgement.resume().await;
        acknowledgement.end(&Ok(Ending::Interrupted)).await;
    }
    Ok(())
}

async fn decide_again(
    policy: &Policy,
    occasion: &Occasion,
    trigger: &Trigger,
    github: &GitHub,
) -> Result<Option<Permit>, Fault> {
    if gate::glance(trigger, policy).is_err() {
        return Ok(None);
    }
    let facts = facts::gather(github, trigger, policy, occasion).await?;
    match gate::decide(trigger, &facts, policy) {
        Decision::Run(permit) => Ok(Some(*permit)),
        Decision::Skip(_) => Ok(None),
    }
}

/// Makes sure that a folder is one of a run of ours before anything in it is touched.
fn ours(folder: &Path, scratch: &Path, prefix: &str) -> Result<(), Fault> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if folder.parent() == Some(scratch) && name.starts_with(prefix) {
        return Ok(());
    }
    Err(Fault::ours(format!("`{}` is not a folder of a run", folder.display())))
}
