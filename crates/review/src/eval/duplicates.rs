//! Repeats of a finding: labelled pairs of wordings, and how many are told right.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{BadData, lines, thousandths};
use crate::wording::{ALIKE, Wording};

/// The least precision, in thousandths.
pub const PRECISION: usize = 920;
/// The least F1, in thousandths.
pub const F1: usize = 900;

/// Two wordings, and whether they tell of the same thing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Pair {
    /// One wording.
    pub a: String,
    /// The other.
    pub b: String,
    /// Whether they tell of the same thing.
    pub same: bool,
}

/// How many pairs were told right and wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// Repeats that were found.
    pub found: usize,
    /// Pairs that were taken for repeats and are none.
    pub mistaken: usize,
    /// Repeats that were missed.
    pub missed: usize,
    /// Pairs that were told apart.
    pub apart: usize,
}

impl PairCounts {
    /// Compares the wordings of every pair.
    pub fn by_likeness(pairs: &[Pair]) -> Self {
        let mut wordings: BTreeMap<&str, Wording> = BTreeMap::new();
        for text in pairs.iter().flat_map(|pair| [&pair.a, &pair.b]) {
            wordings.entry(text).or_insert_with(|| Wording::new(text));
        }
        let mut told = Self::default();
        for pair in pairs {
            let alike = wordings[pair.a.as_str()].likeness(&wordings[pair.b.as_str()]) >= ALIKE;
            let count = match (alike, pair.same) {
                (true, true) => &mut told.found,
                (true, false) => &mut told.mistaken,
                (false, true) => &mut told.missed,
                (false, false) => &mut told.apart,
            };
            *count += 1;
        }
        told
    }

    /// Returns how many of what was taken for repeats are repeats, in thousandths.
    pub fn precision(&self) -> usize {
        thousandths(self.found, self.found + self.mistaken)
    }

    /// Returns how many of the repeats were found, in thousandths.
    pub fn recall(&self) -> usize {
        thousandths(self.found, self.found + self.missed)
    }

    /// Returns the harmonic mean of both, in thousandths.
    pub fn f1(&self) -> usize {
        thousandths(2 * self.found, 2 * self.found + self.mistaken + self.missed)
    }

    /// Tells whether it is good enough.
    pub fn passes(&self) -> bool {
        let pairs = self.found + self.mistaken + self.missed + self.apart;
        pairs > 0 && self.precision() >= PRECISION && self.f1() >= F1
    }
}

/// Reads pairs, one a line.
pub fn read(text: &str) -> Result<Vec<Pair>, BadData> {
    lines(text)
}

/// Splits pairs into two halves that share no wording, always in the same way.
///
/// Wordings that stand in a pair belong together, and so does whatever is paired with either of them: a half that
/// was tuned on has seen nothing of the other.
pub fn halves(pairs: &[Pair]) -> [Vec<Pair>; 2] {
    let mut parents: BTreeMap<&str, &str> = BTreeMap::new();
    for pair in pairs {
        let (a, b) = (first(&mut parents, &pair.a), first(&mut parents, &pair.b));
        // The smallest wording stands for all of them.
        parents.insert(a.max(b), a.min(b));
    }
    let mut halves = [Vec::new(), Vec::new()];
    for pair in pairs {
        let half = usize::from(fnv(first(&mut parents, &pair.a)) % 2 == 1);
        halves[half].push(pair.clone());
    }
    halves
}

fn first<'a>(parents: &mut BTreeMap<&'a str, &'a str>, text: &'a str) -> &'a str {
    let mut at = text;
    while let Some(parent) = parents.get(at).filter(|parent| **parent != at) {
        at = parent;
    }
    parents.insert(text, at);
    at
}

/// FNV-1a: any even split will do, as long as it is the same everywhere.
fn fnv(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: &str, b: &str) -> Pair {
        Pair { a: a.to_owned(), b: b.to_owned(), same: false }
    }

    #[test]
    fn the_halves_share_no_wording() {
        let pairs: Vec<Pair> = (0..60).map(|at| pair(&format!("a{}", at / 3), &format!("b{at}"))).collect();
        let [one, other] = halves(&pairs);
        assert!(one.len() > 10 && other.len() > 10, "{} {}", one.len(), other.len());
        assert_eq!(one.len() + other.len(), pairs.len());
        assert!(one.iter().all(|pair| other.iter().all(|far| far.a != pair.a && far.b != pair.b)));
    }

    #[test]
    fn the_figures_are_the_usual_ones() {
        let told = PairCounts { found: 90, mistaken: 10, missed: 30, apart: 70 };
        assert_eq!((told.precision(), told.recall(), told.f1()), (900, 750, 818));
        assert!(!told.passes());
        assert!(!PairCounts::default().passes(), "nothing is not good enough");
        assert!(PairCounts { found: 92, mistaken: 8, missed: 12, apart: 0 }.passes());
        assert!(!PairCounts { found: 91, mistaken: 9, missed: 0, apart: 0 }.passes());
    }
}
