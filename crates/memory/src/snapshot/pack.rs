//! One file with the chunks that were new in a save.
//!
//! ```text
//! "FROPACK2"   one zstd frame: all chunks, one after the other   index: a hash and a length per chunk   their count
//! ```
//!
//! The manifest knows the hash of the index, the index the hash of each chunk: so every byte is checked before it is
//! used, and nothing has to be read twice.

use std::{
    collections::HashMap,
    io::{self, BufWriter, Read as _, Write},
    path::Path,
};

use blake3::{Hash, Hasher};
use fs_err::File;
use serde::{Deserialize, Serialize};
use zstd::stream::write::Encoder;

use super::count;
use crate::{
    error::{Error, Flaw},
    store::{Object, ObjectName, Part, Store},
};

/// The longest chunk; a longer file is several.
pub(crate) const MAX_CHUNK: u32 = 4 << 20;

/// The most chunks in one pack: an index of 144 MiB.
pub(crate) const MAX_CHUNKS: u32 = 4 << 20;

pub(crate) const MAGIC: &[u8; 8] = b"FROPACK2";

/// Where the chunks begin.
pub(crate) const BODY: u64 = MAGIC.len() as u64;
const ENTRY: usize = 36;
const COMPRESSION: i32 = 3;

/// The largest window a frame may ask for, as a power of two; ours need 2 MiB.
pub(crate) const MAX_WINDOW: u32 = 23;

/// A pack as the manifest speaks of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackNote {
    pub(crate) name: ObjectName,
    /// The size of the file.
    pub(crate) size: u64,
    pub(crate) chunks: u32,
    /// The size of all its chunks.
    pub(crate) bytes: u64,
    /// The hash of its index.
    pub(crate) index: ObjectName,
}

impl PackNote {
    /// Returns where its chunks end.
    pub(crate) fn index_start(&self) -> Option<u64> {
        self.size.checked_sub(u64::from(self.chunks) * ENTRY as u64 + 4)
    }
}

/// The hash and the length of each chunk of a pack.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    pub(crate) chunks: Vec<(Hash, u32)>,
}

impl Index {
    /// Reads the index of a pack and nothing else of it.
    pub(crate) fn fetch(store: &Store, note: &PackNote) -> Result<Self, Error> {
        let altered = || Flaw::Altered(note.name);
        let from = note.index_start().ok_or_else(altered)?;
        let length = note.size - from;
        let mut bytes = Vec::new();
        store
            .get(Object::Pack(note.name), Part::Slice { from, length })?
            .take(length)
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(altered().into());
        }
        Self::parse(&bytes, note).map_err(Error::from)
    }

    /// Reads the bytes of an index.
    pub(crate) fn parse(bytes: &[u8], note: &PackNote) -> Result<Self, Flaw> {
        let altered = || Flaw::Altered(note.name);
        if ObjectName::from(blake3::hash(bytes)) != note.index {
            return Err(altered());
        }
        let (entries, count) = bytes.split_last_chunk::<4>().ok_or_else(altered)?;
        let chunks: Vec<_> = entries.chunks_exact(ENTRY).filter_map(entry).collect();
        let bytes = chunks.iter().map(|(_, length)| u64::from(*length)).sum::<u64>();
        let sizes_fit = chunks.iter().all(|(_, length)| (1..=MAX_CHUNK).contains(length));
        let counts_fit = u32::from_le_bytes(*count) == note.chunks && chunks.len() == note.chunks as usize;
        if !(sizes_fit && counts_fit && bytes == note.bytes) {
            return Err(altered());
        }
        Ok(Self { chunks })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.chunks.len() * ENTRY + 4);
        for (hash, length) in &self.chunks {
            bytes.extend_from_slice(hash.as_bytes());
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        bytes.extend_from_slice(&count(self.chunks.len()).to_le_bytes());
        bytes
    }
}

fn entry(bytes: &[u8]) -> Option<(Hash, u32)> {
    let (hash, length) = bytes.split_first_chunk::<32>()?;
    Some((Hash::from(*hash), u32::from_le_bytes(length.try_into().ok()?)))
}

/// Writes a new pack, each chunk once.
pub(crate) struct Writer {
    encoder: Encoder<'static, Hashing>,
    index: Index,
    known: HashMap<Hash, u32>,
    bytes: u64,
}

impl Writer {
    /// Begins a pack in a new file.
    pub(crate) fn begin(path: &Path) -> Result<Self, Error> {
        let mut file = Hashing {
            file: BufWriter::with_capacity(1 << 18, File::create(path)?),
            hasher: Hasher::new(),
            size: 0,
        };
        file.write_all(MAGIC)?;
        let encoder = Encoder::new(file, COMPRESSION)?;
        Ok(Self { encoder, index: Index::default(), known: HashMap::new(), bytes: 0 })
    }

    /// Adds a chunk and returns its place in the pack.
    pub(crate) fn add(&mut self, hash: Hash, chunk: &[u8]) -> Result<u32, Error> {
        if let Some(ordinal) = self.known.get(&hash) {
            return Ok(*ordinal);
        }
        let ordinal = count(self.index.chunks.len());
        if ordinal == MAX_CHUNKS {
            return Err(Flaw::TooLarge { what: "the pack".to_owned(), limit: u64::from(MAX_CHUNKS) }.into());
        }
        self.encoder.write_all(chunk)?;
        self.index.chunks.push((hash, count(chunk.len())));
        self.known.insert(hash, ordinal);
        self.bytes += chunk.len() as u64;
        Ok(ordinal)
    }

    /// Ends the pack and returns its note, or nothing if no chunk was added.
    pub(crate) fn end(self) -> Result<Option<(PackNote, Index)>, Error> {
        let mut file = self.encoder.finish()?;
        let index = self.index.to_bytes();
        file.write_all(&index)?;
        file.file.flush()?;
        let note = PackNote {
            name: file.hasher.finalize().into(),
            size: file.size,
            chunks: count(self.index.chunks.len()),
            bytes: self.bytes,
            index: blake3::hash(&index).into(),
        };
        Ok((note.chunks > 0).then_some((note, self.index)))
    }
}

/// A file whose bytes are hashed on their way.
struct Hashing {
    file: BufWriter<File>,
    hasher: Hasher,
    size: u64,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
