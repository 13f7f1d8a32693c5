//! Folders that only their owner can enter.

use std::{fs::DirBuilder, io, os::unix::fs::DirBuilderExt as _, path::Path};

/// Makes a folder and those above it, unless they are there.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| {
        io::Error::new(error.kind(), format!("failed to create folder `{}`: {error}", path.display()))
    })
}
