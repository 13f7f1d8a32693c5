//! How alike two wordings of a finding are, from 0 to 1,000, with nothing but the two texts.
//!
//! Three views of a text are compared and averaged: its words (early and telling ones count more), which words stand
//! near each other, and runs of four characters. Two findings in one pull request share its vocabulary; what they do
//! not share is which words go together, so that view separates best. Where both say which value became which, and not
//! the same, they tell of two things however alike they are. All arithmetic is in integers: the same pair has the same
//! likeness on every machine.

mod values;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use values::ValueChange;
use words::{Word, words};

/// From this likeness on, two wordings tell of the same thing.
///
/// Set on one half of labelled pairs, for few wrong matches rather than for few missed ones: a lost finding is worse
/// than one that is said twice.
pub const ALIKE: u64 = 278;

/// How many words further on a word still has a neighbour.
const NEAR: usize = 3;
/// The length of the runs of characters.
const RUN: usize = 4;

/// A text, read once to be compared often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    words: BTreeMap<String, u64>,
    pairs: BTreeSet<(String, String)>,
    runs: BTreeMap<Vec<char>, u64>,
    names: BTreeSet<String>,
    change: Option<ValueChange>,
    bare: String,
}

impl Wording {
    /// Reads a text.
    pub fn new(text: &str) -> Self {
        let words = words(text);
        let bare = bare(text);
        Self {
            words: weighed(&words),
            pairs: pairs(&words),
            runs: runs(&bare),
            names: names(&words),
            change: ValueChange::read(text),
            bare,
        }
    }

    /// Returns how alike two wordings are: 1,000 if they are the same but for case and punctuation.
    pub fn likeness(&self, other: &Self) -> u64 {
        if self.bare == other.bare && !self.bare.trim().is_empty() {
            return 1_000;
        }
        let words = cosine(&self.words, &other.words);
        let shared = self.pairs.intersection(&other.pairs).count() as u64;
        let near = angle(shared, self.pairs.len() as u64, other.pairs.len() as u64);
        let runs = cosine(&self.runs, &other.runs);
        // The root stretches the low end: a single shared pair of neighbours already says much.
        let likeness = (35 * words + 35 * (near * 1_000).isqrt() + 30 * runs) / 100;
        if self.tells_another_change(other) { likeness.min(ALIKE - 1) } else { likeness }
    }

    /// Tells whether both say which value became which, and not the same.
    fn tells_another_change(&self, other: &Self) -> bool {
        self.change.is_some() && other.change.is_some() && self.change != other.change
    }

    /// Tells whether both name something in the code, and one thing at least is the same.
    pub fn shares_a_name(&self, other: &Self) -> bool {
        !self.names.is_disjoint(&other.names)
    }
}

/// Returns the words with their weights: the beginning of a finding says what it is about, the rest what follows.
fn weighed(words: &[Word]) -> BTreeMap<String, u64> {
    let mut weights = BTreeMap::new();
    for (at, word) in words.iter().enumerate() {
        let place = match at {
            0..8 => 10,
            8..16 => 7,
            _ => 5,
        };
        let weight = if word.telling { place * 10 } else { place * 6 };
        let known: &mut u64 = weights.entry(word.stem.clone()).or_default();
        *known = weight.max(*known);
    }
    weights
}

/// Returns which words stand near each other, whatever their order.
fn pairs(words: &[Word]) -> BTreeSet<(String, String)> {
    let near = |at: usize| words[at + 1..].iter().take(NEAR).map(move |other| (&words[at].stem, &other.stem));
    let ordered = |(a, b): (&String, &String)| (a.min(b).clone(), a.max(b).clone());
    (0..words.len()).flat_map(near).map(ordered).collect()
}

fn names(words: &[Word]) -> BTreeSet<String> {
    words.iter().filter(|word| word.name).map(|word| word.stem.clone()).collect()
}

/// Returns the letters and digits in lower case, everything between them as one space.
fn bare(text: &str) -> String {
    let mut bare = " ".to_owned();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() || c == '_' {
            bare.push(c);
        } else if !bare.ends_with(' ') {
            bare.push(' ');
        }
    }
    if !bare.ends_with(' ') {
        bare.push(' ');
    }
    bare
}

fn runs(bare: &str) -> BTreeMap<Vec<char>, u64> {
    let chars: Vec<char> = bare.chars().collect();
    let mut runs = BTreeMap::new();
    for run in chars.windows(RUN) {
        *runs.entry(run.to_vec()).or_default() += 1;
    }
    runs
}

/// Returns the cosine of the angle between two sets of weights, in thousandths.
fn cosine<K: Ord>(a: &BTreeMap<K, u64>, b: &BTreeMap<K, u64>) -> u64 {
    let product = a.iter().filter_map(|(key, weight)| b.get(key).map(|other| weight * other)).sum();
    let square = |weights: &BTreeMap<K, u64>| weights.values().map(|weight| weight * weight).sum();
    angle(product, square(a), square(b))
}

/// Returns `product / √(a·b)` in thousandths; nothing is like nothing.
fn angle(product: u64, a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 {
        return 0;
    }
    let product = u128::from(product);
    let square = product * product * 1_000_000 / (u128::from(a) * u128::from(b));
    u64::try_from(square.isqrt()).unwrap_or(u64::MAX).min(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(a: &str, b: &str) -> u64 {
        Wording::new(a).likeness(&Wording::new(b))
    }

    #[test]
    fn case_and_punctuation_make_no_difference() {
        assert_eq!(likeness("`tap` leaks.", "Tap leaks"), 1_000);
        assert_eq!(likeness("Кран течёт!", "кран течёт"), 1_000);
    }

    #[test]
    fn nothing_is_like_nothing() {
        assert_eq!(likeness("", ""), 0);
        assert_eq!(likeness("???", "!!!"), 0);
        assert_eq!(likeness("", "The tap leaks"), 0);
    }

    #[test]
    fn likeness_is_mutual() {
        let (a, b) = ("`hose` is never closed on error", "On error the hose stays open");
        assert_eq!(likeness(a, b), likeness(b, a));
    }

    #[test]
    fn the_same_words_about_other_values_are_not_the_same() {
        let lightness = |from, to| format!("The lightness of the link was {from}% and is now {to}%");
        let (one, other) = (lightness(30, 70), lightness(70, 30));
        assert_eq!(likeness(&one, &one), 1_000);
        assert_eq!(likeness(&one, &other), ALIKE - 1);
        assert_eq!(likeness(&one, &lightness(30, 50)), ALIKE - 1);
        let again = "The link's lightness changed from 30% to 70%";
        assert!(likeness(&one, again) >= ALIKE, "{}", likeness(&one, again));
        assert!(likeness(&other, again) < ALIKE);
    }

    #[test]
    fn other_words_for_the_same_are_alike_and_the_same_words_for_another_are_not() {
        let leak = "`openValve` never closes the hose when `drain` throws, so the hose leaks";
        assert!(likeness(leak, "The hose leaks: if `drain` throws, `openValve` does not close it") >= ALIKE);
        assert!(likeness(leak, "`openValve` opens before the pressure was checked") < ALIKE);
    }
}
