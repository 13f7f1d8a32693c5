//! Which chunks a store has already, and where.

use std::collections::{HashMap, HashSet};

use blake3::Hash;

use super::{
    count, files,
    manifest::{Manifest, Pages, Run},
    pack::{Index, PackNote},
    place::FilePlace,
};
use crate::{error::Error, store::Store};

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
    indexes: Vec<Index>,
    places: HashMap<Hash, (u32, u32)>,
}

impl Catalog {
    /// Reads the indexes of all packs of a save.
    pub(crate) fn fetch(store: &Store, manifest: &Manifest) -> Result<Self, Error> {
        let mut catalog = Self::default();
        for note in &manifest.packs {
            catalog.add(*note, Index::fetch(store, note)?);
        }
        Ok(catalog)
    }

    /// Adds a pack.
    pub(crate) fn add(&mut self, note: PackNote, index: Index) {
        let pack = count(self.packs.len());
        for (ordinal, (hash, _)) in (0..).zip(&index.chunks) {
            self.places.entry(*hash).or_insert((pack, ordinal));
        }
        self.packs.push(note);
        self.indexes.push(index);
    }

    /// Tells whether a chunk is stored.
    pub(crate) fn has(&self, hash: &Hash) -> bool {
        self.places.contains_key(hash)
    }

    /// Returns the files of a save whose packs these are.
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
        (pages.bytes, pages.chunks.iter().flat_map(|run| self.hashes(*run)).collect())
    }

    fn hashes(&self, Run(pack, first, count): Run) -> impl Iterator<Item = Hash> + '_ {
        let index = self.indexes.get(pack as usize).map_or(&[][..], |index| &index.chunks);
        index.iter().skip(first as usize).take(count as usize).map(|(hash, _)| *hash)
    }

    /// Leaves out packs that are mostly dead or too many, so that what lives in them is packed anew.
    ///
    /// `needed` is everything the next save has, `borrowed` what only the store has: its packs must stay. Of more than
    /// `most` packs only the largest stay, three in eight: each costs a request when restoring.
    pub(crate) fn worth_keeping(self, needed: &HashSet<Hash>, borrowed: &HashSet<Hash>, most: usize) -> Self {
        let mut worth: Vec<_> = (0..)
            .zip(self.packs.into_iter().zip(self.indexes))
            .filter_map(|(pack, (note, index))| {
                let lives = |hash: &Hash| self.places.get(hash).is_some_and(|(at, _)| *at == pack);
                let live = |of: &HashSet<Hash>| {
                    let chunks = index.chunks.iter().filter(|(hash, _)| of.contains(hash) && lives(hash));
                    chunks.map(|(_, length)| u64::from(*length)).sum::<u64>()
                };
                let is_bound = live(borrowed) > 0;
                (is_bound || live(needed) * 2 > note.bytes).then_some((is_bound, note, index))
            })
            .collect();
        if worth.len() > most {
            worth.sort_by_key(|(is_bound, note, _)| std::cmp::Reverse((*is_bound, note.bytes)));
            let bound = worth.iter().filter(|(is_bound, ..)| *is_bound).count();
            worth.truncate((most * 3 / 8).max(bound));
        }
        let mut kept = Self::default();
        for (_, note, index) in worth {
            kept.add(note, index);
        }
        kept
    }

    /// Returns where chunks lie, as runs, for packs as they are numbered here.
    pub(crate) fn runs<'a>(&self, hashes: impl Iterator<Item = &'a Hash>) -> Option<Vec<Run>> {
        let mut runs: Vec<Run> = Vec::new();
        for hash in hashes {
            let (pack, ordinal) = *self.places.get(hash)?;
            match runs.last_mut() {
                Some(Run(last, first, count)) if *last == pack && *first + *count == ordinal => *count += 1,
                _ => runs.push(Run(pack, ordinal, 1)),
            }
        }
        Some(runs)
    }
}
