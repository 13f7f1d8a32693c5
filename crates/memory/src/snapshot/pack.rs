//! One file with the chunks that were new in a save.
//!
//! ```text
//! "FROPACK3"   zstd frames, each of one or more chunks   index   the shared frames again   the index again
//! ```
//!
//! The manifest knows the hash of the index, the index the hash of each chunk: so every byte is checked before it is
//! used. Frames stand alone, so that a few chunks of a large pack cost a few ranges of it. What many sessions need (the
//! index, and frames that several chunks share) lies there twice, far enough apart that one damaged place spares a copy.

use std::{
    collections::HashMap,
    io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write},
    path::{Path, PathBuf},
};

use blake3::{Hash, Hasher};
use fs_err::File;
use serde::{Deserialize, Serialize};
use zstd::bulk::Compressor;

use super::{SKIPPED, count, skippable};
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

/// What many sessions need is read by every run and written by few.
const WELL: i32 = 15;

/// Chunks that belong together share a frame of up to this length.
const FRAME: usize = 256 << 10;

/// A pack of up to this size is read in one go.
const SMALL_PACK: u64 = 32 << 10;

/// Set in the length of a frame that lies in the pack a second time.
const REPEATED: u32 = 1 << 31;

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
    /// The size of the frames that it has a second time; nothing if it has neither those nor a second index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) repeated: Option<u64>,
}

impl PackNote {
    /// Returns how long its index is.
    pub(crate) fn index_length(&self) -> u64 {
        index_length(self.chunks)
    }

    /// Returns where its last index begins.
    pub(crate) fn last_index(&self) -> Option<u64> {
        last_index(self.size, self.chunks)
    }

    /// Returns where its first index begins, which may be the only one.
    pub(crate) fn first_index(&self) -> Option<u64> {
        let last = self.last_index()?;
        let Some(repeated) = self.repeated else { return Some(last) };
        let first = last.checked_sub(repeated)?.checked_sub(self.index_length())?;
        (first >= BODY + SKIPPED as u64).then_some(first)
    }

    /// Returns where its frames end.
    fn frames_end(&self) -> Option<u64> {
        let skipped = if self.repeated.is_some() { SKIPPED as u64 } else { 0 };
        Some(self.first_index()? - skipped)
    }
}

fn index_length(chunks: u32) -> u64 {
    u64::from(chunks) * ENTRY as u64 + 4
}

/// Returns where the last index of a pack of this size begins that has so many chunks.
pub(crate) fn last_index(size: u64, chunks: u32) -> Option<u64> {
    size.checked_sub(index_length(chunks)).filter(|start| *start >= BODY)
}

/// A chunk as the index of its pack knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) hash: Hash,
    pub(crate) length: u32,
    /// The length of the frame that begins with it; zero if it lies in the frame of the chunk before it.
    pub(crate) frame: u32,
    /// Tells whether that frame lies in the pack a second time.
    pub(crate) is_repeated: bool,
}

/// Some chunks that were compressed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The ordinal of its first chunk, and how many it has.
    pub(crate) first: u32,
    pub(crate) chunks: u32,
    /// Where it lies in the pack, and where it does so again.
    pub(crate) at: u64,
    pub(crate) again: Option<u64>,
    pub(crate) size: u32,
    /// The size of its chunks.
    pub(crate) bytes: u64,
}

/// What a pack knows of its chunks.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChunkIndex {
    pub(crate) chunks: Vec<Chunk>,
    /// Where the frames lie that are there a second time.
    copies: u64,
}

/// An index as it was read.
pub(crate) struct FetchedIndex {
    pub(crate) index: ChunkIndex,
    /// Tells whether the other copy of it had to do.
    pub(crate) is_worn: bool,
    /// The whole pack, if it is a small one.
    pub(crate) body: Option<Vec<u8>>,
}

/// Reads some bytes of a pack, fewer if it is shorter.
pub(crate) fn slice(store: &Store, note: &PackNote, from: u64, length: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let part = Part::Slice { from, length };
    store.get(Object::Pack(note.name), part)?.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns some bytes of a pack that is here, fewer if it is shorter.
pub(crate) fn part(pack: &[u8], from: u64, length: u64) -> &[u8] {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(pack.len());
    &pack[place(from)..place(from.saturating_add(length))]
}

impl ChunkIndex {
    /// Reads the index of a pack; of a small one all the rest comes along, since a request costs more than that.
    pub(crate) fn fetch(store: &Store, note: &PackNote) -> Result<FetchedIndex, Error> {
        let altered = || Flaw::Altered(note.name);
        let (first, last) = note.first_index().zip(note.last_index()).ok_or_else(altered)?;
        let length = note.index_length();
        if note.size <= SMALL_PACK {
            let bytes = slice(store, note, 0, note.size)?;
            let part = |from: u64| Self::parse(part(&bytes, from, length), note);
            let (index, is_worn) = part(last)
                .map_or_else(|_| part(first).map(|index| (index, true)), |index| Ok((index, false)))?;
            return Ok(FetchedIndex { index, is_worn, body: Some(bytes) });
        }
        match Self::parse(&slice(store, note, last, length)?, note) {
            Err(_) if first != last => {
                let index = Self::parse(&slice(store, note, first, length)?, note)?;
                Ok(FetchedIndex { index, is_worn: true, body: None })
            }
            parsed => Ok(FetchedIndex { index: parsed?, is_worn: false, body: None }),
        }
    }

    /// Reads the bytes of an index.
    pub(crate) fn parse(bytes: &[u8], note: &PackNote) -> Result<Self, Flaw> {
        let altered = || Flaw::Altered(note.name);
        if ObjectName::from(blake3::hash(bytes)) != note.index {
            return Err(altered());
        }
        let (entries, count) = bytes.split_last_chunk::<4>().ok_or_else(altered)?;
        let chunks = entries.chunks_exact(ENTRY).filter_map(entry).collect();
        let index = Self {
            chunks,
            copies: note.last_index().unwrap_or_default() - note.repeated.unwrap_or_default(),
        };
        let bytes = index.chunks.iter().map(|chunk| u64::from(chunk.length)).sum::<u64>();
        let sizes_fit = index.chunks.iter().all(|chunk| (1..=MAX_CHUNK).contains(&chunk.length));
        let counts_fit =
            u32::from_le_bytes(*count) == note.chunks && index.chunks.len() == note.chunks as usize;
        let begins = index.chunks.first().is_none_or(|chunk| chunk.frame > 0);
        let frames = index.frames();
        let end = frames.last().map_or(BODY, |frame| frame.at + u64::from(frame.size));
        let frames_fit = begins && note.frames_end() == Some(end);
        let repeated = frames.iter().filter(|frame| frame.again.is_some()).map(|frame| u64::from(frame.size));
        let copies_fit = repeated.sum::<u64>() == note.repeated.unwrap_or_default();
        let is_bounded = frames.iter().all(|frame| frame.chunks == 1 || frame.bytes <= FRAME as u64);
        if !(sizes_fit && counts_fit && frames_fit && copies_fit && is_bounded && bytes == note.bytes) {
            return Err(altered());
        }
        Ok(index)
    }

    /// Returns the frames, in order.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        let mut frames: Vec<Frame> = Vec::new();
        let (mut at, mut copy) = (BODY, self.copies);
        for (ordinal, chunk) in (0..).zip(&self.chunks) {
            if chunk.frame > 0 {
                let again = chunk.is_repeated.then_some(copy);
                frames.push(Frame { first: ordinal, chunks: 0, at, again, size: chunk.frame, bytes: 0 });
                at += u64::from(chunk.frame);
                copy += again.map_or(0, |_| u64::from(chunk.frame));
            }
            if let Some(frame) = frames.last_mut() {
                frame.chunks += 1;
                frame.bytes += u64::from(chunk.length);
            }
        }
        frames
    }

    /// Writes it as it lies in the pack.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.chunks.len() * ENTRY + 4);
        for chunk in &self.chunks {
            bytes.extend_from_slice(chunk.hash.as_bytes());
            bytes.extend_from_slice(&chunk.length.to_le_bytes());
            let mark = if chunk.is_repeated { REPEATED } else { 0 };
            bytes.extend_from_slice(&(chunk.frame | mark).to_le_bytes());
        }
        bytes.extend_from_slice(&count(self.chunks.len()).to_le_bytes());
        bytes
    }
}

fn entry(bytes: &[u8]) -> Option<Chunk> {
    let (hash, rest) = bytes.split_first_chunk::<32>()?;
    let (length, frame) = rest.split_first_chunk::<4>()?;
    let frame = u32::from_le_bytes(frame.try_into().ok()?);
    Some(Chunk {
        hash: Hash::from(*hash),
        length: u32::from_le_bytes(*length),
        frame: frame & !REPEATED,
        is_repeated: frame & REPEATED != 0,
    })
}

/// Who shares a frame with a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// The chunk is read on its own, so that its frame has no other.
    Alone,
    /// Its neighbours, which are wanted together. Their frame lies in the pack twice.
    Shared,
}

/// Writes a new pack, each chunk once.
pub(crate) struct Writer {
    file: Hashing,
    compressor: Compressor<'static>,
    thorough: Compressor<'static>,
    index: ChunkIndex,
    known: HashMap<Hash, u32>,
    bytes: u64,
    /// The chunks of the frame that is not written yet.
    open: Vec<u8>,
    /// The ordinal of the first of them.
    first: usize,
    path: PathBuf,
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
            thorough: Compressor::new(WELL)?,
            index: ChunkIndex::default(),
            known: HashMap::new(),
            bytes: 0,
            open: Vec::new(),
            first: 0,
            path: path.to_owned(),
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
            self.close_frame(Company::Shared)?;
        }
        if self.open.is_empty() {
            self.first = self.index.chunks.len();
        }
        self.open.extend_from_slice(chunk);
        self.index.chunks.push(Chunk { hash, length: count(chunk.len()), frame: 0, is_repeated: false });
        self.known.insert(hash, ordinal);
        self.bytes += chunk.len() as u64;
        if company == Company::Alone { self.close_frame(company) } else { Ok(()) }
    }

    fn close_frame(&mut self, company: Company) -> Result<(), Error> {
        if self.open.is_empty() {
            return Ok(());
        }
        let compressor = match company {
            Company::Alone => &mut self.compressor,
            Company::Shared => &mut self.thorough,
        };
        let frame = compressor.compress(&self.open)?;
        self.file.write_all(&frame)?;
        let first = &mut self.index.chunks[self.first];
        first.frame = count(frame.len());
        first.is_repeated = company == Company::Shared;
        self.open.clear();
        Ok(())
    }

    /// Adds a chunk whose parts are compressed one by one, so that each can be read without the others.
    pub(crate) fn add_parts(&mut self, hash: Hash, parts: &[&[u8]]) -> Result<(), Error> {
        if self.known.contains_key(&hash) {
            return Ok(());
        }
        self.close_frame(Company::Shared)?;
        let frame = compressed(parts)?.concat();
        self.file.write_all(&frame)?;
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        let chunk = Chunk { hash, length: count(length), frame: count(frame.len()), is_repeated: false };
        self.known.insert(hash, count(self.index.chunks.len()));
        self.index.chunks.push(chunk);
        self.bytes += length as u64;
        Ok(())
    }

    /// Tells whether a chunk is in it.
    pub(crate) fn has(&self, hash: &Hash) -> bool {
        self.known.contains_key(hash)
    }

    /// Ends the pack and returns its note, or nothing if no chunk was added.
    pub(crate) fn end(mut self) -> Result<Option<(PackNote, ChunkIndex)>, Error> {
        self.close_frame(Company::Shared)?;
        let Self { mut file, mut index, bytes, path, .. } = self;
        let written = index.to_bytes();
        file.write_all(&skippable(&written))?;
        index.copies = file.size;
        repeat(&mut file, &path, &index)?;
        let repeated = Some(file.size - index.copies);
        file.write_all(&written)?;
        file.flush()?;
        let note = PackNote {
            name: file.hasher.finalize().into(),
            size: file.size,
            chunks: count(index.chunks.len()),
            bytes,
            index: blake3::hash(&written).into(),
            repeated,
        };
        Ok((note.chunks > 0).then_some((note, index)))
    }
}

/// Compresses the parts of a chunk, each as a frame that knows by itself whether it is damaged.
pub(crate) fn compressed(parts: &[&[u8]]) -> io::Result<Vec<Vec<u8>>> {
    let mut compressor = Compressor::new(COMPRESSION)?;
    compressor.include_checksum(true)?;
    parts.iter().map(|part| compressor.compress(part)).collect()
}

/// Writes the frames a second time that are to be there twice.
fn repeat(file: &mut Hashing, path: &Path, index: &ChunkIndex) -> io::Result<()> {
    file.flush()?;
    let mut written = File::open(path)?;
    for frame in index.frames().iter().filter(|frame| frame.again.is_some()) {
        written.seek(SeekFrom::Start(frame.at))?;
        let mut copy = (&mut written).take(u64::from(frame.size));
        io::copy(&mut copy, file)?;
    }
    Ok(())
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
