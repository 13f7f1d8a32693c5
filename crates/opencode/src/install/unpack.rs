//! Compares a packed package with its pin and takes the one file out of it that we want.

use std::{
    fs,
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use data_encoding::BASE64;
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha512};
use tar::Archive;
use tokio::task;

use crate::{error::Error, install::cache::disk, pin::Package};

/// Unpacks off the async threads: a hundred megabytes take a second.
pub(crate) async fn unpack(package: &'static Package, packed: &Path, to: &Path) -> Result<(), Error> {
    let (packed, to) = (packed.to_owned(), to.to_owned());
    let work = task::spawn_blocking(move || {
        verify(package, &packed)?;
        extract(package, &packed, &to)
    });
    work.await.map_err(|error| disk("unpack into", Path::new(package.tool), io::Error::other(error)))?
}

/// Not a byte is unpacked before all of them are known to be the right ones.
fn verify(package: &Package, packed: &Path) -> Result<(), Error> {
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
    if found == package.sha512 {
        return Ok(());
    }
    Err(Error::Corrupt { package: package.spec(), expected: package.sha512, found })
}

fn extract(package: &Package, packed: &Path, to: &Path) -> Result<(), Error> {
    let unreadable = |source| disk("unpack", packed, source);
    let file = fs::File::open(packed).map_err(unreadable)?;
    let mut archive = Archive::new(GzDecoder::new(file));
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        if entry.path().is_ok_and(|path| path == Path::new(package.file)) {
            let program = fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(to);
            let mut program = program.map_err(|source| disk("write", to, source))?;
            io::copy(&mut entry, &mut program).map_err(|source| disk("write", to, source))?;
            return Ok(());
        }
    }
    Err(Error::Incomplete { package: package.spec(), file: package.file })
}
