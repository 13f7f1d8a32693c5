//! Packed tools in the Actions cache, under keys of their own apart from the memory: a runner that begins empty finds
//! there what an earlier run downloaded. What comes from there is compared with the pins like any download.

use std::{path::Path, time::Duration};

use fro_core::Fault;
use fro_memory::{CacheFiles, CacheUse, Refusal};
use fro_opencode::missing_archives;
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
    /// Whether the service answers. One that took a connection and fell silent is waited for once in a run, not again when
    /// the run ends.
    answers: bool,
}

impl ToolArchiveCache {
    /// Brings what the tool cache lacks. Nothing if it lacks nothing, or if there is no Actions cache.
    ///
    /// They lie in the run's private folder, which goes with the run, even with one that is killed.
    pub(crate) async fn bring(scope: Scope<'_>, private: &Path) -> Option<Self> {
        let CacheUse::Service(place) = &scope.settings().memory.cache else { return None };
        let (wanted, tools) = scope.process.tools(scope.job.checkout.clone()).ok()?;
        let missing = missing_archives(&wanted, scope.settings().engine.omo.as_ref(), &tools);
        if missing.is_empty() {
            return None;
        }
        let cache = CacheFiles::open(place).ok()?;
        let folder = tempfile::Builder::new().prefix("archives-").tempdir_in(private).ok()?;
        let fetching = missing.into_iter().map(|name| fetch(cache.clone(), folder.path(), name));
        let fetched = timeout(PATIENCE, futures::future::join_all(fetching)).await;
        let (brought, answers) = if let Ok(fetched) = fetched {
            let (there, failed): (Vec<_>, Vec<_>) = fetched.into_iter().partition(Result::is_ok);
            let answers = warn_once(failed.into_iter().filter_map(Result::err).collect());
            (there.into_iter().flatten().flatten().collect(), answers)
        } else {
            tracing::warn!("the tools did not come from the Actions cache in {} s", PATIENCE.as_secs());
            (Vec::new(), false)
        };
        Some(Self { cache, folder, brought, answers })
    }

    /// Returns where they are.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Keeps what had to be downloaded; a run does not fail by it.
    pub(crate) async fn keep(self) {
        if !self.answers {
            return;
        }
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

/// Says once why tools were not brought; returns whether the service answered at all.
fn warn_once(failed: Vec<fro_memory::Error>) -> bool {
    let answers = failed.iter().all(|error| error.refusal() != Some(Refusal::Unreachable));
    if let Some(error) = failed.into_iter().next() {
        tracing::warn!("tools were not brought from the Actions cache: {}", Fault::from(error).what());
    }
    answers
}

/// Fetches one, and returns its name if it was there.
async fn fetch(cache: CacheFiles, folder: &Path, name: String) -> Result<Option<String>, fro_memory::Error> {
    let to = folder.join(&name);
    let fetched = spawn_blocking(move || {
        let fetched = cache.fetch(&key(&name), &to, LARGEST);
        if !matches!(fetched, Ok(true)) {
            fs_err::remove_file(&to).unwrap_or_default();
        }
        fetched.map(|there| there.then_some(name))
    });
    fetched.await.unwrap_or(Ok(None))
}

fn key(name: &str) -> String {
    format!("fro-bot-tool-{name}")
}
