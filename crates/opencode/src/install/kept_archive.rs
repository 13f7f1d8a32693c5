//! Packages as they were downloaded, kept by the caller: looked up before a download, and added after one.
//!
//! Only pinned packages are exchanged: their bytes are compared with the pin wherever they come from.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{ToolCache, Version, Wanted};
use crate::pin::{self, Contents, Package};

/// Returns the names of the packed packages that an installation would download.
pub fn missing_archives(wanted: &Wanted, omo: Option<&Version>, cache: &ToolCache) -> Vec<String> {
    let engine = pin::engine(wanted.platform).ok().filter(|_| wanted.version == Version::Pinned);
    let omo = omo.filter(|version| **version == Version::Pinned).map(|_| &pin::OMO);
    let packages = [engine, pin::ripgrep(wanted.platform).ok(), omo].into_iter().flatten();
    let missing = packages.filter(|package| cache.find(package).is_none());
    missing.flat_map(with_needs).filter_map(name).collect()
}

/// Returns the kept file of a package, if there is one.
pub(super) fn find(package: &Package, wanted: &Wanted) -> Option<PathBuf> {
    Some(wanted.archives.as_ref()?.join(name(package)?)).filter(|archive| archive.exists())
}

/// Keeps the downloaded file of a package where the caller has a folder for it, and removes it otherwise.
pub(super) fn keep(package: &Package, wanted: &Wanted, packed: &Path) -> io::Result<()> {
    match (&wanted.archives, name(package)) {
        (Some(folder), Some(name)) => fs::copy(packed, folder.join(name)).and(fs::remove_file(packed)),
        (None, _) | (_, None) => fs::remove_file(packed),
    }
}

/// A file name that tells the bytes: none if they are not pinned.
fn name(package: &Package) -> Option<String> {
    package.sha512.map(|_| format!("{}.tgz", package.spec().replace('/', "+")))
}

fn with_needs(package: &'static Package) -> impl Iterator<Item = &'static Package> {
    let needs = match package.contents {
        Contents::Program(_) => &[],
        Contents::Module { needs } => needs,
    };
    [package].into_iter().chain(needs)
}
