//! Memories that can be looked into: brought when somebody asks for one, and again when it may have changed.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use fro_core::{Fault, RepoName};
use fro_memory::{Index, Ledger, Sessions};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

/// A memory is brought again if it is older than this: runs and threads save all the time.
const FRESH: Duration = Duration::from_secs(30);
/// So many are kept on this machine.
const MOST: usize = 8;

/// A memory that was brought.
pub struct OpenMemory {
    /// What was said.
    pub sessions: Sessions,
    /// Which runs there were.
    pub ledger: Ledger,
    /// What finds sessions by words.
    pub index: Index,
    /// Where all of it lies; it goes with this.
    pub folder: TempDir,
}

/// Brings the memory of a repository, or the only one there is.
pub type Bring = Box<dyn Fn(Option<&RepoName>) -> Result<OpenMemory, Fault> + Send + Sync>;

/// What was brought, by repository, and when.
type Brought = HashMap<Option<RepoName>, (Instant, OpenMemory)>;

/// Memories, each brought when it is asked for.
#[derive(Clone)]
pub struct Memories {
    bring: Arc<Bring>,
    /// Whether there is one that is asked for without a name.
    pub(crate) has_one: bool,
    kept: Arc<Mutex<Brought>>,
}

impl Memories {
    /// The memory that somebody named.
    pub fn one(bring: Bring) -> Self {
        Self { bring: Arc::new(bring), has_one: true, kept: Arc::default() }
    }

    /// A memory for each repository that is linked.
    pub fn of_repositories(bring: Bring) -> Self {
        Self { has_one: false, ..Self::one(bring) }
    }

    /// Asks a memory something, in a thread of its own.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        of: Option<RepoName>,
        question: impl FnOnce(&OpenMemory) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let memories = self.clone();
        let asked = spawn_blocking(move || {
            let mut kept = memories.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let is_fresh = kept.get(&of).is_some_and(|(brought, _)| brought.elapsed() < FRESH);
            if !is_fresh {
                let brought = (memories.bring)(of.as_ref())?;
                kept.insert(of.clone(), (Instant::now(), brought));
                drop_oldest(&mut kept);
            }
            kept.get(&of)
                .map_or_else(|| Err(Fault::ours("the memory is gone")), |(_, memory)| question(memory))
        });
        asked.await.unwrap_or_else(|error| Err(Fault::ours(format!("the memory could not be read: {error}"))))
    }
}

fn drop_oldest(kept: &mut HashMap<Option<RepoName>, (Instant, OpenMemory)>) {
    while kept.len() > MOST {
        let oldest = kept.iter().min_by_key(|(_, (brought, _))| *brought).map(|(of, _)| of.clone());
        if let Some(oldest) = oldest {
            kept.remove(&oldest);
        }
    }
}
