//! Stores that can be made to fail, one operation at a time.

use std::{fs, path::PathBuf, sync::Mutex, time::Duration};

use fro_memory::{CacheSettings, Patience, Store};
use fro_sim::{FaultKind, state::CacheAccess};
use tempfile::TempDir;

use crate::{
    bucket::{Bucket, Fault},
    github::GitHub,
};

const PREFIX: &str = "octo/garden";

/// A place whose operations can fail.
pub(crate) trait Breakable {
    /// Every operation that a recall or a save has with it: its name, and what it is known by here.
    const OPERATIONS: &'static [(&'static str, &'static str)];

    fn open() -> Self;

    fn store(&self) -> Store;

    /// Returns a store that soon gives up on this operation, and has all the time in the world for the others.
    fn hasty_store(&self, operation: &str) -> Store;

    /// Fails an operation every time, until `mend`.
    fn fail(&self, operation: &str, fault: Fault);

    fn mend(&self);
}

/// A bucket; operations are words of a request line.
pub(crate) struct BrokenBucket(Bucket);

impl Breakable for BrokenBucket {
    const OPERATIONS: &'static [(&'static str, &'static str)] = &[
        ("read the head", "GET /head.3"),
        ("read a manifest", "GET /manifests/"),
        ("read a pack", "GET /packs/"),
        ("look a pack up", "HEAD /packs/"),
        ("write a pack", "PUT /packs/"),
        ("write a manifest", "PUT /manifests/"),
        ("move the head", "PUT /head.3"),
    ];

    fn open() -> Self {
        Self(Bucket::open())
    }

    fn store(&self) -> Store {
        self.0.store(PREFIX)
    }

    fn hasty_store(&self, _: &str) -> Store {
        self.0.hasty_store(PREFIX)
    }

    fn fail(&self, operation: &str, fault: Fault) {
        self.0.fail(operation, fault);
    }

    fn mend(&self) {
        self.0.mend();
    }
}

/// The Actions cache; operations are routes.
pub(crate) struct BrokenCache(GitHub);

impl Breakable for BrokenCache {
    const OPERATIONS: &'static [(&'static str, &'static str)] = &[
        (
            "look an entry up",
            "POST /twirp/github.actions.results.api.v1.CacheService/GetCacheEntryDownloadURL",
        ),
        ("download", "GET /actions-cache/{blob}"),
        ("reserve a key", "POST /twirp/github.actions.results.api.v1.CacheService/CreateCacheEntry"),
        ("upload", "PUT /actions-cache/{blob}"),
        (
            "finish an entry",
            "POST /twirp/github.actions.results.api.v1.CacheService/FinalizeCacheEntryUpload",
        ),
    ];

    fn open() -> Self {
        Self(GitHub::open())
    }

    fn store(&self) -> Store {
        self.0.store()
    }

    fn hasty_store(&self, operation: &str) -> Store {
        let settings = self.0.settings("main", CacheAccess::Write);
        let (brief, ample) = (Duration::from_secs(5), Duration::from_mins(10));
        let is_lookup = operation == Self::OPERATIONS[0].1;
        let (lookup, answer) = if is_lookup { (brief, ample) } else { (ample, brief) };
        let patience = Patience { lookup, answer, pauses: Vec::new(), ..settings.patience.clone() };
        Store::actions_cache(&CacheSettings { patience, ..settings }).unwrap()
    }

    fn fail(&self, operation: &str, fault: Fault) {
        let kind = match fault {
            Fault::Status(status) => FaultKind::Status(status),
            Fault::Hang => FaultKind::Delay(Duration::from_hours(1)),
            Fault::Cut => FaultKind::AnswerCut,
            Fault::Lose => FaultKind::AnswerWithheld,
        };
        self.0.world.faults().on(operation, kind).always();
    }

    fn mend(&self) {
        self.0.world.faults().heal();
    }
}

/// A folder; operations are paths in whose place something else stands.
pub(crate) struct BrokenFolder {
    root: TempDir,
    moved: Mutex<Option<(PathBuf, PathBuf)>>,
}

impl Breakable for BrokenFolder {
    const OPERATIONS: &'static [(&'static str, &'static str)] = &[
        ("read the head", "3/head.3"),
        ("read a manifest", "3/manifests"),
        ("read a pack", "3/packs"),
        ("write anything", "3/scratch"),
        ("lock the head", "3/head.lock"),
    ];

    fn open() -> Self {
        Self { root: tempfile::tempdir().unwrap(), moved: Mutex::default() }
    }

    fn store(&self) -> Store {
        Store::folder(self.root.path()).unwrap()
    }

    fn hasty_store(&self, _: &str) -> Store {
        self.store()
    }

    fn fail(&self, operation: &str, _: Fault) {
        let path = self.root.path().join(operation);
        let aside = self.root.path().join("moved");
        fs::rename(&path, &aside).unwrap();
        // Where a file is expected stands a folder, and the other way round.
        if aside.is_dir() {
            fs::write(&path, "in the way").unwrap();
        } else {
            fs::create_dir(&path).unwrap();
        }
        *self.moved.lock().unwrap() = Some((path, aside));
    }

    fn mend(&self) {
        if let Some((path, aside)) = self.moved.lock().unwrap().take() {
            if path.is_dir() {
                fs::remove_dir(&path).unwrap();
            } else {
                fs::remove_file(&path).unwrap();
            }
            fs::rename(aside, path).unwrap();
        }
    }
}
