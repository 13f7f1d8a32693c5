//! A memory as chunks: how it is cut up, packed, described and put together again.
//!
//! The format is written down in `docs/memory-format.md`.

pub(crate) mod catalog;
pub(crate) mod claims;
pub(crate) mod files;
pub(crate) mod former;
pub(crate) mod leaf;
pub(crate) mod manifest;
pub(crate) mod mend;
pub(crate) mod pack;
pub(crate) mod packer;
pub(crate) mod part;
pub(crate) mod place;
mod rescue;
pub(crate) mod restore;
pub(crate) mod rows;
pub(crate) mod saved;
pub(crate) mod unpack;

/// How a frame begins that every zstd decoder passes over, and how much longer it is than its content.
const SKIPPABLE: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];
pub(crate) const SKIPPED: usize = 8;

/// Returns a frame with this content that every zstd decoder passes over: a place for a copy.
pub(crate) fn skippable(content: &[u8]) -> Vec<u8> {
    [&SKIPPABLE[..], &count(content.len()).to_le_bytes(), content].concat()
}

/// Counts what our limits keep far below what a count can hold.
pub(crate) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
