//! Looks words up: finds the blocks that have them, fetches those that are not here, all at once, and reads them.

use std::{
    cell::{Cell, RefCell},
    cmp::Reverse,
    collections::{HashMap, HashSet},
    rc::Rc,
};

use fro_core::remembered::Audience;
use rusqlite::{Connection, params};

use super::{
    PUBLIC,
    segment::{Block, Blocks, COMMON, FetchBlocks, Postings, Sheaf, WordHolders},
    tokens::tokens,
    words::Key,
};
use crate::{database::judge, error::Error, snapshot::part::ChunkPart};

/// So many more blocks of a segment are looked through for words that begin alike.
const ALIKE_BLOCKS: usize = 3;

/// The words of an index, for those who may hear them.
pub(super) struct Lexicon<'a> {
    pub(super) index: &'a Connection,
    blocks: &'a Blocks,
    fetch: FetchBlocks<'a>,
    audience: Audience,
    /// Counts what was read: blocks, and sessions of words.
    pub(super) rows: &'a Cell<u64>,
    bytes: &'a Cell<u64>,
    known: RefCell<HashMap<Key, Rc<WordHolders>>>,
}

impl<'a> Lexicon<'a> {
    pub(super) fn new(
        (index, blocks): (&'a Connection, &'a Blocks),
        fetch: FetchBlocks<'a>,
        audience: Audience,
        (rows, bytes): (&'a Cell<u64>, &'a Cell<u64>),
    ) -> Self {
        Self { index, blocks, fetch, audience, rows, bytes, known: RefCell::default() }
    }

    /// Looks up words, so that `holders` knows them.
    pub(super) fn look_up(&self, keys: &[Key]) -> Result<(), Error> {
        let new: Vec<&Key> = {
            let known = self.known.borrow();
            keys.iter().filter(|key| !known.contains_key(*key)).collect()
        };
        let texts: Vec<&str> = new.iter().map(|key| key.text()).collect();
        let words = tokens(&texts).map_err(judge("cut the words of a question"))?;
        let mut wanted: HashMap<ChunkPart, Vec<usize>> = HashMap::new();
        let mut sought: Vec<Option<Key>> = Vec::new();
        for (number, (key, word)) in new.iter().zip(words).enumerate() {
            let key = word.map(|word| key.with(word));
            let places = key.as_ref().map_or_else(|| Ok(Vec::new()), |key| self.places(key));
            for place in places.map_err(judge("find words in the search index"))? {
                wanted.entry(place).or_default().push(number);
            }
            sought.push(key);
        }
        self.blocks.bring_blocks(&wanted.keys().copied().collect::<HashSet<_>>(), self.fetch)?;
        let mut found = vec![WordHolders::default(); new.len()];
        for (place, numbers) in &wanted {
            let Some(block) = self.block(place) else { continue };
            for number in numbers {
                if let Some(key) = &sought[*number] {
                    self.read_block(&block, key, &mut found[*number]);
                }
            }
        }
        let mut known = self.known.borrow_mut();
        for (key, holders) in new.into_iter().zip(found) {
            self.read(holders.1.len());
            known.insert(key.clone(), Rc::new(holders));
        }
        Ok(())
    }

    /// Returns the sessions with a word that was looked up.
    pub(super) fn holders(&self, key: &Key) -> Rc<WordHolders> {
        self.known.borrow().get(key).map(Rc::clone).unwrap_or_default()
    }

    /// Returns the blocks that may have a word, at most one in each segment, or a few.
    fn places(&self, key: &Key) -> rusqlite::Result<Vec<ChunkPart>> {
        let mut places = Vec::new();
        let mut segments = self.index.prepare_cached("SELECT id FROM segment")?;
        let segments = segments.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
        // Words that begin alike may stand in the sheaf after the first too, and in no other: they are fewer than a sheaf.
        let sql = "SELECT name, blocks FROM sheaf WHERE segment = ?1 AND first >= coalesce(                    (SELECT max(first) FROM sheaf WHERE segment = ?1 AND first <= ?2), '') ORDER BY first LIMIT 2";
        let mut sheaves = self.index.prepare_cached(sql)?;
        let from = key.beginning().unwrap_or(key.text());
        for segment in segments {
            let sheaves = sheaves.query_map(params![segment, from], Sheaf::from_row)?;
            let sheaves = sheaves.collect::<rusqlite::Result<Vec<_>>>()?;
            let blocks =
                sheaves.iter().flat_map(|sheaf| sheaf.blocks.iter().map(|note| &note.0).zip(sheaf.places()));
            let blocks: Vec<(&String, ChunkPart)> = blocks.collect();
            let after = blocks.partition_point(|(first, _)| first.as_str() <= from);
            places.extend(after.checked_sub(1).map(|at| blocks[at].1));
            if let Some(text) = key.beginning() {
                let alike = blocks[after..].iter().take_while(|(first, _)| first.starts_with(text));
                places.extend(alike.take(ALIKE_BLOCKS).map(|(_, place)| *place));
            }
        }
        Ok(places)
    }

    /// Reads a block; one that is lost has no words.
    fn block(&self, place: &ChunkPart) -> Option<Block> {
        self.read(1);
        let block = self.blocks.block(place).map(|(block, length)| {
            self.bytes.set(self.bytes.get() + length as u64);
            block
        });
        let tell =
            |error: &Error| tracing::warn!("a part of the search index cannot be read: {}", error.story());
        block.inspect_err(tell).ok()
    }

    /// Adds what a block has of a word.
    fn read_block(&self, block: &Block, key: &Key, holders: &mut WordHolders) {
        let mut hear = |postings: &Postings| self.hear(&postings.0, &postings.1, holders);
        match key.beginning() {
            None => block.get(key.text()).into_iter().for_each(hear),
            Some(text) => {
                let alike = block.range(text.to_owned()..).take_while(|(word, _)| word.starts_with(text));
                alike.filter(|(word, _)| key.is(word)).for_each(|(_, postings)| hear(postings));
            }
        }
    }

    fn hear(&self, private: &WordHolders, public: &WordHolders, into: &mut WordHolders) {
        hear(self.audience, private, public, into);
    }

    fn read(&self, rows: usize) {
        self.rows.set(self.rows.get() + rows as u64);
    }
}

/// Takes in the sessions of a segment that may be heard.
fn hear(audience: Audience, private: &WordHolders, public: &WordHolders, into: &mut WordHolders) {
    let public = WordHolders(public.0, public.1.iter().map(|(id, impact)| (id + PUBLIC, *impact)).collect());
    match audience {
        Audience::Everyone => into.add(&public),
        Audience::Insiders => {
            // Of a common word as many of one kind are kept as of the other; public numbers are the higher ones.
            let mut open = [public.1, private.1.clone(), std::mem::take(&mut into.1)].concat();
            open.sort_unstable_by_key(|(id, _)| Reverse(*id));
            let mut closed = open.split_off(open.partition_point(|(id, _)| *id >= PUBLIC));
            open.truncate(COMMON);
            closed.truncate(COMMON);
            let all = into.0.saturating_add(public.0).saturating_add(private.0);
            *into = WordHolders(all, [open, closed].concat());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_word_of_many_segments_leaves_room_for_sessions_of_both_kinds() {
        let holders = |from: i64| WordHolders(300, (from..from + 256).rev().map(|id| (id, 1)).collect());
        let mut heard = WordHolders::default();
        for segment in 0..3 {
            hear(Audience::Insiders, &holders(segment * 300), &holders(segment * 300), &mut heard);
        }
        let (open, closed): (Vec<i64>, Vec<i64>) =
            heard.1.iter().map(|(id, _)| *id).partition(|id| *id >= PUBLIC);
        assert_eq!((heard.0, open.len(), closed.len()), (1_800, COMMON, COMMON));
        assert_eq!((open[0] - PUBLIC, closed[0]), (855, 855), "the newest come first");

        let mut public = WordHolders::default();
        hear(Audience::Everyone, &holders(0), &holders(300), &mut public);
        assert!(public.1.iter().all(|(id, _)| *id >= PUBLIC), "the public hears nothing private");
    }
}
