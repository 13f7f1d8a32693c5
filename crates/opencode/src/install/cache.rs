//! The tool cache of an Actions runner: `<tool>/<version>/<arch>/` is complete if `<arch>.complete` stands beside it.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tempfile::TempDir;
use tokio::time;

use crate::{
    error::Error,
    pin::{Contents, Package},
};

/// How often we look whether another installation is done.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How the workshops of this cache are called, so that those of killed installations can be told and removed.
const WORKSHOP: &str = ".installing-";

/// A folder with installed tools.
#[derive(Debug, Clone)]
pub struct ToolCache {
    root: PathBuf,
}

impl ToolCache {
    /// Uses this folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the tool if it is wholly there.
    pub(crate) fn find(&self, package: &Package) -> Option<PathBuf> {
        let path = self.home(package).join(place_of(package));
        (self.marker(package).exists() && path.exists()).then_some(path)
    }

    /// Waits until no other installation of this tool is under way, then opens a workshop for ours.
    pub(crate) async fn claim(&self, package: &Package) -> Result<Place, Error> {
        let folder = self.folder(package);
        fs::create_dir_all(&folder).map_err(|source| disk("make the folder", &folder, source))?;
        let lock = lock(&folder.join(format!("{}.lock", package.arch))).await?;
        clear(&folder);
        let workshop = tempfile::Builder::new()
            .prefix(WORKSHOP)
            .tempdir_in(&folder)
            .map_err(|source| disk("make a temporary folder in", &folder, source))?;
        let bench = workshop.path().join(package.arch);
        fs::create_dir(&bench).map_err(|source| disk("make the folder", &bench, source))?;
        Ok(Place {
            package: package.clone(),
            home: self.home(package),
            marker: self.marker(package),
            workshop,
            _lock: lock,
        })
    }

    fn folder(&self, package: &Package) -> PathBuf {
        self.root.join(package.tool).join(&*package.version)
    }

    fn home(&self, package: &Package) -> PathBuf {
        self.folder(package).join(package.arch)
    }

    fn marker(&self, package: &Package) -> PathBuf {
        self.folder(package).join(format!("{}.complete", package.arch))
    }
}

/// A claimed place in the cache. Dropping it unfinished leaves nothing behind.
pub(crate) struct Place {
    package: Package,
    home: PathBuf,
    marker: PathBuf,
    workshop: TempDir,
    _lock: File,
}

impl Place {
    /// A folder for whatever comes up on the way.
    pub(crate) fn workshop(&self) -> &Path {
        self.workshop.path()
    }

    /// The folder that everything has to be put into before [`Place::finish`].
    pub(crate) fn bench(&self) -> PathBuf {
        self.workshop.path().join(self.package.arch)
    }

    /// Moves the tool to its home in one step, and only then marks it as complete.
    pub(crate) fn finish(self) -> Result<PathBuf, Error> {
        if self.home.exists() {
            fs::remove_dir_all(&self.home).map_err(|source| disk("remove", &self.home, source))?;
        }
        fs::rename(self.bench(), &self.home)
            .map_err(|source| disk("move the tool to", &self.home, source))?;
        File::create(&self.marker).map_err(|source| disk("write", &self.marker, source))?;
        Ok(self.home.join(place_of(&self.package)))
    }
}

pub(crate) fn disk(deed: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Disk { deed, path: path.to_owned(), source }
}

/// Returns where a package's contents are below its folder.
pub(crate) fn place_of(package: &Package) -> PathBuf {
    match package.contents {
        Contents::Program(file) => file.rsplit('/').next().unwrap_or(file).into(),
        Contents::Module { .. } => Path::new("node_modules").join(package.name),
    }
}

/// Takes the lock without blocking a thread, so that an installation that waits can be dropped at any time.
async fn lock(path: &Path) -> Result<File, Error> {
    let file = File::create(path).map_err(|source| disk("write", path, source))?;
    while file.try_lock().is_err() {
        time::sleep(LOOK_AGAIN).await;
    }
    Ok(file)
}

/// Removes what killed installations left behind; whoever holds the lock is alone here.
fn clear(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(WORKSHOP.as_bytes()) {
            let _unimportant = fs::remove_dir_all(entry.path());
        }
    }
}
