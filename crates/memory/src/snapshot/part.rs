//! Parts of a chunk that were compressed one by one, so that a few of them are read without the rest.
//!
//! A chunk as a whole is held against its hash. A part has a checksum of its own, which tells damage as well.

use std::collections::HashMap;

use blake3::Hash;

use super::{catalog::Catalog, count, pack::Frame, unpack};
use crate::{
    error::{Error, Flaw},
    store::Store,
};

/// A part of a chunk: where it begins and how long it is, packed and unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ChunkPart {
    pub(crate) chunk: Hash,
    /// Where it lies in the frame of its chunk, and how long that frame is.
    pub(crate) packed_from: u32,
    pub(crate) packed: u32,
    pub(crate) packed_all: u32,
    /// Where it lies in its chunk.
    pub(crate) from: u32,
    pub(crate) bytes: u32,
}

impl ChunkPart {
    /// Cuts the part out of its chunk.
    fn cut_from(&self, chunk: &[u8]) -> Option<Vec<u8>> {
        let from = self.from as usize;
        chunk.get(from..from.checked_add(self.bytes as usize)?).map(<[u8]>::to_vec)
    }
}

impl Catalog {
    /// Reads parts of chunks, all that can be read.
    ///
    /// The parts of a chunk that somebody packed otherwise are cut out of the whole.
    pub(crate) fn read_parts(
        &self,
        store: &Store,
        wanted: &[ChunkPart],
    ) -> Result<HashMap<ChunkPart, Vec<u8>>, Error> {
        let mut found = HashMap::new();
        let mut others: Vec<ChunkPart> = Vec::new();
        let mut in_packs: HashMap<u32, Vec<(ChunkPart, Frame)>> = HashMap::new();
        let frames = self.frames_of(wanted.iter().map(|part| part.chunk));
        for part in wanted {
            match frames.get(&part.chunk) {
                Some((pack, frame)) if frame.chunks == 1 && frame.size == part.packed_all => {
                    let at = frame.at + u64::from(part.packed_from);
                    let (size, bytes) = (part.packed, u64::from(part.bytes));
                    let place = Frame { first: 0, chunks: 1, at, again: None, size, bytes };
                    in_packs.entry(*pack).or_default().push((*part, place));
                }
                Some(_) => others.push(*part),
                None => {}
            }
        }
        for (pack, mut parts) in in_packs {
            parts.sort_by_key(|(_, place)| place.at);
            parts.dedup_by_key(|(part, _)| *part);
            let places = (0..).zip(&parts).map(|(number, (_, place))| Frame { first: number, ..*place });
            let places: Vec<Frame> = places.collect();
            let (body, note) = self.body(store, pack);
            let read = unpack::read_parts(body, note, &places, &mut |number, bytes| {
                found.insert(parts[number as usize].0, bytes.to_vec());
                Ok(())
            });
            forgive(read)?;
        }
        for part in others {
            let read = self.read(store, [part.chunk], &mut |_, chunk| {
                found.extend(part.cut_from(chunk).map(|bytes| (part, bytes)));
                Ok(())
            });
            forgive(read)?;
        }
        Ok(found)
    }

    /// Returns the frames of chunks, each with the number of its pack.
    fn frames_of(&self, chunks: impl Iterator<Item = Hash>) -> HashMap<Hash, (u32, Frame)> {
        let mut of_packs: HashMap<u32, Vec<(u32, Hash)>> = HashMap::new();
        for chunk in chunks {
            if let Some((pack, ordinal)) = self.place(&chunk) {
                of_packs.entry(pack).or_default().push((ordinal, chunk));
            }
        }
        let mut frames = HashMap::new();
        for (pack, chunks) in of_packs {
            let known = self.frames(pack);
            for (ordinal, chunk) in chunks {
                let at = known.partition_point(|frame| frame.first <= ordinal);
                frames.extend(at.checked_sub(1).map(|at| (chunk, (pack, known[at]))));
            }
        }
        frames
    }
}

/// Takes damage for nothing found.
fn forgive(read: Result<(), Error>) -> Result<(), Error> {
    match read {
        Err(Error::Flawed(why @ (Flaw::Missing(_) | Flaw::Altered(_)))) => {
            tracing::warn!("a part of the memory cannot be read: {why}");
            Ok(())
        }
        read => read,
    }
}

/// Cuts a chunk into parts of these lengths; nothing if they are not all of it.
pub(crate) fn cut<'a>(chunk: &'a [u8], lengths: &[u32]) -> Option<Vec<&'a [u8]>> {
    let mut rest = chunk;
    let mut parts = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (part, after) = rest.split_at_checked(*length as usize)?;
        parts.push(part);
        rest = after;
    }
    rest.is_empty().then_some(parts)
}

/// Returns where the parts of a chunk lie, whose lengths these are, packed and unpacked.
pub(crate) fn places(chunk: Hash, lengths: &[(u32, u32)]) -> Vec<ChunkPart> {
    let packed_all = lengths.iter().fold(0_u32, |sum, (packed, _)| sum.saturating_add(*packed));
    let (mut packed_from, mut from) = (0_u32, 0_u32);
    let place = |(packed, bytes): &(u32, u32)| {
        let part = ChunkPart { chunk, packed_from, packed: *packed, packed_all, from, bytes: *bytes };
        packed_from = packed_from.saturating_add(*packed);
        from = from.saturating_add(*bytes);
        part
    };
    lengths.iter().map(place).collect()
}

/// Returns the lengths of parts, packed and unpacked.
pub(crate) fn lengths(parts: &[&[u8]]) -> Result<Vec<(u32, u32)>, Error> {
    let packed = super::pack::compressed(parts)?;
    Ok(packed.iter().zip(parts).map(|(packed, part)| (count(packed.len()), count(part.len()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{snapshot::pack::Writer, store::Object};

    #[test]
    fn parts_are_read_alone_and_a_damaged_one_costs_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::folder(folder.path()).unwrap();
        let noise = |number: u8| -> Vec<u8> {
            let mut bytes = vec![0; 9_000];
            blake3::Hasher::new().update(&[number]).finalize_xof().fill(&mut bytes);
            bytes
        };
        let whole: Vec<u8> = (0..5).flat_map(noise).collect();
        let parts = cut(&whole, &[9_000; 5]).unwrap();
        let hash = blake3::hash(&whole);
        let places = places(hash, &lengths(&parts).unwrap());
        let path = folder.path().join("pack");
        let mut writer = Writer::begin(&path).unwrap();
        writer.add_parts(hash, &parts).unwrap();
        let (note, index) = writer.end().unwrap().unwrap();
        let mut catalog = Catalog::default();
        catalog.add(note, index);

        let mut bytes = std::fs::read(&path).unwrap();
        bytes[20_000] ^= 1;
        let stored = folder.path().join("3").join(Object::Pack(note.name).to_string());
        std::fs::write(&stored, &bytes).unwrap();
        let found = catalog.read_parts(&store, &[places[1], places[2], places[4]]).unwrap();
        let expected = [(places[1], parts[1].to_vec()), (places[4], parts[4].to_vec())];
        assert_eq!(found, expected.into());
        assert!(catalog.read(&store, [hash], &mut |_, _| Ok(())).is_err());

        // Somebody who packed it otherwise has it whole.
        std::fs::copy(&path, &stored).unwrap();
        let elsewhere = ChunkPart { packed_all: 1, packed_from: 7, ..places[3] };
        let found = catalog.read_parts(&store, &[elsewhere]).unwrap();
        assert_eq!(found, HashMap::from([(elsewhere, parts[3].to_vec())]));
    }
}
