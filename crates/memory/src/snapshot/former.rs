//! Reads a memory of format 2, in which the engine's database was stored page by page, to carry it over.
//!
//! Nothing is ever written in it. `docs/memory-format.md` says what is left of it.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::Path,
};

use blake3::Hash;
use jiff::Timestamp;
use serde::Deserialize;
use zstd::stream::read::Decoder;

use super::{
    files,
    manifest::{ChunkRun, ENGINE_DATABASE, MAX_WINDOW, Pages, Statistics, unpacked},
    pack::{MAX_CHUNK, MAX_CHUNKS, PackNote},
    place::FilePlace,
};
use crate::{
    database::{self, MAX_DATABASE},
    error::{Error, Flaw, nonsense},
    private,
    store::{Object, ObjectName, Part, Store},
};

/// The format before this one.
pub(crate) const FORMER: u64 = 2;

const MAGIC: &[u8; 8] = b"FROPACK2";
const ENTRY: usize = 36;
const MAX_BYTES: u64 = 16 << 30;

/// One save of the former format, as far as it matters here.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FormerManifest {
    format: u64,
    pub(crate) engine: String,
    pub(crate) saved_at: Timestamp,
    pub(crate) origin: BTreeMap<String, String>,
    pub(crate) packs: Vec<PackNote>,
    databases: BTreeMap<String, Pages>,
    files: Vec<(FilePlace, u64)>,
    file_chunks: Vec<ChunkRun>,
    pub(crate) statistics: Statistics,
}

/// Where a chunk goes: which file, and where in it.
type Goal = (String, u64);

impl FormerManifest {
    /// Fetches the manifest of this name.
    pub(crate) fn fetch(store: &Store, name: ObjectName) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        store.get(Object::Manifest(name), Part::Whole)?.take(64 << 20).read_to_end(&mut bytes)?;
        if ObjectName::from(blake3::hash(&bytes)) != name {
            return Err(Flaw::Altered(name).into());
        }
        let json = unpacked(&bytes)?;
        let manifest: Self =
            serde_json::from_slice(&json).map_err(|error| Flaw::Manifest(error.to_string()))?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), Flaw> {
        let say = |what: &str| Err(Flaw::Manifest(what.to_owned()));
        if self.format != FORMER {
            return Err(Flaw::Format { found: self.format, readable: FORMER });
        }
        let sound = |pages: &Pages| {
            pages.bytes <= MAX_DATABASE && pages.chunk.is_power_of_two() && pages.chunk <= MAX_CHUNK
        };
        if !self.databases.values().all(sound) || !self.databases.contains_key(ENGINE_DATABASE) {
            return say("its databases do not add up");
        }
        let known = ["opencode.db", "ledger.db", "index.db"];
        if !self.databases.keys().all(|name| known.contains(&name.as_str())) {
            return say("it has a database that is none of ours");
        }
        let bytes = self.databases.values().map(|pages| pages.bytes);
        let bytes = bytes.chain(self.files.iter().map(|(_, bytes)| *bytes)).fold(0, u64::saturating_add);
        if bytes > MAX_BYTES || self.packs.iter().any(|pack| pack.chunks > MAX_CHUNKS) {
            return say("its packs hold more than it could need");
        }
        FilePlace::check_all(self.files.iter().map(|(place, _)| place))
    }

    /// Writes its databases and files into a folder, and makes sure of them.
    pub(crate) fn restore(&self, store: &Store, folder: &Path) -> Result<(), Error> {
        let mut goals: Vec<BTreeMap<u32, Vec<Goal>>> = vec![BTreeMap::new(); self.packs.len()];
        let mut lengths: BTreeMap<String, u64> = BTreeMap::new();
        for (name, pages) in &self.databases {
            self.aim(&mut goals, &pages.chunks, name, u64::from(pages.chunk))?;
            lengths.insert(name.clone(), pages.bytes);
        }
        let mut places = places(&self.file_chunks);
        for (place, bytes) in &self.files {
            let runs: Vec<ChunkRun> = places.by_ref().take(files::chunks(*bytes) as usize).collect();
            self.aim(&mut goals, &runs, place.as_str(), u64::from(MAX_CHUNK))?;
            lengths.insert(place.as_str().to_owned(), *bytes);
        }
        for (name, bytes) in &lengths {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                private::folder(parent)?;
            }
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.set_len(*bytes)?;
        }
        for (note, goals) in self.packs.iter().zip(&goals) {
            read_pack(store, note, goals, folder, &lengths)?;
        }
        database::inspect(&database::open(&folder.join(ENGINE_DATABASE))?).map(drop)
    }

    fn aim(
        &self,
        goals: &mut [BTreeMap<u32, Vec<Goal>>],
        runs: &[ChunkRun],
        name: &str,
        chunk: u64,
    ) -> Result<(), Flaw> {
        for (number, ChunkRun(pack, ordinal, _)) in (0_u64..).zip(places(runs)) {
            let goals = goals.get_mut(pack as usize).filter(|_| ordinal < self.packs[pack as usize].chunks);
            let lost = || Flaw::Manifest("it speaks of a chunk that no pack has".to_owned());
            goals.ok_or_else(lost)?.entry(ordinal).or_default().push((name.to_owned(), number * chunk));
        }
        Ok(())
    }
}

fn places(runs: &[ChunkRun]) -> impl Iterator<Item = ChunkRun> + '_ {
    runs.iter().flat_map(|ChunkRun(pack, first, count)| {
        let pack = *pack;
        (*first..first.saturating_add(*count)).map(move |ordinal| ChunkRun(pack, ordinal, 1))
    })
}

/// Reads a pack from its beginning to the last chunk that is wanted, and writes each where it belongs.
fn read_pack(
    store: &Store,
    note: &PackNote,
    goals: &BTreeMap<u32, Vec<Goal>>,
    folder: &Path,
    lengths: &BTreeMap<String, u64>,
) -> Result<(), Error> {
    let Some((last, _)) = goals.last_key_value() else { return Ok(()) };
    let altered = || Flaw::Altered(note.name);
    let (from, chunks) = read_index(store, note)?;
    let mut body = store.get(Object::Pack(note.name), Part::Slice { from: 0, length: from })?.take(from);
    let mut magic = [0; 8];
    body.read_exact(&mut magic).map_err(nonsense)?;
    let mut decoder = Decoder::new(body)?.single_frame();
    decoder.window_log_max(MAX_WINDOW)?;
    let mut chunk = Vec::new();
    for (ordinal, (hash, length)) in (0..=*last).zip(&chunks) {
        chunk.resize(*length as usize, 0);
        decoder.read_exact(&mut chunk).map_err(|_| altered())?;
        let Some(goals) = goals.get(&ordinal) else { continue };
        if &magic != MAGIC || blake3::hash(&chunk) != *hash {
            return Err(altered().into());
        }
        for (name, at) in goals {
            if at + chunk.len() as u64 > lengths[name] {
                return Err(Flaw::Manifest("a chunk has another length than its place".to_owned()).into());
            }
            fs::OpenOptions::new().write(true).open(folder.join(name))?.write_all_at(&chunk, *at)?;
        }
    }
    Ok(())
}

/// Returns where the index of a pack begins, and what it says.
fn read_index(store: &Store, note: &PackNote) -> Result<(u64, Vec<(Hash, u32)>), Error> {
    let altered = || Flaw::Altered(note.name);
    let length = u64::from(note.chunks) * ENTRY as u64 + 4;
    let from = note.size.checked_sub(length).ok_or_else(altered)?;
    let mut bytes = Vec::new();
    store.get(Object::Pack(note.name), Part::Slice { from, length })?.take(length).read_to_end(&mut bytes)?;
    if ObjectName::from(blake3::hash(&bytes)) != note.index {
        return Err(altered().into());
    }
    let chunks: Vec<(Hash, u32)> = bytes.chunks_exact(ENTRY).filter_map(entry).collect();
    let fits = chunks.iter().all(|(_, length)| (1..=MAX_CHUNK).contains(length));
    if !fits || chunks.len() != note.chunks as usize {
        return Err(altered().into());
    }
    Ok((from, chunks))
}

fn entry(bytes: &[u8]) -> Option<(Hash, u32)> {
    let (hash, length) = bytes.split_first_chunk::<32>()?;
    Some((Hash::from(*hash), u32::from_le_bytes(length.try_into().ok()?)))
}
