//! Reads a pack: one core unpacks and checks its chunks while another does something with them.

use std::{
    io::{self, Read},
    iter::Peekable,
    ops::Range,
    slice,
    sync::mpsc,
    thread,
};

use zstd::stream::read::Decoder;

use super::{
    count,
    pack::{Index, MAGIC, MAX_WINDOW, PackNote},
};
use crate::{
    error::{Error, Flaw, nonsense},
    store::{Object, Part, Store},
};

/// So much is unpacked at a time, and what is left of a chunk.
const BATCH: usize = 1 << 20;

/// So many batches may wait to be taken.
const WAITING: usize = 4;

/// Chunks that lie one after the other in a pack.
pub(crate) struct Batch {
    bytes: Vec<u8>,
    wanted: Vec<(u32, Range<usize>)>,
}

impl Batch {
    /// Returns all its bytes, of which only the wanted chunks are checked.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the ordinals of the wanted chunks, and where they lie among the bytes.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = (u32, Range<usize>)> + '_ {
        self.wanted.iter().cloned()
    }
}

/// Hands out the wanted chunks of a pack, in the order of the pack, each checked.
///
/// `wanted` are ordinals in rising order; reading ends after the last of them.
pub(crate) fn read(
    store: &Store,
    note: &PackNote,
    wanted: &[u32],
    hand_out: &mut dyn FnMut(&Batch) -> Result<(), Error>,
) -> Result<(), Error> {
    let index = Index::fetch(store, note)?;
    let end = note.index_start().ok_or(Flaw::Altered(note.name))?;
    let body = store.get(Object::Pack(note.name), Part::Slice { from: 0, length: end })?;
    let (filled, batches) = mpsc::sync_channel(WAITING);
    let (emptied, spare) = mpsc::channel();
    thread::scope(|scope| {
        let unpacking = scope.spawn(move || {
            let mut unpacker = Unpacker::begin(body.take(end), &index, wanted)?;
            while let Some(batch) = unpacker.next(spare.try_recv().unwrap_or_default())? {
                if filled.send(batch).is_err() {
                    break;
                }
            }
            Ok(())
        });
        let mut taken = Ok(());
        for batch in batches {
            taken = hand_out(&batch);
            if taken.is_err() {
                break;
            }
            // Whoever has unpacked everything needs no spare buffer.
            drop(emptied.send(batch.bytes));
        }
        let unpacked = unpacking.join().map_err(|_| io::Error::other("unpacking was cut short"))?;
        taken.and(unpacked.map_err(|error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData => Flaw::Altered(note.name).into(),
            _ => error.into(),
        }))
    })
}

/// Unpacks from the start of a pack; whatever is wrong with the bytes is `InvalidData`.
struct Unpacker<'a, R: Read> {
    decoder: Decoder<'static, io::BufReader<R>>,
    index: &'a Index,
    wanted: Peekable<slice::Iter<'a, u32>>,
    /// The ordinals that are still to be unpacked.
    left: Range<u32>,
}

impl<'a, R: Read> Unpacker<'a, R> {
    fn begin(mut body: R, index: &'a Index, wanted: &'a [u32]) -> io::Result<Self> {
        let mut magic = [0; 8];
        body.read_exact(&mut magic).map_err(nonsense)?;
        if &magic != MAGIC {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut decoder = Decoder::new(body)?.single_frame();
        decoder.window_log_max(MAX_WINDOW)?;
        let end = wanted.last().map_or(0, |last| last.saturating_add(1)).min(count(index.chunks.len()));
        Ok(Self { decoder, index, wanted: wanted.iter().peekable(), left: 0..end })
    }

    /// Unpacks the next chunks into this buffer.
    fn next(&mut self, mut bytes: Vec<u8>) -> io::Result<Option<Batch>> {
        let (mut wanted, mut length) = (Vec::new(), 0);
        while length < BATCH
            && let Some(ordinal) = self.left.next()
        {
            let end = length + self.index.chunks[ordinal as usize].1 as usize;
            if self.wanted.next_if_eq(&&ordinal).is_some() {
                wanted.push((ordinal, length..end));
            }
            length = end;
        }
        if length == 0 {
            return Ok(None);
        }
        bytes.resize(length, 0);
        self.decoder.read_exact(&mut bytes).map_err(nonsense)?;
        for (ordinal, place) in &wanted {
            if blake3::hash(&bytes[place.clone()]) != self.index.chunks[*ordinal as usize].0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(Some(Batch { bytes, wanted }))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::{ProptestConfig, any, proptest};
    use tempfile::TempDir;
    use zstd::stream::write::Encoder;

    use super::*;
    use crate::{snapshot::pack::Writer, store::ObjectName};

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
        read(store, note, wanted, &mut |batch| {
            chunks.extend(batch.wanted().map(|(_, place)| batch.bytes()[place].to_vec()));
            Ok(())
        })?;
        Ok(chunks)
    }

    /// Unpacks the first chunk.
    fn unpack(body: &[u8], index: &Index) -> io::Result<Option<Batch>> {
        Unpacker::begin(body, index, &[0])?.next(Vec::new())
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
            drop(unpack(&body, &index));
        }
    }

    #[test]
    fn a_frame_that_wants_too_much_memory_is_refused() {
        let mut encoder = Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(27).unwrap();
        encoder.write_all(&vec![7; 200 << 20]).unwrap();
        let body = [&MAGIC[..], &encoder.finish().unwrap()].concat();
        let index = Index { chunks: vec![(blake3::hash(b""), 4)] };
        let refused = unpack(&body, &index).map(drop).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_pack_of_many_batches_comes_back_and_may_be_left_in_the_middle() {
        let chunks: Vec<_> = (0..900_u32).map(|number| number.to_le_bytes().repeat(4000)).collect();
        let (_folder, store, note, _) = packed(&chunks);
        let wanted: Vec<u32> = (0..900).filter(|number| number % 7 != 3).collect();
        let expected: Vec<_> = wanted.iter().map(|number| chunks[*number as usize].clone()).collect();
        assert!(read_all(&store, &note, &wanted).unwrap() == expected);

        let mut taken = 0;
        let left = read(&store, &note, &wanted, &mut |_| {
            taken += 1;
            if taken == 2 { Err(io::Error::other("the disk is full").into()) } else { Ok(()) }
        });
        assert!(left.unwrap_err().story().ends_with("the disk is full"));
        assert_eq!(taken, 2);
    }
}
