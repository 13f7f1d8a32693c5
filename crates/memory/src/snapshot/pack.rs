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
    io::{self, BufWriter, Read, Write},
    path::Path,
};

use blake3::{Hash, Hasher};
use fs_err::File;
use serde::{Deserialize, Serialize};
use zstd::stream::{read::Decoder, write::Encoder};

use super::count;
use crate::{
    error::{Error, Flaw, nonsense},
    store::{Object, ObjectName, Part, Store},
};

/// The longest chunk; a longer file is several.
pub(crate) const MAX_CHUNK: u32 = 4 << 20;

/// The most chunks in one pack: an index of 144 MiB.
pub(crate) const MAX_CHUNKS: u32 = 4 << 20;

const MAGIC: &[u8; 8] = b"FROPACK2";

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
    fn index_start(&self) -> Option<u64> {
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

/// Takes a chunk with its ordinal.
type HandOut<'a> = &'a mut dyn FnMut(u32, &[u8]) -> Result<(), Error>;

/// Hands out the wanted chunks of a pack, in the order of the pack, each checked.
///
/// `wanted` are ordinals in rising order; reading ends after the last of them.
pub(crate) fn read(
    store: &Store,
    note: &PackNote,
    wanted: &[u32],
    hand_out: HandOut<'_>,
) -> Result<(), Error> {
    let index = Index::fetch(store, note)?;
    let end = note.index_start().ok_or(Flaw::Altered(note.name))?;
    let body = store.get(Object::Pack(note.name), Part::Slice { from: 0, length: end })?;
    unpack(body.take(end), &index, wanted, hand_out).map_err(|error| match error {
        Error::Files(error) if error.kind() == io::ErrorKind::InvalidData => Flaw::Altered(note.name).into(),
        error => error,
    })
}

/// Unpacks from the start of a pack; whatever is wrong with the bytes is `InvalidData`.
pub(crate) fn unpack(
    mut body: impl Read,
    index: &Index,
    wanted: &[u32],
    hand_out: HandOut<'_>,
) -> Result<(), Error> {
    let mut magic = [0; 8];
    body.read_exact(&mut magic).map_err(nonsense)?;
    if &magic != MAGIC {
        return Err(io::Error::from(io::ErrorKind::InvalidData).into());
    }
    let mut decoder = Decoder::new(body)?.single_frame();
    decoder.window_log_max(MAX_WINDOW)?;
    let mut wanted = wanted.iter().peekable();
    let mut chunk = Vec::new();
    for (ordinal, (hash, length)) in (0..).zip(&index.chunks) {
        let Some(next) = wanted.peek() else { break };
        chunk.resize(*length as usize, 0);
        decoder.read_exact(&mut chunk).map_err(nonsense)?;
        if **next == ordinal {
            if blake3::hash(&chunk) != *hash {
                return Err(io::Error::from(io::ErrorKind::InvalidData).into());
            }
            hand_out(ordinal, &chunk)?;
            wanted.next();
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, any, proptest};
    use tempfile::TempDir;

    use super::*;
    use crate::store::Store;

    /// Returns a store with a pack of these chunks.
    fn packed(chunks: &[Vec<u8>]) -> (TempDir, Store, PackNote, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::folder(folder.path()).unwrap();
        let path = folder.path().join("pack");
        let mut writer = Writer::begin(&path).unwrap();
        for chunk in chunks {
            writer.add(blake3::hash(chunk), chunk).unwrap();
        }
        let (note, _) = writer.end().unwrap().unwrap();
        store.put(Object::Pack(note.name), &path).unwrap();
        let bytes = std::fs::read(path).unwrap();
        (folder, store, note, bytes)
    }

    fn read_all(store: &Store, note: &PackNote, wanted: &[u32]) -> Result<Vec<Vec<u8>>, Error> {
        let mut chunks = Vec::new();
        read(store, note, wanted, &mut |_, chunk| {
            chunks.push(chunk.to_vec());
            Ok(())
        })?;
        Ok(chunks)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn wanted_chunks_come_back_and_no_others(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..300), 1..20),
            wanted in proptest::collection::btree_set(0..20_u32, 0..20),
        ) {
            let (_folder, store, note, bytes) = packed(&chunks);
            assert_eq!(note.name, ObjectName::from(blake3::hash(&bytes)));
            let mut distinct: Vec<Vec<u8>> = Vec::new();
            for chunk in chunks {
                if !distinct.contains(&chunk) {
                    distinct.push(chunk);
                }
            }
            let wanted: Vec<u32> = wanted.into_iter().filter(|place| *place < note.chunks).collect();
            let expected: Vec<_> = wanted.iter().map(|place| distinct[*place as usize].clone()).collect();
            assert_eq!(read_all(&store, &note, &wanted).unwrap(), expected);
        }

        #[test]
        fn any_change_of_a_wanted_byte_is_noticed(place in any::<proptest::sample::Index>(), byte in any::<u8>()) {
            let chunks: Vec<_> = (0..9_u8).map(|number| vec![number; 900 + usize::from(number)]).collect();
            let (folder, store, note, mut bytes) = packed(&chunks);
            let place = place.index(bytes.len());
            let is_changed = bytes[place] != byte;
            bytes[place] = byte;
            std::fs::write(folder.path().join(Object::Pack(note.name).to_string()), &bytes).unwrap();
            match read_all(&store, &note, &[0, 1, 2, 3, 4, 5, 6, 7, 8]) {
                Ok(read) => assert_eq!(read, chunks),
                Err(error) => assert!(is_changed && matches!(error, Error::Flawed(Flaw::Altered(_))), "{error}"),
            }
        }

        /// Whoever writes to the store can make every hash right, so nothing but the readers stands in the way.
        #[test]
        fn bytes_of_any_kind_are_refused_or_read(
            index in proptest::collection::vec(any::<u8>(), 0..200),
            frame in proptest::collection::vec(any::<u8>(), 0..200),
            (chunks, bytes) in (0..6_u32, 0..9_000_000_u64),
            cut in any::<bool>(),
        ) {
            let hash = ObjectName::from(blake3::hash(&index));
            let size = index.len() as u64;
            let note = PackNote { name: hash, size, chunks, bytes, index: hash };
            let index = Index::parse(&index, &note).unwrap_or(Index { chunks: vec![(blake3::hash(b""), 4)] });
            let body = if cut { frame } else { [&MAGIC[..], &zstd::encode_all(frame.as_slice(), 1).unwrap()].concat() };
            drop(unpack(body.as_slice(), &index, &[0], &mut |_, _| Ok(())));
        }
    }

    #[test]
    fn a_frame_that_wants_too_much_memory_is_refused() {
        let mut encoder = Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(27).unwrap();
        encoder.write_all(&vec![7; 200 << 20]).unwrap();
        let body = [&MAGIC[..], &encoder.finish().unwrap()].concat();
        let index = Index { chunks: vec![(blake3::hash(b""), 4)] };
        let refused = unpack(body.as_slice(), &index, &[0], &mut |_, _| Ok(())).unwrap_err();
        assert!(matches!(refused, Error::Files(error) if error.kind() == io::ErrorKind::InvalidData));
    }
}
