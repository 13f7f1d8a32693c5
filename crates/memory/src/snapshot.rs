//! A memory as chunks: how it is cut up, packed, described and put together again.
//!
//! The format is written down in `docs/memory-format.md`.

pub(crate) mod catalog;
pub(crate) mod claims;
pub(crate) mod files;
pub(crate) mod former;
pub(crate) mod leaf;
pub(crate) mod manifest;
pub(crate) mod pack;
pub(crate) mod packer;
pub(crate) mod place;
mod rescue;
pub(crate) mod restore;
pub(crate) mod rows;
pub(crate) mod saved;
pub(crate) mod unpack;

/// Counts what our limits keep far below what a count can hold.
pub(crate) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
