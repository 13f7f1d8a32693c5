//! Puts the engine and its search tool into the tool cache: the pinned bytes or nothing.

mod cache;
mod kept_archive;
mod npm;
mod preinstalled;
mod registry;
mod unpack;
mod version;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use fro_http::Client;
use tracing::{info, warn};

use crate::{
    error::Error,
    pin::{self, Contents, Package, Platform},
};

pub use cache::ToolCache;
pub use kept_archive::missing_archives;
pub use registry::registry;
pub use version::Version;

/// What to install, and by what means.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The machine to install for.
    pub platform: Platform,
    /// The engine's version.
    pub version: Version,
    /// The environment of the npm client; it says where the client is and how it is configured.
    pub environment: Vec<(OsString, OsString)>,
    /// The way to the registry where there is no npm client.
    pub client: Client,
    /// How long a download may stand still.
    pub patience: Duration,
    /// A folder in which somebody keeps packed packages for us, and takes those that we leave.
    pub archives: Option<PathBuf>,
    /// The checkout, from which nothing is started.
    pub checkout: Option<PathBuf>,
}

impl Wanted {
    /// The pinned engine for this machine.
    pub fn pinned(environment: Vec<(OsString, OsString)>, client: Client) -> Self {
        Self {
            platform: Platform::here(),
            version: Version::Pinned,
            environment,
            client,
            patience: Duration::from_mins(2),
            archives: None,
            checkout: None,
        }
    }
}

/// An installed engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// The engine itself.
    pub binary: PathBuf,
    /// The search tool that has to be on its `PATH`.
    pub rg: PathBuf,
    /// Its version.
    pub version: String,
}

/// How far the installation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstallProgress {
    /// What is being installed.
    pub what: &'static str,
    /// What happens to it.
    pub stage: Stage,
}

/// What happens to a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The package is downloaded.
    Downloading {
        /// Bytes so far.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// The package is compared with the pin and unpacked.
    Unpacking,
    /// The package is installed.
    Ready,
}

/// Who is told of the progress.
pub type Tell<'a> = &'a mut (dyn FnMut(InstallProgress) + Send);

/// Installs what is not there yet, and returns where it is.
///
/// Two installations at once wait for each other, and one that fails or is dropped leaves nothing behind.
pub async fn install(wanted: &Wanted, cache: &ToolCache, tell: Tell<'_>) -> Result<Engine, Error> {
    let (engine, ripgrep) = (pin::engine(wanted.platform)?, pin::ripgrep(wanted.platform)?);
    let engine = version::choose(engine, &wanted.version, wanted).await?;
    let preinstalled = match cache.find(&engine) {
        Some(_) => None,
        None => preinstalled::find(&engine, wanted).await,
    };
    let binary = match preinstalled {
        Some(binary) => binary,
        None => bring(&engine, wanted, cache, tell).await?,
    };
    let rg = bring(ripgrep, wanted, cache, tell).await?;
    Ok(Engine { binary, rg, version: engine.version.into_owned() })
}

/// Installs Oh My OpenCode, and returns the folder that the engine loads it from, without links: the engine resolves
/// them, and its guard knows real names alone.
pub async fn install_omo(
    wanted: &Wanted,
    version: &Version,
    cache: &ToolCache,
    tell: Tell<'_>,
) -> Result<PathBuf, Error> {
    let omo = version::choose(&pin::OMO, version, wanted).await?;
    let folder = bring(&omo, wanted, cache, tell).await?;
    std::fs::canonicalize(&folder).map_err(|source| cache::disk("find", &folder, source))
}

async fn bring(
    package: &Package,
    wanted: &Wanted,
    cache: &ToolCache,
    tell: Tell<'_>,
) -> Result<PathBuf, Error> {
    if let Some(path) = cache.find(package) {
        tell(InstallProgress { what: package.tool, stage: Stage::Ready });
        return Ok(path);
    }
    let place = cache.claim(package).await?;
    if let Some(path) = cache.find(package) {
        tell(InstallProgress { what: package.tool, stage: Stage::Ready });
        return Ok(path);
    }
    fetch(package, wanted, place.workshop(), &place.bench(), tell).await?;
    if let Contents::Module { needs } = package.contents {
        for needed in needs {
            fetch(needed, wanted, place.workshop(), &place.bench(), tell).await?;
        }
    }
    let path = place.finish()?;
    info!(
        tool.name = package.tool,
        tool.version = &*package.version,
        "installed {} {}",
        package.name,
        package.version
    );
    tell(InstallProgress { what: package.tool, stage: Stage::Ready });
    Ok(path)
}

/// Downloads one package and unpacks it onto the bench.
async fn fetch(
    package: &Package,
    wanted: &Wanted,
    workshop: &Path,
    bench: &Path,
    tell: Tell<'_>,
) -> Result<(), Error> {
    if let Some(archive) = kept_archive::find(package, wanted) {
        tell(InstallProgress { what: package.tool, stage: Stage::Unpacking });
        match unpack::unpack(package, &archive, bench).await {
            Ok(()) => return Ok(()),
            Err(error) => warn!("what was kept of {} is not used: {error}", package.spec()),
        }
    }
    let packed = match npm::find(&wanted.environment) {
        Some(npm) => npm::pack(&npm, package, wanted, workshop, tell).await?,
        None => registry::download(package, wanted, workshop, tell).await?,
    };
    tell(InstallProgress { what: package.tool, stage: Stage::Unpacking });
    unpack::unpack(package, &packed, bench).await?;
    kept_archive::keep(package, wanted, &packed).map_err(|source| cache::disk("put away", &packed, source))
}

impl Package {
    /// The name and version as npm writes them.
    pub(crate) fn spec(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}
