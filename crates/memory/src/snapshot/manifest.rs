//! The small object that the head names: what one save consists of, and what came before.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use zstd::stream::read::Decoder;

use super::{
    SKIPPED, files,
    pack::{MAX_CHUNKS, PackNote},
    place::FilePlace,
    skippable,
};
use crate::{
    database::MAX_DATABASE,
    error::{Error, Flaw},
    fingerprint::Fingerprint,
    store::{Object, ObjectName, Part, Store},
};

/// The format that this release writes and reads.
pub(crate) const FORMAT: u64 = 3;

/// The name of the engine's database, wherever it is put together.
pub(crate) const ENGINE_DATABASE: &str = "opencode.db";

/// The name of our own database in a manifest.
pub(crate) const LEDGER: &str = "ledger.db";

/// The name of the search index in a manifest. It can be made from the engine's database at any time.
pub(crate) const INDEX: &str = "index.db";

/// The name in `origin` of a save that took something out of all that was saved before: what it came from is then
/// nothing to go back to.
pub(crate) const REWRITTEN: &str = "rewritten";

/// The name in `origin` of the place up to which earlier packs were looked over: a pack and the number of a chunk.
pub(crate) const LOOKED_OVER: &str = "looked over";

/// The name in `origin` of the values that packs were searched for.
pub(crate) const SEARCHED_FOR: &str = "searched for";

/// The name in `origin` of a number that is higher than that of every save before: the clocks of stores count seconds.
pub(crate) const GENERATION: &str = "generation";

/// The largest window a frame may ask for, as a power of two; ours need 2 MiB.
pub(crate) const MAX_WINDOW: u32 = 23;

const MAX_PACKED: u64 = 16 << 20;
const MAX_MANIFEST: u64 = 64 << 20;
const MAX_PACKS: usize = 256;
const MAX_FILES: usize = 200_000;
const MAX_BYTES: u64 = 16 << 30;

/// So many times the size of its packs, and so much more, a memory may have when it is unpacked: text shrinks to a tenth,
/// hardly ever to a hundredth.
pub(crate) const MAX_RATIO: u64 = 100;
pub(crate) const MAX_SURPLUS: u64 = 256 << 20;
const COMPRESSION: i32 = 6;

/// One save.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) format: u64,
    /// The version of the engine whose database it is.
    pub(crate) engine: String,
    pub(crate) saved_at: Timestamp,
    /// The saves that this one contains: the head it was put on, and the one that the run started from.
    pub(crate) parents: Vec<ObjectName>,
    /// The newest save of an engine that could not read this one, for whoever goes back to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) earlier: Option<ObjectName>,
    /// Who saved: names and values that only people read.
    pub(crate) origin: BTreeMap<String, String>,
    pub(crate) packs: Vec<PackNote>,
    /// Our own databases.
    pub(crate) databases: BTreeMap<String, Pages>,
    /// The files that are named after no session.
    pub(crate) files: Vec<(FilePlace, u64)>,
    /// The chunks of all those files, one file after the other.
    pub(crate) file_chunks: Vec<ChunkRun>,
    /// The level of the engine's schema that this save was made at.
    pub(crate) level: String,
    /// All levels that a session was written at.
    pub(crate) levels: BTreeMap<String, SchemaLevel>,
    /// The sessions, in order.
    pub(crate) leaves: Vec<Leaf>,
    /// Sessions that were removed on purpose, and when.
    pub(crate) gone: BTreeMap<String, RemovedSession>,
    pub(crate) statistics: Statistics,
}

/// A database as pages of one length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pages {
    pub(crate) bytes: u64,
    /// The length of each chunk but the last.
    pub(crate) chunk: u32,
    pub(crate) chunks: Vec<ChunkRun>,
}

/// Chunks that follow each other in a pack: its place in `packs`, the first of them, how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkRun(pub(crate) u32, pub(crate) u32, pub(crate) u32);

/// What comparing sessions takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionNote {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) parent: Option<String>,
}

/// The engine's schema at one time, and the rows that belong to no session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SchemaLevel {
    /// The migrations that the engine's database went through.
    pub(crate) migrations: BTreeSet<String>,
    pub(crate) common: Vec<ChunkRun>,
}

/// Some sessions that follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Leaf {
    /// The first of them.
    pub(crate) first: String,
    pub(crate) chunks: Vec<ChunkRun>,
}

/// Why a session is not there any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemovedSession {
    pub(crate) at: Timestamp,
    pub(crate) why: Removal,
}

/// Who wanted a session gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Removal {
    /// It was old; whoever still works on it may bring it back.
    Pruned,
    /// A person asked for it; nothing brings it back.
    Forgotten,
}

/// Figures for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statistics {
    /// How many sessions there are.
    pub sessions: u32,
    /// How large all sessions, databases and files are.
    pub bytes: u64,
    /// How much of what the packs hold is in use no more.
    pub free: u64,
    /// How much of all that was new in this save, before compression.
    pub fresh: u64,
}

impl Manifest {
    /// Writes it as compressed JSON, twice: all that a save has hangs on it.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let json = serde_json::to_vec(self).map_err(std::io::Error::from)?;
        Ok(twice(&zstd::encode_all(json.as_slice(), COMPRESSION)?))
    }

    /// Fetches the manifest of this name.
    pub(crate) fn fetch(store: &Store, name: ObjectName) -> Result<Self, Error> {
        Ok(Self::parse(&Self::fetch_bytes(store, name)?.0)?)
    }

    /// Fetches the bytes of the manifest of this name, as they should be, and tells whether they are.
    pub(crate) fn fetch_bytes(store: &Store, name: ObjectName) -> Result<(Vec<u8>, bool), Error> {
        let mut bytes = Vec::new();
        store.get(Object::Manifest(name), Part::Whole)?.take(MAX_PACKED + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_PACKED {
            return Err(Flaw::TooLarge { what: "the manifest".to_owned(), limit: MAX_PACKED }.into());
        }
        if ObjectName::from(blake3::hash(&bytes)) == name {
            return Ok((bytes, true));
        }
        let half = bytes.len().saturating_sub(SKIPPED) / 2;
        // Of one that was cut off, the first copy may be whole and of any length.
        let cut_off = zstd::zstd_safe::find_frame_compressed_size(&bytes).ok();
        let cut_off = cut_off.and_then(|length| bytes.get(..length)).unwrap_or_default();
        let copies = [&bytes[..half], &bytes[bytes.len() - half..], cut_off];
        let mut mended = copies.into_iter().map(twice);
        let mended = mended.find(|bytes| ObjectName::from(blake3::hash(bytes)) == name);
        Ok((mended.ok_or(Flaw::Altered(name))?, false))
    }

    /// Reads one of our own format and makes sure that it contradicts neither itself nor our limits.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Flaw> {
        let json = unpacked(bytes)?;
        let unreadable = |error: serde_json::Error| Flaw::Manifest(error.to_string());
        // Another format may look different in everything but its number.
        let Numbered { format } = serde_json::from_slice(&json).map_err(unreadable)?;
        if format != FORMAT {
            return Err(Flaw::Format { found: format, readable: FORMAT });
        }
        let manifest: Self = serde_json::from_slice(&json).map_err(unreadable)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// Returns its number among the saves that follow each other; saves of earlier releases have none.
    pub(crate) fn generation(&self) -> Option<u64> {
        self.origin.get(GENERATION)?.parse().ok()
    }

    /// Returns the saves that it may be replaced by if it is damaged: those that it contains, unless it took something
    /// out of them.
    pub(crate) fn stand_ins(&self) -> &[ObjectName] {
        if self.origin.contains_key(REWRITTEN) { &[] } else { &self.parents }
    }

    /// Returns the sessions that were removed for good.
    pub(crate) fn forgotten(&self) -> impl Iterator<Item = &String> {
        self.gone.iter().filter(|(_, gone)| gone.why == Removal::Forgotten).map(|(id, _)| id)
    }

    /// Returns how many bytes our own databases and the files of no session have.
    fn own_bytes(&self) -> u64 {
        self.databases
            .values()
            .map(|pages| pages.bytes)
            .chain(self.files.iter().map(|(_, bytes)| *bytes))
            .fold(0, u64::saturating_add)
    }

    fn check(&self) -> Result<(), Flaw> {
        let say = |what: &str| Err(Flaw::Manifest(what.to_owned()));
        if self.packs.len() > MAX_PACKS || self.files.len() > MAX_FILES {
            return say("it counts too many packs or files");
        }
        if self.packs.iter().any(|pack| pack.chunks > MAX_CHUNKS) {
            return say("a pack counts too many chunks");
        }
        let packed = self.packs.iter().fold(0_u64, |sum, pack| sum.saturating_add(pack.bytes));
        if packed > MAX_BYTES {
            return say("its packs hold more than it could need");
        }
        let bytes = self.own_bytes().max(packed);
        let stored = self.packs.iter().fold(0_u64, |sum, pack| sum.saturating_add(pack.size));
        if bytes > stored.saturating_mul(MAX_RATIO).saturating_add(MAX_SURPLUS) {
            return Err(Flaw::Manifest(format!("it would unpack {bytes} bytes from {stored}")));
        }
        if !self.databases.keys().all(|name| [LEDGER, INDEX].contains(&name.as_str())) {
            return say("it has a database that is none of ours");
        }
        for pages in self.databases.values() {
            if pages.bytes > MAX_DATABASE {
                return Err(Flaw::TooLarge { what: "the database".to_owned(), limit: MAX_DATABASE });
            }
            let aligned = pages.chunk.is_power_of_two() && (512..=1 << 20).contains(&pages.chunk);
            if !aligned || self.length(&pages.chunks)? != pages.bytes.div_ceil(u64::from(pages.chunk)) {
                return say("the pages of a database do not add up");
            }
        }
        let chunks: u64 = self.files.iter().map(|(_, bytes)| u64::from(files::chunks(*bytes))).sum();
        if self.length(&self.file_chunks)? != chunks {
            return say("the chunks of its files do not add up");
        }
        if !self.levels.contains_key(&self.level) {
            return say("it lacks its own level");
        }
        let levels = self.levels.values().map(|level| &level.common);
        for runs in levels.chain(self.leaves.iter().map(|leaf| &leaf.chunks)) {
            self.length(runs)?;
        }
        FilePlace::check_all(self.files.iter().map(|(place, _)| place))
    }

    /// Returns how many chunks the runs have, all of which are in a pack.
    fn length(&self, runs: &[ChunkRun]) -> Result<u64, Flaw> {
        runs.iter().try_fold(0, |sum, ChunkRun(pack, first, count)| {
            let inside = self
                .packs
                .get(*pack as usize)
                .is_some_and(|pack| first.checked_add(*count).is_some_and(|end| end <= pack.chunks));
            if !inside || *count == 0 {
                return Err(Flaw::Manifest("it speaks of a chunk that no pack has".to_owned()));
            }
            Ok(sum + u64::from(*count))
        })
    }
}

/// Puts a second copy of a zstd frame after it, in a frame that every decoder skips.
fn twice(frame: &[u8]) -> Vec<u8> {
    [frame, &skippable(frame)].concat()
}

/// Unpacks the JSON of a manifest.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, Flaw> {
    let unreadable = |error: std::io::Error| Flaw::Manifest(error.to_string());
    let mut json = Vec::new();
    let mut decoder = Decoder::new(bytes).map_err(unreadable)?;
    decoder.window_log_max(MAX_WINDOW).map_err(unreadable)?;
    decoder.take(MAX_MANIFEST + 1).read_to_end(&mut json).map_err(unreadable)?;
    if json.len() as u64 > MAX_MANIFEST {
        return Err(Flaw::TooLarge { what: "the manifest".to_owned(), limit: MAX_MANIFEST });
    }
    Ok(json)
}

#[derive(Deserialize)]
struct Numbered {
    format: u64,
}

#[cfg(test)]
mod tests {
    use super::FORMAT;
    use crate::{index, snapshot::pack};

    #[test]
    fn the_pages_describe_this_format_and_no_older_one() {
        let page = include_str!("../../../../docs/memory-format.md");
        assert!(page.starts_with(&format!("# The memory format, version {FORMAT}\n")));
        let magic = str::from_utf8(pack::MAGIC).unwrap();
        let index = format!("`user_version`, now {}", index::VERSION);
        for said in [format!("| `format` | `{FORMAT}`"), format!("\"{magic}\""), index] {
            assert!(page.contains(&said), "{said}");
        }
        let rollback = include_str!("../../../../docs/rollback.md");
        let head = format!("{FORMAT}/head.{FORMAT}");
        assert!(page.contains(&format!("`{head}`")) && rollback.contains(&format!("/{head}")));
    }
}
