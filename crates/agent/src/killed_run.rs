//! What a killed run left behind: its memory is saved, its folders are removed.
//!
//! Nothing is believed but what the run wrote where the agent cannot reach.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use fro_boundary::{Enclosure, StillRunning, remove_folder};
use fro_core::{Fault, remembered::Audience};
use fro_memory::Keeping;

use crate::{
    job::Origin,
    memory::{Memory, PRIVATE},
    process::Process,
    state::State,
    step::Tell,
};

/// How long the wall of a killed run may take to end: it asks the engine first.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a killed run left behind.
pub struct KilledRun {
    private: PathBuf,
    state: Option<State>,
}

impl KilledRun {
    /// Looks at a run's private folder, and refuses whatever is not of this run.
    pub fn read(process: &Process, run: &str, private: PathBuf) -> Result<Self, Fault> {
        let scratch = &process.settings.scratch;
        check_owner(&private, scratch, PRIVATE)?;
        let state = State::read(&private)?;
        if let Some(state) = &state {
            if state.run != run {
                return Err(Fault::ours("what was left is of another run"));
            }
            check_owner(state.engine_data.parent().unwrap_or(&private), scratch, "fro-bot-")?;
        }
        Ok(Self { private, state })
    }

    /// Tells whether there is a memory to save, for which the repository's own settings matter.
    pub fn has_memory(&self) -> bool {
        self.state.is_some()
    }

    /// Saves the memory, if there is one.
    pub async fn save(
        &self,
        process: &Process,
        (origin, audience): (&Origin, Audience),
        tell: Tell<'_>,
    ) -> Option<Keeping> {
        let state = self.state.as_ref()?;
        let halt = match &state.wall {
            Some(wall) => wall.gone(PATIENCE).await,
            None => Err(StillRunning::unseen()),
        };
        let enclosure = Enclosure::find(&process.settings.engine.program).await;
        let mut memory = Memory::reopen(process, audience, &self.private, state);
        memory.save(process, origin, (halt, enclosure), tell).await
    }

    /// Removes the folders.
    pub fn remove(self) -> Result<(), Fault> {
        let engine = self.state.iter().filter_map(|state| state.engine_data.parent());
        for folder in engine.chain([self.private.as_path()]) {
            remove_folder(folder)
                .map_err(|error| Fault::ours(format!("cannot clean up `{}`: {error}", folder.display())))?;
        }
        Ok(())
    }
}

/// Makes sure that a folder is one of a run of ours before anything in it is touched.
fn check_owner(folder: &Path, scratch: &Path, prefix: &str) -> Result<(), Fault> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if folder.parent() == Some(scratch) && name.starts_with(prefix) {
        return Ok(());
    }
    Err(Fault::ours(format!("`{}` is not a folder of a run", folder.display())))
}
