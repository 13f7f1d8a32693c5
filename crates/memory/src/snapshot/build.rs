//! Cuts a memory into chunks and packs those that the store does not have.

use std::{
    collections::{BTreeMap, HashSet},
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use blake3::Hash;
use fs_err::File;

use super::{
    catalog::{Catalog, FileChunks},
    claims::{Choice, Claims},
    files::Files,
    manifest::{Pages, Run},
    pack::{self, MAX_CHUNK},
    place::FilePlace,
};
use crate::{error::Error, secrets::Secrets};

/// The length of a database's chunks: one page of SQLite. `docs/memory-format.md` has the measurement.
pub(crate) const PAGE: u32 = 4096;

const BUFFER: usize = 256 * PAGE as usize;

/// What a snapshot is made of.
pub(crate) struct Sources<'a> {
    /// Databases by their names in the manifest; they do not change any more.
    pub(crate) databases: BTreeMap<&'static str, PathBuf>,
    /// The engine's files, which may change under our hands.
    pub(crate) files: &'a Files,
    /// What they were when the save began.
    pub(crate) cut: &'a [FileChunks],
    pub(crate) claims: Claims<'a>,
    /// Databases that are taken as the store has them: their length and their chunks.
    pub(crate) borrowed: Hashed,
    pub(crate) secrets: &'a Secrets,
    /// The most packs that the store wants a save to have.
    pub(crate) most_packs: usize,
}

/// A snapshot whose new chunks are in a pack.
pub(crate) struct Built {
    pub(crate) packs: Catalog,
    /// Tells whether the last pack is new.
    pub(crate) is_packed: bool,
    pub(crate) databases: BTreeMap<String, Pages>,
    pub(crate) files: Vec<(FilePlace, u64)>,
    pub(crate) file_chunks: Vec<Run>,
    /// Files that changed though they are not this run's.
    pub(crate) left_out: Vec<FilePlace>,
}

/// The length and the chunks of each database.
pub(crate) type Hashed = BTreeMap<&'static str, (u64, Vec<Hash>)>;

/// Packs what is new into the file at `pack`.
pub(crate) fn build(sources: Sources<'_>, known: Catalog, pack: &Path) -> Result<Built, Error> {
    let hashed = sources.databases.iter().map(|(name, path)| Ok((*name, hash_pages(path)?)));
    let mut databases = hashed.collect::<Result<Hashed, Error>>()?;
    let Choice { ours: mut files, theirs, left_out } = sources.claims.settle(sources.cut.to_vec());
    let borrowed: HashSet<Hash> = pages(&sources.borrowed).chain(chunks(&theirs)).collect();
    let needed = pages(&databases).chain(chunks(&files)).collect();
    let mut packs = known.worth_keeping(&needed, &borrowed, sources.most_packs);

    let mut writer = pack::Writer::begin(pack)?;
    for (name, (_, hashes)) in &databases {
        if let Some(path) = sources.databases.get(name) {
            pack_pages(path, hashes, &packs, &mut writer)?;
        }
    }
    pack_files(sources.files, sources.secrets, &mut files, &packs, &mut writer)?;
    let fresh = writer.end()?;
    let is_packed = fresh.is_some();
    if let Some((note, index)) = fresh {
        packs.add(note, index);
    }
    databases.extend(sources.borrowed);
    files.extend(theirs);
    files.sort_by(|left, right| left.place.cmp(&right.place));

    let lost = || Error::Files(std::io::Error::other("a chunk was lost while packing"));
    let mut described = BTreeMap::new();
    for (name, (bytes, hashes)) in &databases {
        let chunks = packs.runs(hashes.iter()).ok_or_else(lost)?;
        described.insert((*name).to_owned(), Pages { bytes: *bytes, chunk: PAGE, chunks });
    }
    let file_chunks = packs.runs(files.iter().flat_map(|file| &file.chunks)).ok_or_else(lost)?;
    let files = files.into_iter().map(|file| (file.place, file.bytes)).collect();
    Ok(Built { packs, is_packed, databases: described, files, file_chunks, left_out })
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

fn hash_pages(path: &Path) -> Result<(u64, Vec<Hash>), Error> {
    let mut hashes = Vec::new();
    let mut bytes = 0;
    each_buffer(path, |buffer| {
        bytes += buffer.len() as u64;
        hashes.extend(buffer.chunks(PAGE as usize).map(blake3::hash));
        Ok(())
    })?;
    Ok((bytes, hashes))
}

fn pack_pages(path: &Path, hashes: &[Hash], known: &Catalog, writer: &mut pack::Writer) -> Result<(), Error> {
    let mut file = File::open(path)?;
    let mut page = vec![0; PAGE as usize];
    for (number, hash) in (0_u64..).zip(hashes).filter(|(_, hash)| !known.has(hash)) {
        file.seek(SeekFrom::Start(number * u64::from(PAGE)))?;
        let length = fill(&mut file, &mut page)?;
        writer.add(*hash, &page[..length])?;
    }
    Ok(())
}

/// Packs the files that are not known; one that changed since it was hashed is taken as it is now.
fn pack_files(
    folder: &Files,
    secrets: &Secrets,
    files: &mut Vec<FileChunks>,
    known: &Catalog,
    writer: &mut pack::Writer,
) -> Result<(), Error> {
    let mut gone = HashSet::new();
    for file in files.iter_mut().filter(|file| file.chunks.iter().any(|hash| !known.has(hash))) {
        let Some(content) = folder.read(&file.place)? else {
            gone.insert(file.place.clone());
            continue;
        };
        let content = secrets.without(&content);
        *file = cut(&file.place, &content);
        for (hash, chunk) in file.chunks.iter().zip(content.chunks(MAX_CHUNK as usize)) {
            if !known.has(hash) {
                writer.add(*hash, chunk)?;
            }
        }
    }
    files.retain(|file| !gone.contains(&file.place));
    Ok(())
}

fn cut(place: &FilePlace, content: &[u8]) -> FileChunks {
    let chunks = content.chunks(MAX_CHUNK as usize).map(blake3::hash).collect();
    FileChunks { place: place.clone(), bytes: content.len() as u64, chunks }
}

fn pages(databases: &Hashed) -> impl Iterator<Item = Hash> + '_ {
    databases.values().flat_map(|(_, hashes)| hashes.iter().copied())
}

fn chunks(files: &[FileChunks]) -> impl Iterator<Item = Hash> + '_ {
    files.iter().flat_map(|file| file.chunks.iter().copied())
}

/// Reads a file in buffers of many pages.
pub(crate) fn each_buffer(
    path: &Path,
    mut with: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let length = fill(&mut file, &mut buffer)?;
        if length > 0 {
            with(&buffer[..length])?;
        }
        if length < buffer.len() {
            return Ok(());
        }
    }
}

fn fill(file: &mut File, buffer: &mut [u8]) -> Result<usize, Error> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..])? {
            0 => break,
            n => length += n,
        }
    }
    Ok(length)
}
