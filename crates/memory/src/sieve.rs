//! Tells whether a text has one of many needles in it, by a look at every fourth byte.
//!
//! Four bytes that begin at a multiple of four are a block. Wherever a needle stands, one of its first four groups of
//! four bytes is a block of the text. So only the blocks are looked up, and a needle is compared where one is known. How
//! many needles there are makes no difference, which cannot be said of an automaton.

use std::collections::HashMap;

const BLOCK: usize = 4;

/// So much of a needle has a block in it wherever it stands.
const WINDOW: usize = 2 * BLOCK - 1;

/// Known blocks are told from most others by so many bits of a product.
const BITS: u32 = 17;
const WORDS: usize = 1 << (BITS - u64::BITS.ilog2());

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Sieve {
    needles: Vec<Vec<u8>>,
    /// A bit for each product, set if a block of a needle has it.
    known: Box<[u64; WORDS]>,
    /// Where a block stands: in which needle, and how many bytes after its beginning.
    places: HashMap<[u8; BLOCK], Vec<(usize, usize)>>,
}

impl Sieve {
    /// Learns needles, which must not be shorter than a window.
    pub(crate) fn learn(needles: Vec<Vec<u8>>) -> Self {
        let mut known = Box::new([0; WORDS]);
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        for (number, needle) in needles.iter().enumerate() {
            let start = telling(needle);
            for at in start..start + BLOCK {
                let block = std::array::from_fn(|byte| needle[at + byte]);
                let (word, bit) = spot(block);
                known[word] |= bit;
                places.entry(block).or_default().push((number, at));
            }
        }
        Self { needles, known, places }
    }

    /// Tells whether a needle stands in the text.
    pub(crate) fn finds_in(&self, text: &[u8]) -> bool {
        if self.needles.is_empty() {
            return false;
        }
        let (blocks, _) = text.as_chunks::<BLOCK>();
        blocks.iter().enumerate().any(|(number, block)| {
            let (word, bit) = spot(*block);
            self.known[word] & bit != 0 && self.stands_at(text, number * BLOCK, *block)
        })
    }

    fn stands_at(&self, text: &[u8], at: usize, block: [u8; BLOCK]) -> bool {
        self.places.get(&block).into_iter().flatten().any(|(needle, before)| {
            at.checked_sub(*before).is_some_and(|start| text[start..].starts_with(&self.needles[*needle]))
        })
    }
}

/// Returns the word and the bit of a block.
fn spot(block: [u8; BLOCK]) -> (usize, u64) {
    let product = u32::from_le_bytes(block).wrapping_mul(0x9e37_79b1) >> (u32::BITS - BITS);
    (product as usize / 64, 1 << (product % 64))
}

/// Returns where the window begins that has the most different bytes: a row of dashes is found all too often.
fn telling(needle: &[u8]) -> usize {
    let different = |window: &[u8]| {
        let mut bytes = window.to_vec();
        bytes.sort_unstable();
        bytes.dedup();
        bytes.len()
    };
    let windows = needle.windows(WINDOW).enumerate().rev();
    windows.max_by_key(|(_, window)| different(window)).map_or(0, |(start, _)| start)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn naive(needles: &[Vec<u8>], text: &[u8]) -> bool {
        needles.iter().any(|needle| text.windows(needle.len()).any(|window| window == needle))
    }

    proptest! {
        /// Few letters, so that needles nearly stand there, and often do.
        #[test]
        fn it_finds_what_a_plain_search_finds(
            needles in vec(vec(b'a'..b'd', WINDOW..12), 1..40),
            text in vec(b'a'..b'd', 0..400),
        ) {
            let sieve = Sieve::learn(needles.clone());
            prop_assert_eq!(sieve.finds_in(&text), naive(&needles, &text));
        }

        #[test]
        fn a_needle_is_found_wherever_it_stands(
            needles in vec(vec(any::<u8>(), WINDOW..60), 1..20),
            before in vec(any::<u8>(), 0..50),
            after in vec(any::<u8>(), 0..50),
        ) {
            let sieve = Sieve::learn(needles.clone());
            for needle in &needles {
                prop_assert!(sieve.finds_in(&[&before[..], needle, &after].concat()));
            }
        }
    }
}
