//! The simulated GitHub with its Actions cache, for tests that block.

use std::{cell::Cell, time::Duration};

use fro_core::Secret;
use fro_http::ClientSettings;
use fro_memory::{CacheMode, CacheSettings, EntryNames, Patience, Store};
use fro_sim::{
    World,
    state::{CacheAccess, Upload},
};
use tokio::runtime::Runtime;

const REPO: &str = "octo/garden";

/// A world on a runtime of its own.
pub(crate) struct GitHub {
    runtime: Runtime,
    pub(crate) world: World,
    runs: Cell<u32>,
}

impl GitHub {
    pub(crate) fn open() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let world = runtime.block_on(World::start()).unwrap();
        Self { runtime, world, runs: Cell::new(0) }
    }

    /// Returns settings for a new run on a branch.
    pub(crate) fn settings(&self, branch: &str, access: CacheAccess) -> CacheSettings {
        self.runs.set(self.runs.get() + 1);
        let scope = format!("refs/heads/{branch}");
        let scopes = [scope.as_str(), "refs/heads/main"];
        let token = self.world.change(|state| state.start_run(REPO, &scopes, access));
        CacheSettings {
            client: ClientSettings::loopback(),
            url: self.world.actions_url(),
            token: Secret::new(token),
            mode: CacheMode::Full,
            names: EntryNames {
                identity: "github".to_owned(),
                repo: REPO.to_owned(),
                branch: branch.to_owned(),
                os: "Linux".to_owned(),
                run: self.runs.get().to_string(),
                attempt: 1,
            },
            patience: Patience {
                connect: Duration::from_secs(20),
                lookup: Duration::from_mins(1),
                answer: Duration::from_mins(1),
                pauses: vec![Duration::from_millis(5); 2],
                settle: Duration::from_mins(1),
            },
        }
    }

    /// Returns the cache as a new run on `main` sees it.
    pub(crate) fn store(&self) -> Store {
        Store::actions_cache(&self.settings("main", CacheAccess::Write)).unwrap()
    }

    /// Forgets the entries whose keys begin like this, as the service does with old ones.
    pub(crate) fn evict(&self, beginning: &str) -> usize {
        self.world.change(|state| {
            let before = state.caches.len();
            state.caches.retain(|entry| !entry.key.starts_with(beginning));
            before - state.caches.len()
        })
    }

    /// Returns the keys and the content of all entries.
    pub(crate) fn entries(&self) -> Vec<(String, Vec<u8>)> {
        self.world.state(|state| {
            let finished =
                state.caches.iter().filter_map(|entry| Some((entry.key.clone(), entry.bytes()?.to_vec())));
            finished.collect()
        })
    }

    /// Puts something else in the place of an entry.
    pub(crate) fn replace(&self, key: &str, content: &[u8]) {
        let content = content.to_vec();
        self.world.change(|state| {
            let entry = state.caches.iter_mut().find(|entry| entry.key == key).unwrap();
            entry.upload = Upload::Finished(content.into());
        });
    }

    /// Returns how many entries there are, and forgets those that came later.
    pub(crate) fn count(&self) -> usize {
        self.world.state(|state| state.caches.len())
    }

    pub(crate) fn forget_after(&self, count: usize) {
        self.world.change(|state| state.caches.truncate(count));
    }

    /// Returns how many requests have come so far.
    pub(crate) fn requests(&self) -> usize {
        self.world.traffic().len()
    }

    /// Ends the world, as an outage does.
    pub(crate) fn close(self) {
        drop(self.world);
        self.runtime.shutdown_background();
    }
}
