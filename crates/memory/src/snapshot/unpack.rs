//! Reads chunks out of a pack: only the ranges in which they lie, each checked before anybody sees it.

use std::{ops::Range, panic::resume_unwind, thread};

use zstd::bulk::Decompressor;

use super::pack::{self, ChunkIndex, Frame, PackNote};
use crate::{
    error::{Error, Flaw},
    store::Store,
};

/// Frames that lie this close to each other come in one request: a request costs more than a few bytes.
const GAP: u64 = 16 << 10;

/// So much is asked for at a time, and what is left of a frame.
const MOST: u64 = 8 << 20;

/// So many ranges are asked for at the same time, if none is longer than this.
const AT_ONCE: usize = 8;
const SHORT: u64 = 256 << 10;

/// Takes chunks, each with its name or its ordinal.
pub(crate) type ChunkSink<'a, Name> = &'a mut dyn FnMut(Name, &[u8]) -> Result<(), Error>;

/// Where the frames of a pack are.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    /// In the store.
    In(&'a Store),
    /// Here: the pack from its beginning.
    Here(&'a [u8]),
}

impl Body<'_> {
    /// Returns some bytes of the pack, fewer if it is shorter.
    fn slice(self, note: &PackNote, from: u64, length: u64) -> Result<Vec<u8>, Error> {
        match self {
            Self::In(store) => pack::slice(store, note, from, length),
            Self::Here(bytes) => Ok(pack::part(bytes, from, length).to_vec()),
        }
    }
}

/// Which copy is read of a frame that lies in its pack twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copies {
    /// The first, or the second if that one is damaged.
    Either,
    /// The first.
    First,
    /// The second; frames that lie there once are passed over.
    Second,
}

/// Hands out the wanted chunks of a pack, in the order of the pack. `wanted` are ordinals in rising order.
pub(crate) fn read(
    body: Body<'_>,
    note: &PackNote,
    index: &ChunkIndex,
    (wanted, copies): (&[u32], Copies),
    hand_out: ChunkSink<'_, u32>,
) -> Result<(), Error> {
    let mut frames = index.frames();
    if copies == Copies::Second {
        frames.retain(|frame| frame.again.is_some());
        for frame in &mut frames {
            frame.at = frame.again.unwrap_or(frame.at);
        }
    }
    let mut decompressor = Decompressor::new()?;
    let batches = batches(&frames, wanted);
    let slices = slices(body, note, &frames, &batches);
    for (batch, slice) in batches.iter().zip(slices) {
        let (from, packed) = slice?;
        for frame in &frames[batch.clone()] {
            let places: Vec<_> = places(index, frame, wanted_in(frame, wanted)).collect();
            if places.is_empty() {
                continue;
            }
            let is_sound = |bytes: &Vec<u8>| {
                let is_whole = |(ordinal, place): &(u32, Range<usize>)| {
                    blake3::hash(&bytes[place.clone()]) == index.chunks[*ordinal as usize].hash
                };
                places.iter().all(is_whole)
            };
            let mut bytes = unpacked(&mut decompressor, &packed, from, frame).filter(is_sound);
            if let (None, Some(at), Copies::Either) = (&bytes, frame.again, copies) {
                let packed = body.slice(note, at, u64::from(frame.size))?;
                bytes = unpacked(&mut decompressor, &packed, at, &Frame { at, ..*frame }).filter(is_sound);
            }
            let bytes = bytes.ok_or(Flaw::Altered(note.name))?;
            for (ordinal, place) in places {
                hand_out(ordinal, &bytes[place])?;
            }
        }
    }
    Ok(())
}

/// Hands out parts of chunks that were compressed one by one, those that can be read, each with its number. Where a part
/// lies is said as if it were a frame; they come in rising order.
pub(crate) fn read_parts(
    body: Body<'_>,
    note: &PackNote,
    parts: &[Frame],
    hand_out: ChunkSink<'_, u32>,
) -> Result<(), Error> {
    let all: Vec<u32> = parts.iter().map(|part| part.first).collect();
    let batches = batches(parts, &all);
    let mut decompressor = Decompressor::new()?;
    for (batch, slice) in batches.iter().zip(slices(body, note, parts, &batches)) {
        let (from, packed) = slice?;
        for part in &parts[batch.clone()] {
            if let Some(bytes) = unpacked(&mut decompressor, &packed, from, part) {
                hand_out(part.first, &bytes)?;
            }
        }
    }
    Ok(())
}

/// Returns the bytes of batches with where each begins, short ones fetched several at a time.
fn slices<'a>(
    body: Body<'a>,
    note: &'a PackNote,
    frames: &'a [Frame],
    batches: &'a [Range<usize>],
) -> impl Iterator<Item = Result<(u64, Vec<u8>), Error>> + 'a {
    let reach = move |batch: &Range<usize>| {
        let (first, last) = (&frames[batch.start], &frames[batch.end - 1]);
        (first.at, last.at + u64::from(last.size) - first.at)
    };
    let is_short = move |batch: &Range<usize>| reach(batch).1 <= SHORT;
    let groups = batches.chunk_by(move |left, right| is_short(left) && is_short(right));
    groups.flat_map(|group| group.chunks(AT_ONCE)).flat_map(move |group| {
        let ask = move |batch: &Range<usize>| {
            let (from, length) = reach(batch);
            body.slice(note, from, length).map(|bytes| (from, bytes))
        };
        match group {
            [one] => vec![ask(one)],
            several => thread::scope(|scope| {
                let asked: Vec<_> = several.iter().map(|batch| scope.spawn(move || ask(batch))).collect();
                asked.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
            }),
        }
    })
}

/// Returns which frames are asked for together: all that have a wanted chunk, and what lies in small gaps.
fn batches(frames: &[Frame], wanted: &[u32]) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        if wanted_in(frame, wanted).is_empty() {
            continue;
        }
        match batches.last_mut() {
            Some(batch) if is_close(&frames[batch.start], &frames[batch.end - 1], frame) => {
                batch.end = number + 1;
            }
            _ => batches.push(number..number + 1),
        }
    }
    batches
}

/// Returns those of some ordinals that lie in a frame.
fn wanted_in<'a>(frame: &Frame, wanted: &'a [u32]) -> &'a [u32] {
    let start = wanted.partition_point(|ordinal| *ordinal < frame.first);
    let end = wanted.partition_point(|ordinal| *ordinal < frame.first + frame.chunks);
    &wanted[start..end]
}

fn is_close(first: &Frame, last: &Frame, next: &Frame) -> bool {
    let end = last.at + u64::from(last.size);
    next.at - end <= GAP && next.at + u64::from(next.size) - first.at <= MOST
}

/// Unpacks a frame out of bytes that begin at `from` in the pack; nothing if they are not one.
fn unpacked(decompressor: &mut Decompressor<'_>, packed: &[u8], from: u64, frame: &Frame) -> Option<Vec<u8>> {
    let start = usize::try_from(frame.at - from).ok()?;
    let packed = packed.get(start..start + frame.size as usize)?;
    let bytes = usize::try_from(frame.bytes).ok()?;
    let unpacked = decompressor.decompress(packed, bytes).ok()?;
    (unpacked.len() == bytes).then_some(unpacked)
}

/// Tells whether these bytes are a frame with all of its chunks.
pub(crate) fn is_sound(
    decompressor: &mut Decompressor<'_>,
    index: &ChunkIndex,
    frame: &Frame,
    packed: &[u8],
) -> bool {
    let all: Vec<u32> = (frame.first..frame.first + frame.chunks).collect();
    let is_whole = |bytes: Vec<u8>| {
        places(index, frame, &all)
            .all(|(ordinal, place)| blake3::hash(&bytes[place]) == index.chunks[ordinal as usize].hash)
    };
    unpacked(decompressor, packed, frame.at, frame).is_some_and(is_whole)
}

/// Returns where the wanted chunks lie in a frame.
fn places<'a>(
    index: &'a ChunkIndex,
    frame: &Frame,
    wanted: &'a [u32],
) -> impl Iterator<Item = (u32, Range<usize>)> + 'a {
    let mut end = 0;
    let mut wanted = wanted.iter().peekable();
    (frame.first..frame.first + frame.chunks).filter_map(move |ordinal| {
        let start = end;
        end += index.chunks[ordinal as usize].length as usize;
        wanted.next_if_eq(&&ordinal).map(|_| (ordinal, start..end))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, any, proptest};
    use tempfile::TempDir;

    use super::*;
    use crate::{
        snapshot::pack::{Company, FetchedIndex, MAGIC, Writer},
        store::{Object, ObjectName},
    };

    /// Returns a store with a pack of these chunks, every third in a frame of its own.
    fn packed(chunks: &[Vec<u8>]) -> (TempDir, Store, PackNote, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::folder(folder.path()).unwrap();
        let path = folder.path().join("pack");
        let mut writer = Writer::begin(&path).unwrap();
        for (number, chunk) in chunks.iter().enumerate() {
            let company = if number % 3 == 0 { Company::Alone } else { Company::Shared };
            writer.add(blake3::hash(chunk), chunk, company).unwrap();
        }
        let (note, _) = writer.end().unwrap().unwrap();
        store.put(Object::Pack(note.name), &path).unwrap();
        let bytes = std::fs::read(path).unwrap();
        (folder, store, note, bytes)
    }

    fn read_all(store: &Store, note: &PackNote, wanted: &[u32]) -> Result<Vec<Vec<u8>>, Error> {
        let mut chunks = Vec::new();
        let FetchedIndex { index, body, .. } = ChunkIndex::fetch(store, note)?;
        let body = body.as_deref().map_or(Body::In(store), Body::Here);
        read(body, note, &index, (wanted, Copies::Either), &mut |_, chunk| {
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
            std::fs::write(folder.path().join("3").join(Object::Pack(note.name).to_string()), &bytes).unwrap();
            match read_all(&store, &note, &[0, 1, 2, 3, 4, 5, 6, 7, 8]) {
                Ok(read) => assert_eq!(read, chunks),
                Err(error) => assert!(is_changed && matches!(error, Error::Flawed(Flaw::Altered(_))), "{error}"),
            }
        }

        /// Whoever writes to the store can make every hash right, so nothing but the readers stands in the way.
        #[test]
        fn bytes_of_any_kind_are_refused_or_read(
            chunks in proptest::collection::vec((0..9_000_u32, 0..300_u32), 1..6),
            frames in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let entry = |(length, frame): &(u32, u32)| {
                [&blake3::hash(b"").as_bytes()[..], &length.to_le_bytes(), &frame.to_le_bytes()].concat()
            };
            let mut index: Vec<u8> = chunks.iter().flat_map(entry).collect();
            index.extend(u32::try_from(chunks.len()).unwrap().to_le_bytes());
            let pack = [&MAGIC[..], &frames, &index].concat();
            let note = PackNote {
                name: blake3::hash(&pack).into(),
                size: pack.len() as u64,
                chunks: u32::try_from(chunks.len()).unwrap(),
                bytes: chunks.iter().map(|(length, _)| u64::from(*length)).sum(),
                index: blake3::hash(&index).into(),
                repeated: None,
            };
            let folder = tempfile::tempdir().unwrap();
            let store = Store::folder(folder.path()).unwrap();
            std::fs::write(folder.path().join("3").join(Object::Pack(note.name).to_string()), &pack).unwrap();
            assert!(read_all(&store, &note, &[0]).is_err());
        }
    }

    #[test]
    fn a_few_chunks_of_a_large_pack_cost_a_few_ranges() {
        let noise = |number: u32| -> Vec<u8> {
            let mut reader = blake3::Hasher::new().update(&number.to_le_bytes()).finalize_xof();
            let mut bytes = vec![0; 40_000];
            reader.fill(&mut bytes);
            bytes
        };
        let chunks: Vec<_> = (0..90).map(noise).collect();
        let (_folder, store, note, _) = packed(&chunks);
        let index = ChunkIndex::fetch(&store, &note).unwrap().index;
        let frames = index.frames();
        let batches = batches(&frames, &[3, 60]);
        let asked: u64 =
            batches.iter().flat_map(|batch| &frames[batch.clone()]).map(|frame| u64::from(frame.size)).sum();
        assert_eq!(batches.len(), 2);
        assert!(asked < 200_000, "{asked} of {}", note.size);
        assert_eq!(read_all(&store, &note, &[3, 60]).unwrap(), [chunks[3].clone(), chunks[60].clone()]);
    }
}
