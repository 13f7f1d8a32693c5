//! The logs of a run, which GitHub packs: unpacked, without what must not be told, and packed again.

use std::io::{Cursor, Read as _, Write as _};

use zip::{CompressionMethod, ZipArchive, ZipWriter, result::ZipResult, write::SimpleFileOptions};

use crate::echo::Needles;

/// Tells whether an answer is an archive.
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// Takes what must not be told out of every file of an archive; those that would make it longer than `most` are cut.
pub(super) fn clean(bytes: &[u8], without: &Needles, most: usize) -> ZipResult<Vec<u8>> {
    let mut packed = ZipArchive::new(Cursor::new(bytes))?;
    let mut clean = ZipWriter::new(Cursor::new(Vec::new()));
    let plain = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut left = most;
    for place in 0..packed.len() {
        let file = packed.by_index(place)?;
        let (name, mut text) = (without.clean(&file.name()?), Vec::new());
        file.take(u64::try_from(left).unwrap_or(u64::MAX)).read_to_end(&mut text)?;
        left -= text.len();
        clean.start_file(name, plain)?;
        clean.write_all(without.clean(&String::from_utf8_lossy(&text)).as_bytes())?;
    }
    Ok(clean.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use fro_core::Secret;

    use super::*;

    fn packed(method: CompressionMethod, text: &str) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("test/2_Test.txt", SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
        zip.finish().unwrap().into_inner()
    }

    fn read(bytes: &[u8]) -> String {
        let mut zip = ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut text = String::new();
        zip.by_name("test/2_Test.txt").unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn what_is_packed_is_cleaned_too() {
        let secret = Secret::new("a-secret-that-a-step-wrote");
        let without = Needles::learn([&secret]);
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let bytes = packed(method, "key: a-secret-that-a-step-wrote\n");
            assert!(is_archive(&bytes));
            assert_eq!(read(&clean(&bytes, &without, 1000).unwrap()), "key: [redacted]\n");
        }
    }

    #[test]
    fn an_archive_that_unpacks_to_too_much_is_cut() {
        let bytes = packed(CompressionMethod::Deflated, &"x".repeat(1 << 20));
        assert_eq!(read(&clean(&bytes, &Needles::learn([]), 1000).unwrap()).len(), 1000);
    }
}
