//! The data: a small sample that comes with the project, and more where it is at hand.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// Returns a file of the project.
pub(crate) fn sample(name: &str) -> String {
    unpacked(&fs_err::read(folder().join(name)).unwrap())
}

/// Returns a larger file that stands beside the project on some machines.
pub(crate) fn shared(name: &str) -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    let packed = fs_err::read(here).ok();
    Some(unpacked(&packed?))
}

fn unpacked(bytes: &[u8]) -> String {
    let mut text = String::new();
    match flate2::read::GzDecoder::new(bytes).read_to_string(&mut text) {
        Ok(_) => text,
        Err(_) => String::from_utf8(bytes.to_vec()).unwrap(),
    }
}
