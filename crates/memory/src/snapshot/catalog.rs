//! Which chunks a store has already, and where.

use std::collections::{BTreeSet, HashMap, HashSet};

use blake3::Hash;

use super::{
    count, files,
    manifest::{ChunkRun, Manifest, Pages},
    pack::{ChunkIndex, FetchedIndex, Frame, PackNote},
    place::FilePlace,
    unpack::{self, Body, ChunkSink, Copies},
};
use crate::{
    error::{Error, Flaw},
    store::{ObjectName, Store},
};

/// A place in the packs of a save: a pack, and the first chunk of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bookmark(pub(crate) ObjectName, pub(crate) u32);

/// A pack of up to this size is packed again if one of its indexes is damaged; `verify --repair` mends larger ones.
const PACKED_AGAIN: u64 = 4 << 20;

/// Chunks that are not as they should be.
#[derive(Debug, Clone, Default)]
pub(crate) struct Damaged {
    /// Cannot be read any more.
    pub(crate) lost: HashSet<Hash>,
    /// Only one of two copies is left.
    pub(crate) weak: HashSet<Hash>,
}

/// A file as hashes of its chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChunks {
    pub(crate) place: FilePlace,
    pub(crate) bytes: u64,
    pub(crate) chunks: Vec<Hash>,
}

/// The packs of one save with their indexes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalog {
    pub(crate) packs: Vec<PackNote>,
    indexes: Vec<ChunkIndex>,
    places: HashMap<Hash, (u32, u32)>,
    /// What is known of packs besides: the frames of small ones.
    bodies: HashMap<ObjectName, Vec<u8>>,
    /// Chunks that are known to have only one of two copies left.
    pub(crate) weak: HashSet<Hash>,
}

impl Catalog {
    /// Reads the indexes of all packs of a save.
    pub(crate) fn fetch(store: &Store, manifest: &Manifest) -> Result<Self, Error> {
        let mut catalog = Self::default();
        for note in &manifest.packs {
            catalog.add_fetched(*note, ChunkIndex::fetch(store, note)?);
        }
        Ok(catalog)
    }

    fn add_fetched(&mut self, note: PackNote, fetched: FetchedIndex) {
        let FetchedIndex { index, is_worn, body } = fetched;
        let chunks: Vec<Hash> = index.chunks.iter().map(|chunk| chunk.hash).collect();
        self.add(note, index);
        self.bodies.extend(body.map(|body| (note.name, body)));
        if is_worn {
            tracing::warn!("one of two indexes of the pack {} is damaged", note.name);
            self.weak.extend(chunks.into_iter().filter(|_| note.size <= PACKED_AGAIN));
        }
    }

    /// Reads the indexes of those packs of a damaged save that are there, and knows only the chunks that can be read.
    pub(crate) fn salvage(store: &Store, manifest: &Manifest) -> Result<Self, Error> {
        let mut catalog = Self::default();
        for note in &manifest.packs {
            match ChunkIndex::fetch(store, note) {
                Ok(fetched) => catalog.add_fetched(*note, fetched),
                Err(Error::Flawed(_)) => catalog.add(*note, ChunkIndex::default()),
                Err(error) => return Err(error),
            }
        }
        let all: Vec<Hash> = catalog.all().collect();
        let Damaged { lost, weak } = catalog.examine(store, &all)?;
        catalog.places.retain(|hash, _| !lost.contains(hash));
        catalog.weak.extend(weak);
        Ok(catalog)
    }

    /// Reads both copies of these chunks and tells which are not as they should be.
    pub(crate) fn examine(&self, store: &Store, chunks: &[Hash]) -> Result<Damaged, Error> {
        let mut suspects = self.unreadable(store, chunks, Copies::First)?;
        suspects.extend(self.unreadable(store, chunks, Copies::Second)?);
        let suspects: Vec<Hash> = suspects.into_iter().collect();
        let lost = self.unreadable(store, &suspects, Copies::Either)?;
        let weak = suspects.into_iter().filter(|hash| !lost.contains(hash)).collect();
        Ok(Damaged { lost, weak })
    }

    /// Returns which of these chunks cannot be read.
    pub(crate) fn unreadable(
        &self,
        store: &Store,
        chunks: &[Hash],
        copies: Copies,
    ) -> Result<HashSet<Hash>, Error> {
        match self.read_copies(store, chunks.iter().copied(), copies, &mut |_, _| Ok(())) {
            Ok(()) => Ok(HashSet::new()),
            Err(Error::Flawed(_)) if chunks.len() > 1 => {
                let (some, others) = chunks.split_at(chunks.len() / 2);
                let mut lost = self.unreadable(store, some, copies)?;
                lost.extend(self.unreadable(store, others, copies)?);
                Ok(lost)
            }
            Err(Error::Flawed(_)) => Ok(chunks.iter().copied().collect()),
            Err(error) => Err(error),
        }
    }

    /// Takes in the packs of an earlier save, with what can be read of them.
    pub(crate) fn take_in(&mut self, earlier: Self) {
        self.weak.extend(earlier.weak.iter().filter(|hash| !self.places.contains_key(hash)));
        for (note, index) in earlier.packs.into_iter().zip(earlier.indexes) {
            if self.packs.iter().any(|known| known.name == note.name) {
                continue;
            }
            let pack = count(self.packs.len());
            for (ordinal, chunk) in (0..).zip(&index.chunks) {
                if earlier.places.contains_key(&chunk.hash) {
                    self.places.entry(chunk.hash).or_insert((pack, ordinal));
                }
            }
            self.packs.push(note);
            self.indexes.push(index);
        }
    }

    /// Adds a pack. Of a chunk that an earlier pack has too this is the better copy: that one may have gone bad.
    pub(crate) fn add(&mut self, note: PackNote, index: ChunkIndex) {
        let pack = count(self.packs.len());
        for (ordinal, chunk) in (0..).zip(&index.chunks) {
            self.places.insert(chunk.hash, (pack, ordinal));
            self.weak.remove(&chunk.hash);
        }
        self.packs.push(note);
        self.indexes.push(index);
    }

    /// Returns the pack of a chunk and its ordinal there.
    pub(super) fn place(&self, hash: &Hash) -> Option<(u32, u32)> {
        self.places.get(hash).copied()
    }

    /// Returns the frames of a pack.
    pub(super) fn frames(&self, pack: u32) -> Vec<Frame> {
        self.indexes.get(pack as usize).map(ChunkIndex::frames).unwrap_or_default()
    }

    /// Returns where the frames of a pack are.
    pub(super) fn body<'a>(&'a self, store: &'a Store, pack: u32) -> (Body<'a>, &'a PackNote) {
        let note = &self.packs[pack as usize];
        (self.bodies.get(&note.name).map_or(Body::In(store), |bytes| Body::Here(bytes)), note)
    }

    /// Tells whether a chunk is stored.
    pub(crate) fn has(&self, hash: &Hash) -> bool {
        self.places.contains_key(hash)
    }

    /// Reads chunks, each checked, in the order in which they lie in the packs.
    pub(crate) fn read(
        &self,
        store: &Store,
        wanted: impl IntoIterator<Item = Hash>,
        hand_out: ChunkSink<'_, Hash>,
    ) -> Result<(), Error> {
        self.read_copies(store, wanted, Copies::Either, hand_out)
    }

    /// Reads one copy of chunks like `read`.
    pub(crate) fn read_copies(
        &self,
        store: &Store,
        wanted: impl IntoIterator<Item = Hash>,
        copies: Copies,
        hand_out: ChunkSink<'_, Hash>,
    ) -> Result<(), Error> {
        let mut ordinals: Vec<Vec<u32>> = vec![Vec::new(); self.packs.len()];
        for hash in wanted {
            let lost = || Flaw::Manifest("it speaks of a chunk that no pack has".to_owned());
            let (pack, ordinal) = *self.places.get(&hash).ok_or_else(lost)?;
            ordinals[pack as usize].push(ordinal);
        }
        for ((note, index), mut wanted) in self.packs.iter().zip(&self.indexes).zip(ordinals) {
            wanted.sort_unstable();
            wanted.dedup();
            let body = match self.bodies.get(&note.name) {
                Some(bytes) => Body::Here(bytes),
                None => Body::In(store),
            };
            unpack::read(body, note, index, (&wanted, copies), &mut |ordinal, chunk| {
                hand_out(index.chunks[ordinal as usize].hash, chunk)
            })?;
        }
        Ok(())
    }

    /// Returns every chunk of every pack, in use or not.
    pub(crate) fn all(&self) -> impl Iterator<Item = Hash> + '_ {
        self.places.keys().copied()
    }

    /// Returns the chunks that are read from a pack, in use or not.
    pub(crate) fn chunks_in(&self, name: ObjectName) -> Vec<Hash> {
        let number = self.packs.iter().position(|note| note.name == name).map(count);
        let places = self.places.iter().filter(|(_, (pack, _))| Some(*pack) == number);
        places.map(|(hash, _)| *hash).collect()
    }

    /// Returns the packs that some chunks are read from.
    pub(crate) fn packs_of(&self, chunks: &[Hash]) -> BTreeSet<String> {
        let packs: BTreeSet<u32> = chunks.iter().filter_map(|hash| Some(self.places.get(hash)?.0)).collect();
        packs.into_iter().map(|pack| self.packs[pack as usize].name.to_string()).collect()
    }

    /// Returns the files of a manifest whose packs these are.
    pub(crate) fn files(&self, manifest: &Manifest) -> Vec<FileChunks> {
        let mut hashes = manifest.file_chunks.iter().flat_map(|run| self.hashes(*run));
        let mut files = Vec::with_capacity(manifest.files.len());
        for (place, bytes) in &manifest.files {
            let chunks = files::chunks(*bytes) as usize;
            let chunks = hashes.by_ref().take(chunks).collect();
            files.push(FileChunks { place: place.clone(), bytes: *bytes, chunks });
        }
        files
    }

    /// Returns the length and the chunks of a database of that save.
    pub(crate) fn database(&self, pages: &Pages) -> (u64, Vec<Hash>) {
        (pages.bytes, self.chunks(&pages.chunks))
    }

    /// Returns the chunks of some runs, if all of them can be read.
    pub(crate) fn readable(&self, runs: &[ChunkRun]) -> Option<Vec<Hash>> {
        let count: usize = runs.iter().map(|ChunkRun(_, _, count)| *count as usize).sum();
        Some(self.chunks(runs))
            .filter(|hashes| hashes.len() == count && hashes.iter().all(|hash| self.has(hash)))
    }

    /// Returns the chunks that lie after each other from a place on, in so many bytes of packs, and where they end.
    ///
    /// After the last pack comes the first again; nothing is returned twice.
    pub(crate) fn stretch(&self, from: Option<Bookmark>, most: u64) -> (Vec<Hash>, Option<Bookmark>) {
        let frames = self.packs.iter().zip(&self.indexes).flat_map(|(note, index)| {
            index.frames().into_iter().map(move |frame| (Bookmark(note.name, frame.first), frame, index))
        });
        let mut frames: Vec<_> = frames.collect();
        let start = frames.iter().position(|(place, ..)| Some(*place) == from).unwrap_or_default();
        frames.rotate_left(start);
        let (mut chunks, mut bytes) = (Vec::new(), 0);
        for (place, frame, index) in frames {
            if bytes >= most {
                return (chunks, Some(place));
            }
            bytes += u64::from(frame.size) * if frame.again.is_some() { 2 } else { 1 };
            let here = &index.chunks[frame.first as usize..(frame.first + frame.chunks) as usize];
            chunks.extend(here.iter().map(|chunk| chunk.hash));
        }
        (chunks, None)
    }

    /// Returns the chunks of some runs.
    pub(crate) fn chunks(&self, runs: &[ChunkRun]) -> Vec<Hash> {
        runs.iter().flat_map(|run| self.hashes(*run)).collect()
    }

    fn hashes(&self, ChunkRun(pack, first, count): ChunkRun) -> impl Iterator<Item = Hash> + '_ {
        let index = self.indexes.get(pack as usize).map_or(&[][..], |index| &index.chunks);
        index.iter().skip(first as usize).take(count as usize).map(|chunk| chunk.hash)
    }

    /// Leaves out packs that are mostly dead or too many, so that what lives in them is packed anew.
    ///
    /// `needed` is everything the next save has. Of more than `most` packs only the largest stay, three in eight: each
    /// costs a request when restoring.
    pub(crate) fn worth_keeping(&self, needed: &HashSet<Hash>, most: usize) -> Self {
        let mut worth: Vec<_> = (0..)
            .zip(self.packs.iter().zip(&self.indexes))
            .filter_map(|(pack, (note, index))| {
                let lives = |hash: &Hash| {
                    needed.contains(hash) && self.places.get(hash).is_some_and(|(at, _)| *at == pack)
                };
                let live = index.chunks.iter().filter(|chunk| lives(&chunk.hash));
                let live = live.map(|chunk| u64::from(chunk.length)).sum::<u64>();
                (live * 2 > note.bytes).then_some((*note, index.clone()))
            })
            .collect();
        if worth.len() > most {
            worth.sort_by_key(|(note, _)| std::cmp::Reverse(note.bytes));
            worth.truncate(most * 3 / 8);
        }
        let mut kept = Self::default();
        for (note, index) in worth {
            kept.add(note, index);
        }
        // What cannot be read any more is in none of them.
        kept.places.retain(|hash, _| self.has(hash));
        kept
    }

    /// Returns how many bytes of the packs are not needed.
    pub(crate) fn dead(&self, needed: &HashSet<Hash>) -> u64 {
        let chunks = self.indexes.iter().flat_map(|index| &index.chunks);
        chunks.filter(|chunk| !needed.contains(&chunk.hash)).map(|chunk| u64::from(chunk.length)).sum()
    }

    /// Returns where chunks lie, as runs, for packs as they are numbered here.
    pub(crate) fn runs<'a>(&self, hashes: impl IntoIterator<Item = &'a Hash>) -> Option<Vec<ChunkRun>> {
        let mut runs: Vec<ChunkRun> = Vec::new();
        for hash in hashes {
            let (pack, ordinal) = *self.places.get(hash)?;
            match runs.last_mut() {
                Some(ChunkRun(last, first, count)) if *last == pack && *first + *count == ordinal => {
                    *count += 1;
                }
                _ => runs.push(ChunkRun(pack, ordinal, 1)),
            }
        }
        Some(runs)
    }
}
