//! One file with the chunks that were new in a save.
//!
//! ```text
//! "FROPACK3"   zstd frames, each of one or more chunks   index: hash, length and frame of each chunk   their count
//! ```
//!
//! The manifest knows the hash of the index, the index the hash of each chunk: so every byte is checked before it is
//! used. Frames stand alone, so that a few chunks of a large pack cost a few ranges of it.

use std::{
    collections::HashMap,
    io::{self, BufWriter, Read as _, Write},
    path::Path,
};

use blake3::{Hash, Hasher};
use fs_err::File;
use serde::{Deserialize, Serialize};
use zstd::bulk::Compressor;

use super::count;
use crate::{
    error::{Error, Flaw},
    store::{Object, ObjectName, Part, Store},
};

/// The longest chunk; a longer file is several.
pub(crate) const MAX_CHUNK: u32 = 4 << 20;

/// The most chunks in one pack: an index of 160 MiB.
pub(crate) const MAX_CHUNKS: u32 = 4 << 20;

pub(crate) const MAGIC: &[u8; 8] = b"FROPACK3";

/// Where the frames begin.
pub(crate) const BODY: u64 = MAGIC.len() as u64;
const ENTRY: usize = 40;
const COMPRESSION: i32 = 3;

/// Chunks that belong together share a frame of up to this length.
const FRAME: usize = 256 << 10;

/// A pack of up to this size is read in one go.
const SMALL_PACK: u64 = 32 << 10;

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
    /// Returns where its frames end.
    pub(crate) fn index_start(&self) -> Option<u64> {
        index_start(self.size, self.chunks)
    }
}

/// Returns where the frames of a pack of this size end that has so many chunks.
pub(crate) fn index_start(size: u64, chunks: u32) -> Option<u64> {
    size.checked_sub(u64::from(chunks) * ENTRY as u64 + 4).filter(|start| *start >= BODY)
}

/// A chunk as the index of its pack knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) hash: Hash,
    pub(crate) length: u32,
    /// The length of the frame that begins with it; zero if it lies in the frame of the chunk before it.
    pub(crate) frame: u32,
}

/// Some chunks that were compressed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The ordinal of its first chunk, and how many it has.
    pub(crate) first: u32,
    pub(crate) chunks: u32,
    /// Where it lies in the pack.
    pub(crate) at: u64,
    pub(crate) size: u32,
    /// The size of its chunks.
    pub(crate) bytes: u64,
}

/// What a pack knows of its chunks.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChunkIndex {
    pub(crate) chunks: Vec<Chunk>,
}

impl ChunkIndex {
    /// Reads the index of a pack; of a small one all the rest comes along, since a request costs more than that.
    pub(crate) fn fetch(store: &Store, note: &PackNote) -> Result<(Self, Option<Vec<u8>>), Error> {
        let altered = || Flaw::Altered(note.name);
        let start = note.index_start().ok_or_else(altered)?;
        let from = if note.size <= SMALL_PACK { 0 } else { start };
        let length = note.size - from;
        let mut bytes = Vec::new();
        store
            .get(Object::Pack(note.name), Part::Slice { from, length })?
            .take(length)
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(altered().into());
        }
        if from == 0 && ObjectName::from(blake3::hash(&bytes)) != note.name {
            return Err(altered().into());
        }
        let index = bytes.split_off(usize::try_from(start - from).map_err(|_| altered())?);
        Ok((Self::parse(&index, note)?, (from == 0).then_some(bytes)))
    }

    /// Reads the bytes of an index.
    pub(crate) fn parse(bytes: &[u8], note: &PackNote) -> Result<Self, Flaw> {
        let altered = || Flaw::Altered(note.name);
        if ObjectName::from(blake3::hash(bytes)) != note.index {
            return Err(altered());
        }
        let (entries, count) = bytes.split_last_chunk::<4>().ok_or_else(altered)?;
        let index = Self { chunks: entries.chunks_exact(ENTRY).filter_map(entry).collect() };
        let bytes = index.chunks.iter().map(|chunk| u64::from(chunk.length)).sum::<u64>();
        let sizes_fit = index.chunks.iter().all(|chunk| (1..=MAX_CHUNK).contains(&chunk.length));
        let counts_fit =
            u32::from_le_bytes(*count) == note.chunks && index.chunks.len() == note.chunks as usize;
        let begins = index.chunks.first().is_none_or(|chunk| chunk.frame > 0);
        let frames_fit = index.frames().last().map_or(BODY, |frame| frame.at + u64::from(frame.size));
        let frames_fit = begins && note.index_start() == Some(frames_fit);
        let is_bounded = index.frames().iter().all(|frame| frame.chunks == 1 || frame.bytes <= FRAME as u64);
        if !(sizes_fit && counts_fit && frames_fit && is_bounded && bytes == note.bytes) {
            return Err(altered());
        }
        Ok(index)
    }

    /// Returns the frames, in order.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        let mut frames: Vec<Frame> = Vec::new();
        let mut at = BODY;
        for (ordinal, chunk) in (0..).zip(&self.chunks) {
            if chunk.frame > 0 {
                frames.push(Frame { first: ordinal, chunks: 0, at, size: chunk.frame, bytes: 0 });
                at += u64::from(chunk.frame);
            }
            if let Some(frame) = frames.last_mut() {
                frame.chunks += 1;
                frame.bytes += u64::from(chunk.length);
            }
        }
        frames
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.chunks.len() * ENTRY + 4);
        for chunk in &self.chunks {
            bytes.extend_from_slice(chunk.hash.as_bytes());
            bytes.extend_from_slice(&chunk.length.to_le_bytes());
            bytes.extend_from_slice(&chunk.frame.to_le_bytes());
        }
        bytes.extend_from_slice(&count(self.chunks.len()).to_le_bytes());
        bytes
    }
}

fn entry(bytes: &[u8]) -> Option<Chunk> {
    let (hash, rest) = bytes.split_first_chunk::<32>()?;
    let (length, frame) = rest.split_first_chunk::<4>()?;
    Some(Chunk {
        hash: Hash::from(*hash),
        length: u32::from_le_bytes(*length),
        frame: u32::from_le_bytes(frame.try_into().ok()?),
    })
}

/// Who shares a frame with a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// The chunk is read on its own, so that its frame has no other.
    Alone,
    /// Its neighbours, which are wanted together.
    Shared,
}

/// Writes a new pack, each chunk once.
pub(crate) struct Writer {
    file: Hashing,
    compressor: Compressor<'static>,
    index: ChunkIndex,
    known: HashMap<Hash, u32>,
    bytes: u64,
    /// The chunks of the frame that is not written yet.
    open: Vec<u8>,
    /// The ordinal of the first of them.
    first: usize,
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
        Ok(Self {
            file,
            compressor: Compressor::new(COMPRESSION)?,
            index: ChunkIndex::default(),
            known: HashMap::new(),
            bytes: 0,
            open: Vec::new(),
            first: 0,
        })
    }

    /// Adds a chunk.
    pub(crate) fn add(&mut self, hash: Hash, chunk: &[u8], company: Company) -> Result<(), Error> {
        if self.known.contains_key(&hash) {
            return Ok(());
        }
        let ordinal = count(self.index.chunks.len());
        if ordinal == MAX_CHUNKS {
            return Err(Flaw::TooLarge { what: "the pack".to_owned(), limit: u64::from(MAX_CHUNKS) }.into());
        }
        if company == Company::Alone || self.open.len() + chunk.len() > FRAME {
            self.close_frame()?;
        }
        if self.open.is_empty() {
            self.first = self.index.chunks.len();
        }
        self.open.extend_from_slice(chunk);
        self.index.chunks.push(Chunk { hash, length: count(chunk.len()), frame: 0 });
        self.known.insert(hash, ordinal);
        self.bytes += chunk.len() as u64;
        if company == Company::Alone { self.close_frame() } else { Ok(()) }
    }

    fn close_frame(&mut self) -> Result<(), Error> {
        if self.open.is_empty() {
            return Ok(());
        }
        let frame = self.compressor.compress(&self.open)?;
        self.file.write_all(&frame)?;
        self.index.chunks[self.first].frame = count(frame.len());
        self.open.clear();
        Ok(())
    }

    /// Tells whether a chunk is in it.
    pub(crate) fn has(&self, hash: &Hash) -> bool {
        self.known.contains_key(hash)
    }

    /// Ends the pack and returns its note, or nothing if no chunk was added.
    pub(crate) fn end(mut self) -> Result<Option<(PackNote, ChunkIndex)>, Error> {
        self.close_frame()?;
        let Self { mut file, index, bytes, .. } = self;
        let written = index.to_bytes();
        file.write_all(&written)?;
        file.file.flush()?;
        let note = PackNote {
            name: file.hasher.finalize().into(),
            size: file.size,
            chunks: count(index.chunks.len()),
            bytes,
            index: blake3::hash(&written).into(),
        };
        Ok((note.chunks > 0).then_some((note, index)))
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
