//! Packs what is new in a save, and moves what lives in packs that are not worth keeping.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    io::Read as _,
    path::Path,
};

use blake3::Hash;
use fs_err::File;

use super::{
    catalog::{Catalog, Damaged, FileChunks},
    files::Files,
    pack::{Company, MAX_CHUNK, Writer},
    part,
    place::FilePlace,
};
use crate::{
    error::Error,
    secrets::Secrets,
    store::{ObjectName, Store},
};

/// The length of a database's chunks: one page of SQLite. `docs/memory-format.md` has the measurement.
pub(crate) const PAGE: u32 = 4096;

const BUFFER: usize = 256 * PAGE as usize;

/// Longer chunks get a frame of their own.
const SMALL: usize = 8 << 10;

/// A pack in the making.
pub(crate) struct Packer<'a> {
    writer: Writer,
    /// What the store has already.
    known: &'a Catalog,
    /// Chunks of it that are packed again: by whoever has the same bytes, or from the copy that is left.
    damaged: &'a Damaged,
    secrets: &'a Secrets,
    needed: HashSet<Hash>,
    /// Chunks whose parts are compressed one by one, with the lengths of those.
    parted: HashMap<Hash, Vec<u32>>,
}

/// The packs of a save.
pub(crate) struct Packed {
    pub(crate) packs: Catalog,
    /// Tells whether the last of them is new.
    pub(crate) has_new: bool,
    /// How much of what the packs hold is in use no more.
    pub(crate) free: u64,
    /// The packs of before from which something was moved into the new one.
    pub(crate) moved_from: BTreeSet<String>,
}

impl<'a> Packer<'a> {
    /// Begins a pack in a new file.
    pub(crate) fn begin(
        path: &Path,
        known: &'a Catalog,
        damaged: &'a Damaged,
        secrets: &'a Secrets,
    ) -> Result<Self, Error> {
        Ok(Self {
            writer: Writer::begin(path)?,
            known,
            damaged,
            secrets,
            needed: HashSet::new(),
            parted: HashMap::new(),
        })
    }

    /// Adds some bytes, in which no secret may be, and returns the names of their chunks.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<Vec<ObjectName>, Error> {
        let company = if bytes.len() > SMALL { Company::Alone } else { Company::Shared };
        self.add_in(bytes, company)
    }

    /// Adds a chunk whose parts, of these lengths, are wanted without each other.
    pub(crate) fn add_parts(&mut self, chunk: &[u8], lengths: Vec<u32>) -> Result<(), Error> {
        self.secrets.refuse_in_bytes(chunk)?;
        let hash = blake3::hash(chunk);
        self.needed.insert(hash);
        if !self.knows(&hash) {
            add_parts(&mut self.writer, hash, chunk, &lengths)?;
        }
        self.parted.insert(hash, lengths);
        Ok(())
    }

    /// Says that a chunk of such parts, which the store has, is still in use.
    pub(crate) fn keep_parts(&mut self, hash: Hash, lengths: Vec<u32>) {
        self.needed.insert(hash);
        self.parted.insert(hash, lengths);
    }

    /// Tells whether the store has a chunk already.
    pub(crate) fn knows(&self, hash: &Hash) -> bool {
        self.known.has(hash) && !self.damaged.lost.contains(hash) && !self.damaged.weak.contains(hash)
    }

    /// Adds bytes that are always wanted with their neighbours, or that many sessions need: they lie there twice.
    pub(crate) fn add_among_others(&mut self, bytes: &[u8]) -> Result<Vec<ObjectName>, Error> {
        self.add_in(bytes, Company::Shared)
    }

    fn add_in(&mut self, bytes: &[u8], company: Company) -> Result<Vec<ObjectName>, Error> {
        self.secrets.refuse_in_bytes(bytes)?;
        let mut names = Vec::new();
        for chunk in bytes.chunks(MAX_CHUNK as usize) {
            let hash = blake3::hash(chunk);
            self.put(hash, chunk, company)?;
            names.push(hash.into());
        }
        Ok(names)
    }

    fn put(&mut self, hash: Hash, chunk: &[u8], company: Company) -> Result<(), Error> {
        self.needed.insert(hash);
        if self.knows(&hash) { Ok(()) } else { self.writer.add(hash, chunk, company) }
    }

    /// Says that chunks which the store has are still in use.
    pub(crate) fn keep(&mut self, chunks: impl IntoIterator<Item = Hash>) {
        self.needed.extend(chunks);
    }

    /// Adds the pages of a database, and returns its length and its chunks.
    pub(crate) fn add_database(&mut self, path: &Path) -> Result<(u64, Vec<Hash>), Error> {
        self.secrets.refuse_in(path)?;
        let (mut bytes, mut hashes) = (0, Vec::new());
        each_buffer(path, |buffer| {
            bytes += buffer.len() as u64;
            for page in buffer.chunks(PAGE as usize) {
                let hash = blake3::hash(page);
                self.put(hash, page, Company::Shared)?;
                hashes.push(hash);
            }
            Ok(())
        })?;
        Ok((bytes, hashes))
    }

    /// Adds a file as it is now, without secrets; nothing if it is gone.
    pub(crate) fn add_file(&mut self, files: &Files, file: FileChunks) -> Result<Option<FileChunks>, Error> {
        if file.chunks.iter().all(|hash| self.knows(hash)) {
            self.keep(file.chunks.iter().copied());
            return Ok(Some(file));
        }
        let Some(content) = files.read(&file.place)? else { return Ok(None) };
        let content = self.secrets.without(&content).into_owned();
        self.add(&content)?;
        Ok(Some(cut(&file.place, &content)))
    }

    /// Ends the pack: `most` packs of before may stay, and what lives in the others is moved.
    pub(crate) fn end(mut self, store: &Store, most: usize) -> Result<Packed, Error> {
        let mut packs = self.known.worth_keeping(&self.needed, most);
        let (kept, writer, parted) = (&packs, &mut self.writer, &self.parted);
        let is_safe = |hash: &Hash| kept.has(hash) && !self.damaged.weak.contains(hash);
        let homeless = self.needed.iter().filter(|hash| !is_safe(hash) && !writer.has(hash));
        let homeless: Vec<Hash> = homeless.copied().collect();
        let moved_from = self.known.packs_of(&homeless);
        self.known.read(store, homeless, &mut |hash, chunk| {
            if let Some(lengths) = parted.get(&hash) {
                return add_parts(writer, hash, chunk, lengths);
            }
            let company = if chunk.len() > SMALL { Company::Alone } else { Company::Shared };
            writer.add(hash, chunk, company)
        })?;
        let fresh = self.writer.end()?;
        let has_new = fresh.is_some();
        if let Some((note, index)) = fresh {
            packs.add(note, index);
        }
        let free = packs.dead(&self.needed);
        Ok(Packed { packs, has_new, free, moved_from })
    }
}

fn add_parts(writer: &mut Writer, hash: Hash, chunk: &[u8], lengths: &[u32]) -> Result<(), Error> {
    match part::cut(chunk, lengths) {
        Some(parts) => writer.add_parts(hash, &parts),
        None => writer.add(hash, chunk, Company::Alone),
    }
}

/// Cuts all files into chunks, as they are without secrets.
pub(crate) fn cut_all(files: &Files, secrets: &Secrets) -> Result<Vec<FileChunks>, Error> {
    let mut all = Vec::new();
    for place in files.list()? {
        let Some(content) = files.read(&place)? else { continue };
        all.push(cut(&place, &secrets.without(&content)));
    }
    Ok(all)
}

pub(crate) fn cut(place: &FilePlace, content: &[u8]) -> FileChunks {
    let chunks = content.chunks(MAX_CHUNK as usize).map(blake3::hash).collect();
    FileChunks { place: place.clone(), bytes: content.len() as u64, chunks }
}

/// Reads a file in buffers of many pages.
pub(crate) fn each_buffer(
    path: &Path,
    mut with: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let mut length = 0;
        while length < buffer.len() {
            match file.read(&mut buffer[length..])? {
                0 => break,
                n => length += n,
            }
        }
        if length > 0 {
            with(&buffer[..length])?;
        }
        if length < buffer.len() {
            return Ok(());
        }
    }
}
