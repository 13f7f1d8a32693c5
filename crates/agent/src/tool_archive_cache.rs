//! Packed tools in the Actions cache, under keys of their own apart from the memory: a runner that begins empty finds
//! there what an earlier run downloaded. What comes from there is compared with the pins like any download.

use std::{path::Path, time::Duration};

use fro_core::Fault;
use fro_memory::{CacheFiles, CacheUse, Refusal};
use fro_opencode::missing_parcels;
use tempfile::TempDir;
use tokio::{task::spawn_blocking, time::timeout};

use crate::job::Scope;

/// The largest of them has 60 MB.
const LARGEST: u64 = 200 << 20;

/// A cache that takes longer than this helps nobody; the registry is asked instead.
const PATIENCE: Duration = Duration::from_secs(40);

/// A folder with what was brought, and with what is to be kept.
pub(crate) struct ToolArchiveCache {
    cache: CacheFiles,
    folder: TempDir,
    brought: Vec<String>,
}

impl ToolArchiveCache {
    /// Brings what the tool cache lacks. Nothing if it lacks nothing, or if there is no Actions cache.
    ///
    /// They lie in the run's private folder, which goes with the run, even with one that is killed.
    pub(crate) async fn bring(scope: Scope<'_>, private: &Path) -> Option<Self> {
        let CacheUse::Service(place) = &scope.settings().memory.cache else { return None };
        let (wanted, tools) = scope.process.tools(scope.job.checkout.clone()).ok()?;
        let missing = missing_parcels(&wanted, scope.settings().engine.omo.as_ref(), &tools);
        if missing.is_empty() {
            return None;
        }
        let cache = CacheFiles::open(place).ok()?;
        let folder = tempfile::Builder::new().prefix("parcels-").tempdir_in(private).ok()?;
        let fetching = missing.into_iter().map(|name| fetch(cache.clone(), folder.path(), name));
        let brought = timeout(PATIENCE, futures::future::join_all(fetching)).await.unwrap_or_default();
        Some(Self { cache, brought: brought.into_iter().flatten().collect(), folder })
    }

    /// Returns where they are.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Keeps what had to be downloaded; a run does not fail by it.
    pub(crate) async fn keep(self) {
        let kept = spawn_blocking(move || {
            for entry in fs_err::read_dir(self.folder.path())?.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if !self.brought.contains(&name) && self.cache.store(&key(&name), &entry.path())? {
                    tracing::info!("kept {name} in the Actions cache");
                }
            }
            Ok::<_, fro_memory::Error>(())
        });
        match kept.await {
            // That this run may only read is told of the memory.
            Ok(Err(error)) if error.refusal() != Some(Refusal::ReadOnly) => {
                tracing::warn!("tools were not kept in the Actions cache: {}", Fault::from(error).what());
            }
            Ok(_) | Err(_) => {}
        }
    }
}

/// Fetches one, and returns its name if it was there.
async fn fetch(cache: CacheFiles, folder: &Path, name: String) -> Option<String> {
    let to = folder.join(&name);
    let fetched = spawn_blocking(move || {
        let fetched = cache.fetch(&key(&name), &to, LARGEST);
        if !matches!(fetched, Ok(true)) {
            fs_err::remove_file(&to).unwrap_or_default();
        }
        fetched.map(|there| there.then_some(name))
    });
    match fetched.await {
        Ok(Ok(name)) => name,
        Ok(Err(error)) => {
            tracing::warn!("a tool was not brought from the Actions cache: {}", Fault::from(error).what());
            None
        }
        Err(_) => None,
    }
}

fn key(name: &str) -> String {
    format!("fro-bot-tool-{name}")
}
