//! What is packed in a file, so that a credential in an archive is seen like any other: gzip, zlib, Zstandard and ZIP,
//! also in each other. Other formats, and what a password guards, stay closed.

use std::{
    cell::Cell,
    io::{Cursor, Read},
};

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use zip::ZipArchive;

/// Returns everything that is packed in a file, and in what comes out of it, if that is no more than `most` bytes.
pub fn unpacked(bytes: &[u8], most: u64) -> Option<Vec<Vec<u8>>> {
    Budget::new(most).unpack(bytes).ok()
}

/// How often something may be packed; what is deeper counts as too much.
const DEPTH: usize = 4;

/// More comes out than may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch;

/// How many bytes may come out of all files together.
#[derive(Debug)]
pub(super) struct Budget(Cell<u64>);

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Self(Cell::new(bytes))
    }

    /// Returns everything that is packed in a file, and in what comes out of it.
    pub(super) fn unpack(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooMuch> {
        let mut all = Vec::new();
        let mut layer = self.once(bytes)?;
        for _ in 0..DEPTH {
            if layer.is_empty() {
                return Ok(all);
            }
            let deeper = layer.iter().map(|one| self.once(one)).collect::<Result<Vec<_>, _>>()?;
            all.append(&mut layer);
            layer = deeper.concat();
        }
        if layer.is_empty() { Ok(all) } else { Err(TooMuch) }
    }

    fn once(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooMuch> {
        let one = match bytes {
            [0x1f, 0x8b, ..] => self.read(MultiGzDecoder::new(bytes))?,
            [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => self.read(ZlibDecoder::new(bytes))?,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => match zstd::stream::read::Decoder::new(bytes) {
                Ok(decoder) => self.read(decoder)?,
                Err(_) => Vec::new(),
            },
            // An archive may have a program before it, and has its list at the end.
            _ => return self.of_archive(bytes),
        };
        Ok(if one.is_empty() { Vec::new() } else { vec![one] })
    }

    fn of_archive(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooMuch> {
        let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return Ok(Vec::new()) };
        let mut files = Vec::new();
        for place in 0..archive.len() {
            let Ok(file) = archive.by_index(place) else { continue };
            let name = file.name().map(|name| name.as_bytes().to_vec()).unwrap_or_default();
            files.extend([name, self.read(file)?]);
        }
        Ok(files)
    }

    /// Reads as far as it goes: what was read before something broke off counts.
    fn read(&self, packed: impl Read) -> Result<Vec<u8>, TooMuch> {
        let mut bytes = Vec::new();
        let left = self.0.get();
        drop(packed.take(left.saturating_add(1)).read_to_end(&mut bytes));
        let taken = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.0.set(left.checked_sub(taken).ok_or(TooMuch)?);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    fn zip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = ZipWriter::new(Cursor::new(Vec::new()));
        packed.start_file("name", SimpleFileOptions::default()).unwrap();
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap().into_inner()
    }

    #[test]
    fn what_is_packed_comes_out_however_it_is_wrapped() {
        let zstd = zstd::stream::encode_all(&b"words"[..], 1).unwrap();
        let before_it = [b"#!/bin/sh\n".to_vec(), zip(b"words")].concat();
        for packed in [gzip(b"words"), zip(b"words"), zstd.clone(), before_it, gzip(&zip(&zstd))] {
            let out = Budget::new(1000).unpack(&packed).unwrap();
            assert_eq!(out.last().map(Vec::as_slice), Some(&b"words"[..]), "{packed:?}");
        }
        assert_eq!(Budget::new(1000).unpack(b"words"), Ok(Vec::new()));
    }

    #[test]
    fn what_unpacks_to_too_much_or_too_deep_is_told() {
        assert_eq!(Budget::new(1000).unpack(&gzip(&[0; 1001])), Err(TooMuch));
        let budget = Budget::new(1000);
        assert!(budget.unpack(&gzip(&[0; 600])).is_ok());
        assert_eq!(budget.unpack(&gzip(&[0; 600])), Err(TooMuch));
        let deep = (0..6).fold(b"words".to_vec(), |bytes, _| gzip(&bytes));
        assert_eq!(Budget::new(10_000).unpack(&deep), Err(TooMuch));
    }

    #[test]
    fn the_end_that_broke_off_does_not_hide_the_beginning() {
        let whole = gzip(&b"words ".repeat(100));
        let out = Budget::new(1000).unpack(&whole[..whole.len() - 8]).unwrap();
        assert!(out[0].starts_with(b"words words"));
    }
}
