//! An engine from the first folder to the last: opened, prepared, running, finished.
//!
//! Each state is a type that has only what can be done in it: [`Agent`] is opened, [`Prepared`] can be started,
//! [`Running`](crate::Running) opens sessions, [`Finished`] tells what is left. [`Agent`] owns what the others borrow. So a
//! caller may drop any call of theirs half way, as when somebody stops a run, and [`Agent::finish`] ends whatever there is
//! by then.

use std::{sync::Arc, time::Duration};

use fro_boundary::remove_folder;
use fro_core::{Fault, Permit, say::subject_status::SubjectStatus};
use fro_memory::{Keeping, Kept};
use fro_opencode::EngineHome;
use tempfile::TempDir;

use crate::{
    hand_out,
    handover::Handover,
    job::{Job, Scope},
    live_engine::LiveEngine,
    memory::{Memory, subject},
    opened::{Equipped, Opened, Preparation},
    prepared::Prepared,
    process::Process,
    sorter::Sorter,
    step::{Step, Tell},
};

/// An engine's folders and memory, and what was made of them so far.
pub struct Agent<'a> {
    opened: Opened<'a>,
    equipped: Option<Equipped<'a>>,
}

/// What is left of an engine.
pub struct Finished {
    /// What became of the memory, if there was one to keep.
    pub kept: Option<Keeping>,
    /// Whether everything is cleaned up.
    pub cleaned: Result<(), Fault>,
    /// The private folder, which goes when this is dropped: as long as it is there, the step after a killed run finishes
    /// what that left.
    pub private: Option<TempDir>,
}

impl Finished {
    /// Tells whether the next run finds what this one learned.
    pub fn saved(&self) -> bool {
        let kept = self.kept.as_ref().and_then(|keeping| keeping.kept.as_ref());
        matches!(kept, Some(Kept::Saved { .. }))
    }
}

impl<'a> Agent<'a> {
    /// Makes the folders; nothing else happens yet.
    pub fn open(process: &'a Process, job: &'a Job, tell: Tell<'a>) -> Result<Self, Fault> {
        let scope = Scope { process, job, tell };
        let scratch = &process.settings.scratch;
        let folder = tempfile::Builder::new().prefix("fro-bot-").tempdir_in(scratch);
        let folder = folder.map_err(|error| {
            let what = format!("cannot make a folder in `{}`: {error}", scratch.display());
            Fault::yours(what, "see that the folder for temporary files can be written and has room")
        })?;
        let engine_home = EngineHome::at(folder.path());
        let memory = Memory::open(scope, engine_home.data())?;
        tell(Step::Opened { private: memory.private().to_owned() });
        let (archives, warnings, sorter) = (None, Vec::new(), Arc::new(Sorter::new(scope)));
        let refused = false;
        let opened = Opened { scope, folder, engine_home, memory, sorter, archives, warnings, refused };
        Ok(Self { opened, equipped: None })
    }

    /// Brings the engine, the memory and the repository, all at once. What is there already is not brought again.
    pub async fn prepare(&mut self) -> Result<Prepared<'_, 'a>, Fault> {
        let equipped = if let Some(equipped) = self.equipped.take() {
            equipped
        } else {
            let brought = Box::pin(self.opened.bring_all()).await;
            let preparation = brought.map_err(|fault| self.opened.blame(fault))?;
            Equipped { preparation, engine: None }
        };
        Ok(Prepared { opened: &mut self.opened, equipped: self.equipped.insert(equipped) })
    }

    /// Brings the memory alone, for what is answered without the engine.
    pub async fn recall(&mut self) {
        let recall = self.opened.memory.bring(subject(self.opened.scope.permit())).await;
        self.opened.note_recall(recall);
    }

    /// Returns what is known of the subject.
    pub async fn subject_status(&self, permit: &Permit) -> Result<SubjectStatus, String> {
        self.opened.memory.subject_status(permit).await
    }

    /// Forgets the subject at once, and returns how many sessions that were.
    pub async fn forget(&mut self, permit: &Permit) -> Result<usize, String> {
        self.opened.memory.forget(self.opened.scope, permit).await
    }

    /// Hands over what the agent pushed. Nothing behind the wall runs meanwhile: what it wrote is looked at.
    pub async fn hand_over(&mut self) -> Handover {
        let Some(equipped) = &mut self.equipped else { return Handover::default() };
        let halt = equipped.halt().await;
        equipped.preparation.repository.hand_over(self.opened.scope, halt).await
    }

    /// Reads files of the agent's clone, each of which has its bytes or a reason why it has none. Nothing behind the wall runs
    /// meanwhile, so that no file becomes another one while it is read.
    pub async fn read_files(&mut self, paths: &[String]) -> Vec<Result<Vec<u8>, String>> {
        let Some(equipped) = &mut self.equipped else {
            return paths.iter().map(|_| Err("there is no clone".to_owned())).collect();
        };
        let halt = equipped.halt().await;
        let Preparation { repository, enclosure, .. } = &equipped.preparation;
        hand_out::read(self.opened.scope.settings(), (repository.folder(), *enclosure), &halt, paths).await
    }

    /// Stops the engine, keeps what it knows and removes its folder.
    pub async fn finish(self) -> Finished {
        let Opened { scope, folder, mut memory, archives, .. } = self.opened;
        let mut kept = None;
        if let Some(Equipped { preparation, engine: Some(engine) }) = self.equipped {
            let halt = engine.stop().await;
            let Scope { process, job, tell } = scope;
            tell(Step::EngineStopped);
            kept = memory.save(process, &job.origin, (halt, preparation.enclosure), tell).await;
        }
        if let Some(archives) = archives {
            archives.keep().await;
        }
        Finished { kept, cleaned: remove(folder).await, private: memory.into_folder() }
    }

    /// Stops the engine and removes its folder; what it knows is lost, as if it had never been asked.
    pub async fn discard(self) -> Result<(), Fault> {
        let tell = self.opened.scope.tell;
        if let Some(Equipped { engine: Some(engine), .. }) = self.equipped {
            if let Err(why) = engine.stop().await {
                tell(Step::Warning(why.to_string()));
            }
            tell(Step::EngineStopped);
        }
        remove(self.opened.folder).await
    }

    /// Adds to what a maintainer should know, without telling it again.
    pub fn note(&mut self, warnings: Vec<String>) {
        self.opened.warnings.extend(warnings);
    }

    /// Returns what the summary says of the walls.
    pub fn walls(&self) -> String {
        self.engine().map_or("the engine was not started", LiveEngine::walls).to_owned()
    }

    /// Returns what the summary says of the network, if any was open.
    pub fn network(&self) -> Option<String> {
        self.engine().and_then(LiveEngine::network)
    }

    /// Returns what the summary says of `gh`, if it was used.
    pub fn gh(&self) -> Option<String> {
        let calls = self.engine().and_then(LiveEngine::gh)?;
        let done = self.opened.sorter.done();
        Some(if done.is_empty() { calls } else { format!("{calls}: {}", done.join(", ")) })
    }

    /// Returns what the summary says of the memory.
    pub fn memory(&self) -> String {
        self.opened.memory.describe()
    }

    /// Returns the ids of the engine's sessions that were served.
    pub fn sessions(&self) -> Vec<String> {
        self.opened.memory.record().sessions()
    }

    /// Returns what a maintainer should know.
    pub fn warnings(&self) -> Vec<String> {
        let refusals = self.engine().map(LiveEngine::refusals).unwrap_or_default();
        [self.opened.warnings.clone(), refusals].concat()
    }

    /// Tells whether the provider of a model did not accept its key, so that nothing was begun.
    pub fn was_refused(&self) -> bool {
        self.opened.refused
    }

    /// Returns the version of the engine that serves, or will.
    pub fn engine_version(&self) -> Option<&str> {
        self.equipped.as_ref().map(|equipped| equipped.preparation.engine.version.as_str())
    }

    fn engine(&self) -> Option<&LiveEngine<'a>> {
        self.equipped.as_ref().and_then(|equipped| equipped.engine.as_ref())
    }
}

/// Removes the folder. An engine whose start was broken off may need a moment to be gone from it.
async fn remove(folder: TempDir) -> Result<(), Fault> {
    let path = folder.keep();
    let mut removed = remove_folder(&path);
    for _ in 0..100 {
        if removed.is_ok() || !path.exists() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        removed = remove_folder(&path);
    }
    removed.map_err(|error| Fault::ours(format!("cannot clean up `{}`: {error}", path.display())))
}
