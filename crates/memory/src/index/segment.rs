//! The words of some sessions in their order, cut into blocks that are fetched one by one. Several that follow each other
//! are a sheaf, which is stored as one chunk: so many names would cost every run more than the words that it asks for.
//!
//! A save adds a segment with the sessions that it touched. Segments of about the same size are made into one when there
//! are several, so that a word is looked for in few places, and a session is written anew a few times in its life.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use blake3::Hash;
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use super::{
    PUBLIC,
    gather::Document,
    tokens::{ReadSoFar, impacts},
};
use crate::{
    database::judge,
    error::{Error, Flaw},
    private,
    snapshot::part::{self, ChunkPart},
    store::ObjectName,
};

/// A block is about this long before it is packed: short enough that a word costs little, long enough to be packed well.
const BLOCK: usize = 8 << 10;

/// So many blocks are a sheaf.
const SHEAF: usize = 16;

/// So many sessions of a word are kept, the newest: a word that stands in more of them says little.
pub(super) const COMMON: usize = 256;

/// So many segments of about one size become one, and this is how much larger it then is.
const FEW: u32 = 4;

/// So many sessions are read into a segment at a time.
pub(super) const BATCH: usize = 256;

/// Fetches sheaves that are not on this machine, all that can be read.
pub(crate) type Fetch<'a> = &'a dyn Fn(&[Hash]) -> Result<HashMap<Hash, Vec<u8>>, Error>;

/// Fetches blocks that are not on this machine, all that can be read.
pub(crate) type FetchBlocks<'a> = &'a dyn Fn(&[ChunkPart]) -> Result<HashMap<ChunkPart, Vec<u8>>, Error>;

/// A block as the index notes it: its first word, and how long it is, packed and unpacked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BlockNote(pub(super) String, u32, u32);

/// Several blocks that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sheaf {
    pub(crate) name: ObjectName,
    pub(super) blocks: Vec<BlockNote>,
}

impl Sheaf {
    /// Reads the columns `name` and `blocks`.
    pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (name, blocks): ([u8; 32], String) = (row.get("name")?, row.get("blocks")?);
        // An index that contradicts itself has words that nobody finds.
        let blocks = serde_json::from_str(&blocks).unwrap_or_default();
        Ok(Self { name: Hash::from(name).into(), blocks })
    }

    /// Returns where its blocks lie.
    pub(super) fn places(&self) -> Vec<ChunkPart> {
        let lengths: Vec<_> =
            self.blocks.iter().map(|BlockNote(_, packed, bytes)| (*packed, *bytes)).collect();
        part::places(self.name.hash(), &lengths)
    }

    /// Returns how long its blocks are.
    pub(crate) fn lengths(&self) -> Vec<u32> {
        self.blocks.iter().map(|BlockNote(_, _, bytes)| *bytes).collect()
    }
}

/// The sessions with a word: how many, and the newest of them with what the word counts there, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct WordHolders(pub(super) u32, pub(super) Vec<(i64, u8)>);

/// The sessions with a word that insiders alone may hear, and those that everyone may.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Postings(pub(super) WordHolders, pub(super) WordHolders);

/// Some words that follow each other.
pub(super) type Block = BTreeMap<String, Postings>;

impl WordHolders {
    /// Takes in those of another segment.
    pub(super) fn add(&mut self, other: &Self) {
        self.0 = self.0.saturating_add(other.0);
        self.1.extend(&other.1);
        self.1.sort_unstable_by_key(|(id, _)| Reverse(*id));
        self.1.truncate(COMMON);
    }

    /// Leaves out sessions that are not there any more.
    fn retain(&mut self, is_there: impl Fn(i64) -> bool) {
        let before = self.1.len();
        self.1.retain(|(id, _)| is_there(*id));
        let gone = u32::try_from(before - self.1.len()).unwrap_or(u32::MAX);
        self.0 = self.0.saturating_sub(gone);
    }
}

/// The sheaves and blocks that are on this machine, in a folder beside the index.
#[derive(Debug, Clone)]
pub(crate) struct Blocks(PathBuf);

impl Blocks {
    /// Names the folder of an index.
    pub(crate) fn beside(index: &Path) -> Self {
        let mut folder = index.as_os_str().to_owned();
        folder.push(".blocks");
        Self(folder.into())
    }

    /// Removes them all.
    pub(super) fn clear(&self) -> io::Result<()> {
        match fs_err::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Puts a sheaf there.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<ObjectName, Error> {
        private::folder(&self.0)?;
        let name = ObjectName::from(blake3::hash(bytes));
        fs_err::write(self.0.join(name.to_string()), bytes)?;
        Ok(name)
    }

    /// Returns the bytes of a sheaf; nothing if it is not here.
    pub(crate) fn read(&self, name: ObjectName) -> Option<Vec<u8>> {
        let bytes = fs_err::read(self.0.join(name.to_string())).ok()?;
        (ObjectName::from(blake3::hash(&bytes)) == name).then_some(bytes)
    }

    fn block_path(&self, place: &ChunkPart) -> PathBuf {
        self.0.join(format!("{}.{}", place.chunk, place.from))
    }

    /// Fetches blocks that are not here.
    pub(super) fn bring_blocks(
        &self,
        places: &HashSet<ChunkPart>,
        fetch: FetchBlocks<'_>,
    ) -> Result<(), Error> {
        let missing = places.iter().filter(|place| {
            !self.block_path(place).exists() && !self.0.join(place.chunk.to_string()).exists()
        });
        let missing: Vec<ChunkPart> = missing.copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        private::folder(&self.0)?;
        for (place, bytes) in fetch(&missing)? {
            fs_err::write(self.block_path(&place), bytes)?;
        }
        Ok(())
    }

    /// Fetches sheaves that are not here.
    pub(crate) fn bring(&self, names: &HashSet<Hash>, fetch: Fetch<'_>) -> Result<usize, Error> {
        let missing: Vec<Hash> =
            names.iter().filter(|name| self.read((**name).into()).is_none()).copied().collect();
        if missing.is_empty() {
            return Ok(0);
        }
        for bytes in fetch(&missing)?.values() {
            self.put(bytes)?;
        }
        Ok(missing.len())
    }

    /// Reads a block that is here, and tells how long it is.
    pub(super) fn block(&self, place: &ChunkPart) -> Result<(Block, usize), Error> {
        let alone = fs_err::read(self.block_path(place));
        let bytes = alone.or_else(|_| self.cut_out(place)).map_err(|_| Flaw::Missing(place.chunk.into()))?;
        Ok((parsed(&bytes)?, bytes.len()))
    }

    /// Reads a block out of its sheaf.
    fn cut_out(&self, place: &ChunkPart) -> io::Result<Vec<u8>> {
        let mut sheaf = fs_err::File::open(self.0.join(place.chunk.to_string()))?;
        sheaf.seek(SeekFrom::Start(u64::from(place.from)))?;
        let mut bytes = Vec::new();
        sheaf.take(u64::from(place.bytes)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads all blocks of a sheaf that is here.
    fn sheaf(&self, sheaf: &Sheaf) -> Result<Vec<Block>, Error> {
        let bytes = self.read(sheaf.name).ok_or(Flaw::Missing(sheaf.name))?;
        let parts = part::cut(&bytes, &sheaf.lengths());
        let parts =
            parts.ok_or_else(|| Flaw::Rows("a part of the index is as long as another".to_owned()))?;
        parts.into_iter().map(|part| parsed(part).map_err(Error::from)).collect()
    }
}

fn parsed(bytes: &[u8]) -> Result<Block, Flaw> {
    serde_json::from_slice(bytes).map_err(|error| Flaw::Rows(format!("a block of the index: {error}")))
}

/// Writes a segment.
struct SegmentWriter<'a> {
    index: &'a Connection,
    blocks: &'a Blocks,
    segment: i64,
    open: Block,
    length: usize,
    /// The blocks of the sheaf that is not written yet, each with its first word.
    sheaf: Vec<(String, Vec<u8>)>,
    documents: HashSet<i64>,
}

impl<'a> SegmentWriter<'a> {
    fn begin(index: &'a Connection, blocks: &'a Blocks) -> Result<Self, Error> {
        let sql = "SELECT coalesce(max(id), 0) + 1 FROM segment";
        let segment = index.query_one(sql, [], |row| row.get(0)).map_err(judge("number a segment"))?;
        let (open, sheaf, documents) = (Block::new(), Vec::new(), HashSet::new());
        Ok(Self { index, blocks, segment, open, length: 0, sheaf, documents })
    }

    /// Adds a word that comes after all others.
    fn add(&mut self, word: String, postings: Postings) -> Result<(), Error> {
        let Postings(private, public) = &postings;
        self.documents.extend(private.1.iter().map(|(id, _)| *id));
        self.documents.extend(public.1.iter().map(|(id, _)| *id + PUBLIC));
        self.length += word.len() + 16 + 10 * (private.1.len() + public.1.len());
        self.open.insert(word, postings);
        if self.length >= BLOCK { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), Error> {
        let block = std::mem::take(&mut self.open);
        let Some(first) = block.keys().next().cloned() else { return Ok(()) };
        self.sheaf.push((first, serde_json::to_vec(&block).map_err(io::Error::from)?));
        self.length = 0;
        if self.sheaf.len() >= SHEAF { self.bind() } else { Ok(()) }
    }

    /// Writes the open sheaf.
    fn bind(&mut self) -> Result<(), Error> {
        let sheaf = std::mem::take(&mut self.sheaf);
        let parts: Vec<&[u8]> = sheaf.iter().map(|(_, block)| block.as_slice()).collect();
        let Some((first, _)) = sheaf.first() else { return Ok(()) };
        let name = self.blocks.put(&parts.concat())?.hash();
        let lengths = part::lengths(&parts)?.into_iter();
        let notes = sheaf
            .iter()
            .zip(lengths)
            .map(|((first, _), (packed, bytes))| BlockNote(first.clone(), packed, bytes));
        let notes = serde_json::to_string(&notes.collect::<Vec<_>>()).map_err(io::Error::from)?;
        let row = params![self.segment, first, name.as_bytes(), notes];
        let sql = "INSERT INTO sheaf VALUES (?1, ?2, ?3, ?4)";
        let inserted = self.index.prepare_cached(sql).and_then(|mut insert| insert.execute(row));
        inserted.map(drop).map_err(judge("note a part of the search index"))
    }

    fn end(mut self) -> Result<(), Error> {
        self.close()?;
        self.bind()?;
        let row = params![self.segment, i64::try_from(self.documents.len()).unwrap_or(i64::MAX)];
        let noted = self.index.execute("INSERT INTO segment VALUES (?1, ?2)", row);
        noted.map(drop).map_err(judge("note a segment"))
    }
}

/// Writes a segment of some documents.
pub(super) fn write(index: &Connection, blocks: &Blocks, documents: &[(i64, Document)]) -> Result<(), Error> {
    if documents.is_empty() {
        return Ok(());
    }
    let fail = judge("cut words for the search index");
    let before = index.query_one("SELECT documents, words FROM measure", [], |row| {
        Ok(ReadSoFar { documents: row.get(0)?, words: row.get(1)? })
    });
    let (words, read) = impacts(documents, before.map_err(&fail)?).map_err(&fail)?;
    let noted =
        index.execute("UPDATE measure SET documents = ?1, words = ?2", params![read.documents, read.words]);
    noted.map_err(fail)?;
    let mut writer = SegmentWriter::begin(index, blocks)?;
    for (word, ids) in words {
        let mut postings = Postings::default();
        for (id, impact) in ids.into_iter().rev() {
            let (list, id) =
                if id >= PUBLIC { (&mut postings.1, id - PUBLIC) } else { (&mut postings.0, id) };
            list.0 += 1;
            if list.1.len() < COMMON {
                list.1.push((id, impact));
            }
        }
        writer.add(word, postings)?;
    }
    writer.end()
}

/// Makes segments of about the same size into one, where there are several.
pub(super) fn compact(index: &Connection, blocks: &Blocks, fetch: Fetch<'_>) -> Result<(), Error> {
    loop {
        let mut tiers: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for (segment, documents) in segments(index)? {
            tiers.entry(documents.max(1).ilog(FEW)).or_default().push(segment);
        }
        let Some(many) = tiers.into_values().find(|segments| segments.len() >= FEW as usize) else {
            return Ok(());
        };
        merge(index, blocks, &many, fetch)?;
    }
}

/// Makes all segments into one, in which nothing is left of sessions that are gone.
pub(super) fn merge_all(index: &Connection, blocks: &Blocks, fetch: Fetch<'_>) -> Result<(), Error> {
    let all: Vec<i64> = segments(index)?.into_iter().map(|(segment, _)| segment).collect();
    merge(index, blocks, &all, fetch)
}

fn segments(index: &Connection) -> Result<Vec<(i64, u32)>, Error> {
    let fail = judge("read the segments of the search index");
    let mut statement = index.prepare("SELECT id, documents FROM segment ORDER BY id").map_err(&fail)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(&fail)?;
    rows.collect::<rusqlite::Result<_>>().map_err(fail)
}

/// Returns all sheaves of the index, or of one segment, in order.
pub(super) fn sheaves(index: &Connection, segment: Option<i64>) -> Result<Vec<Sheaf>, Error> {
    let fail = judge("read what the search index consists of");
    let sql = "SELECT name, blocks FROM sheaf WHERE segment = ?1 OR ?1 IS NULL ORDER BY segment, first";
    let mut statement = index.prepare(sql).map_err(&fail)?;
    let rows = statement.query_map([segment], Sheaf::from_row).map_err(&fail)?;
    rows.collect::<rusqlite::Result<_>>().map_err(fail)
}

fn merge(index: &Connection, blocks: &Blocks, old: &[i64], fetch: Fetch<'_>) -> Result<(), Error> {
    let fail = judge("put segments of the search index together");
    let mut streams = Vec::new();
    for segment in old {
        let sheaves = sheaves(index, Some(*segment))?;
        blocks.bring(&sheaves.iter().map(|sheaf| sheaf.name.hash()).collect(), fetch)?;
        streams.push(Stream {
            blocks,
            sheaves: sheaves.into_iter(),
            words: Vec::new().into_iter().flatten(),
        });
    }
    let mut statement = index.prepare("SELECT id FROM document").map_err(&fail)?;
    let alive = statement.query_map([], |row| row.get(0)).map_err(&fail)?;
    let alive: HashSet<i64> = alive.collect::<rusqlite::Result<_>>().map_err(&fail)?;
    let transaction = index.unchecked_transaction().map_err(&fail)?;
    let mut writer = SegmentWriter::begin(index, blocks)?;
    let mut heads =
        streams.iter_mut().map(|stream| stream.next().transpose()).collect::<Result<Vec<_>, _>>()?;
    while let Some(word) = heads.iter().flatten().map(|(word, _)| word).min().cloned() {
        let mut together = Postings::default();
        for (head, stream) in heads.iter_mut().zip(&mut streams) {
            if head.as_ref().is_none_or(|(next, _)| *next != word) {
                continue;
            }
            if let Some((_, mut postings)) = std::mem::replace(head, stream.next().transpose()?) {
                postings.0.retain(|id| alive.contains(&id));
                postings.1.retain(|id| alive.contains(&(id + PUBLIC)));
                together.0.add(&postings.0);
                together.1.add(&postings.1);
            }
        }
        if together.0.0 + together.1.0 > 0 {
            writer.add(word, together)?;
        }
    }
    writer.end()?;
    for segment in old {
        index.execute("DELETE FROM sheaf WHERE segment = ?1", [segment]).map_err(&fail)?;
        index.execute("DELETE FROM segment WHERE id = ?1", [segment]).map_err(&fail)?;
    }
    transaction.commit().map_err(fail)
}

/// Leaves a sheaf out of the index.
pub(super) fn lose(index: &Connection, name: ObjectName) -> Result<(), Error> {
    let done = index.execute("DELETE FROM sheaf WHERE name = ?1", [name.hash().as_bytes()]);
    done.map(drop).map_err(judge("leave a part out of the search index"))
}

/// The words of a segment in their order, one sheaf in memory.
struct Stream<'a> {
    blocks: &'a Blocks,
    sheaves: std::vec::IntoIter<Sheaf>,
    words: std::iter::Flatten<std::vec::IntoIter<Block>>,
}

impl Iterator for Stream<'_> {
    type Item = Result<(String, Postings), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(word) = self.words.next() {
                return Some(Ok(word));
            }
            match self.blocks.sheaf(&self.sheaves.next()?) {
                Ok(blocks) => self.words = blocks.into_iter().flatten(),
                // Its words are lost until their sessions are read again; without it the others would be lost too.
                Err(Error::Flawed(why)) => tracing::warn!("a part of the search index is lost: {why}"),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;

    #[test]
    fn a_sheaf_that_is_lost_costs_its_words_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let index = Index::open(&path).unwrap();
        let connection = Connection::open(&path).unwrap();
        let blocks = Blocks::beside(&path);
        for id in 0..4_i64 {
            let row = params![id, format!("ses_{id}"), "", 0];
            connection.execute("INSERT INTO document VALUES (?1, ?2, ?3, ?4, NULL)", row).unwrap();
            let mut writer = SegmentWriter::begin(&connection, &blocks).unwrap();
            writer
                .add(format!("word{id}"), Postings(WordHolders(1, vec![(id, 1)]), WordHolders::default()))
                .unwrap();
            writer.end().unwrap();
        }
        let lost = sheaves(&connection, None).unwrap()[1].name;
        fs_err::remove_file(blocks.0.join(lost.to_string())).unwrap();
        index.compact(&|_| Ok(HashMap::new())).unwrap();

        let left = sheaves(&connection, None).unwrap();
        let words: Vec<String> =
            left.iter().flat_map(|sheaf| blocks.sheaf(sheaf).unwrap()).flat_map(Block::into_keys).collect();
        assert_eq!(words, ["word0", "word2", "word3"]);
    }

    #[test]
    fn blocks_are_read_out_of_their_sheaves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        drop(Index::open(&path).unwrap());
        let (connection, blocks) = (Connection::open(&path).unwrap(), Blocks::beside(&path));
        let mut writer = SegmentWriter::begin(&connection, &blocks).unwrap();
        let postings = |id: i64| Postings(WordHolders(1, vec![(id, 1)]), WordHolders::default());
        for id in 0..20_000_i64 {
            writer.add(format!("word{id:05}"), postings(id)).unwrap();
        }
        writer.end().unwrap();
        let sheaves = sheaves(&connection, None).unwrap();
        assert!(sheaves.len() > 2 && sheaves[0].blocks.len() == SHEAF, "{}", sheaves.len());
        let read = |place: &ChunkPart| blocks.block(place).unwrap().0;
        let one_by_one: Vec<Block> =
            sheaves.iter().flat_map(Sheaf::places).map(|place| read(&place)).collect();
        assert_eq!(one_by_one.iter().map(BTreeMap::len).sum::<usize>(), 20_000);
        let whole: Vec<Block> = sheaves.iter().flat_map(|sheaf| blocks.sheaf(sheaf).unwrap()).collect();
        assert_eq!(one_by_one, whole);
    }
}
