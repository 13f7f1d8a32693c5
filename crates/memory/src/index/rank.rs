//! Which sessions a question is about: BM25 per session, rare words first, within a budget of rows.
//!
//! What it costs does not grow with the memory. A word that stands in very many sessions says little, so of those only
//! the newest are looked at.

use std::{cmp::Ordering, collections::HashMap};

use rusqlite::OptionalExtension as _;

use super::{
    lexicon::Lexicon,
    words::{Key, Term, terms},
};
use crate::{database::judge, error::Error};

/// So many words of a question are looked for, and so many with those around them.
const OWN: usize = 24;
const WORDS: usize = 40;

/// So many of those are left to the last text around a question, the names of files: a long description leaves none.
const FILES: usize = 8;

/// A word in more sessions is a common one: only the newest of them count.
const COMMON: u32 = 256;

/// So many rows are ranked for one question.
const BUDGET: usize = 6_000;

/// What other forms of a word, and other words for the same, count beside the word itself.
const AKIN: f64 = 0.8;

/// What a word counts that is written almost like one of the question, and in how many of its words slips are looked for.
const SLIP: f64 = 0.6;
const SLIPS: usize = 4;

/// What the words count that stand around those of the question, and those of its files.
const AROUND: f64 = 0.75;

/// So many sessions are compared by how long ago they were.
const CLOSE: usize = 64;

/// What the newest session has before one of a year ago, as a share of what it has.
const RECENT: f64 = 0.05;

/// A day, in milliseconds.
const DAY: f64 = 86_400_000.0;

/// A session that was found.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) document: i64,
    pub(super) score: f64,
    /// The words that it was found by, those that count most first.
    pub(super) words: Vec<String>,
}

/// A word with its weight, and in how many sessions it stands.
struct WeighedWord {
    term: Term,
    weight: f64,
    sessions: u32,
}

/// A search through one index.
pub(super) struct Ranking<'a> {
    pub(super) lexicon: Lexicon<'a>,
    /// How many sessions there are.
    pub(super) documents: u32,
}

/// Returns the words of a question, those that are asked for before those around them, with their weights.
pub(super) fn weighed(words: &str, around: &[&str]) -> Vec<(Term, f64)> {
    let mut own = terms(words);
    // In a long text the names say more than the prose; its beginning, where a title stands, says most.
    let beginning = own.len().min(OWN / 2);
    own[beginning..].sort_by_key(|term| !term.is_name);
    own.truncate(OWN);
    let mut all: Vec<(Term, f64)> = own.into_iter().map(|term| (term, 1.0)).collect();
    for (number, text) in around.iter().enumerate() {
        let most = if number + 1 == around.len() { WORDS } else { WORDS - FILES };
        for term in terms(text) {
            if all.len() < most && !all.iter().any(|(known, _)| known.word == term.word) {
                all.push((term, AROUND));
            }
        }
    }
    all
}

impl Ranking<'_> {
    /// Returns the sessions with some of these words, the best first.
    pub(super) fn rank(&self, words: Vec<(Term, f64)>) -> Result<Vec<Hit>, Error> {
        let keys = words.iter().flat_map(|(term, _)| std::iter::once(term.exact()).chain(term.akin()));
        self.lexicon.look_up(&keys.collect::<Vec<_>>())?;
        let weighed = words.into_iter().map(|(term, weight)| {
            let sessions = self.lexicon.holders(&term.exact()).0.min(COMMON);
            WeighedWord { term, weight, sessions }
        });
        let mut weighed: Vec<WeighedWord> = weighed.collect();
        weighed.sort_by_key(|weighed| weighed.sessions);
        let mut scores: HashMap<i64, Vec<(f64, usize)>> = HashMap::new();
        let (mut left, mut slips) = (BUDGET, SLIPS);
        for (number, word) in weighed.iter().enumerate() {
            for (document, score) in self.score(word, (&mut left, &mut slips))? {
                scores.entry(document).or_default().push((score * word.weight, number));
            }
        }
        let mut hits: Vec<Hit> =
            scores.into_iter().map(|(document, found)| hit(document, found, &weighed)).collect();
        hits.sort_by(better);
        self.prefer_recent(hits).map_err(judge("search the memory"))
    }

    /// Returns what each session has of a word.
    fn score(
        &self,
        word: &WeighedWord,
        (left, slips): (&mut usize, &mut usize),
    ) -> Result<HashMap<i64, f64>, Error> {
        let mut scores = self.matching(&[word.term.exact()], left);
        let mut akin = word.term.akin();
        if word.sessions == 0 {
            akin.extend(self.parts(&word.term)?);
        }
        for (document, score) in self.matching(&akin, left) {
            let known = scores.entry(document).or_default();
            *known = known.max(score * AKIN);
        }
        // What nobody ever wrote may be written wrongly: in the words that are asked for, not in those around them.
        let near = word.term.near();
        if scores.is_empty() && word.weight >= 1.0 && *slips > 0 && !near.is_empty() {
            *slips -= 1;
            self.lexicon.look_up(&near)?;
            let found = self.matching(&near, left).into_iter();
            scores.extend(found.map(|(document, score)| (document, score * SLIP)));
        }
        Ok(scores)
    }

    /// Returns the parts of a compound that the index knows.
    fn parts(&self, term: &Term) -> Result<Vec<Key>, Error> {
        let cuts = term.cuts();
        self.lexicon.look_up(&cuts.iter().map(|(tail, _)| tail.clone()).collect::<Vec<_>>())?;
        let is_known = |key: &Key| self.lexicon.holders(key).0 > 0;
        let cuts: Vec<_> = cuts.into_iter().filter(|(tail, _)| is_known(tail)).collect();
        self.lexicon.look_up(&cuts.iter().flat_map(|(_, heads)| heads.clone()).collect::<Vec<_>>())?;
        let whole =
            cuts.into_iter().filter_map(|(tail, heads)| Some((tail, heads.into_iter().find(is_known)?)));
        Ok(whole.flat_map(|(tail, head)| [tail, head]).collect())
    }

    /// Returns the newest sessions that have some of these words, with what they have of the best of them: a session
    /// that has three forms of one word is not more about it.
    fn matching(&self, keys: &[Key], left: &mut usize) -> HashMap<i64, f64> {
        let mut scores: HashMap<i64, f64> = HashMap::new();
        for key in keys {
            let holders = self.lexicon.holders(key);
            let rarity = self.rarity(holders.0);
            let mut here: HashMap<i64, f64> = HashMap::new();
            for (document, impact) in holders.1.iter().take(*left) {
                let best = here.entry(*document).or_default();
                *best = best.max(f64::from(*impact) * rarity);
            }
            *left -= holders.1.len().min(*left);
            for (document, score) in here {
                let best = scores.entry(document).or_default();
                *best = best.max(score);
            }
        }
        scores
    }

    /// Returns what a word says that stands in so many sessions.
    fn rarity(&self, sessions: u32) -> f64 {
        let (all, some) = (f64::from(self.documents), f64::from(sessions));
        (((all - some).max(0.0) + 0.5) / (some + 0.5)).ln_1p()
    }

    /// Leaves out sessions that are gone, and puts a newer one before an older one that is about as good.
    fn prefer_recent(&self, mut hits: Vec<Hit>) -> rusqlite::Result<Vec<Hit>> {
        let mut statement = self.lexicon.index.prepare_cached("SELECT last FROM document WHERE id = ?1")?;
        let mut close: Vec<(Hit, i64)> = Vec::new();
        let mut rest = hits.split_off(hits.len().min(CLOSE * 4));
        for hit in hits {
            self.lexicon.rows.set(self.lexicon.rows.get() + 1);
            match statement.query_one([hit.document], |row| row.get(0)).optional()? {
                Some(time) if close.len() < CLOSE => close.push((hit, time)),
                Some(_) => rest.push(hit),
                None => {}
            }
        }
        let newest = close.iter().map(|(_, time)| *time).max().unwrap_or_default();
        for (hit, time) in &mut close {
            #[expect(clippy::cast_precision_loss, reason = "a millisecond more or less does not matter")]
            let days = (newest - *time).max(0) as f64 / DAY;
            hit.score *= 1.0 + RECENT / (1.0 + days / 30.0);
        }
        let mut close: Vec<Hit> = close.into_iter().map(|(hit, _)| hit).collect();
        close.sort_by(better);
        rest.sort_by(better);
        close.extend(rest);
        Ok(close)
    }
}

fn hit(document: i64, mut found: Vec<(f64, usize)>, words: &[WeighedWord]) -> Hit {
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    Hit {
        document,
        score: found.iter().map(|(score, _)| score).sum(),
        words: found.iter().map(|(_, number)| words[*number].term.word.clone()).collect(),
    }
}

/// Orders hits from the best to the worst, and of equals the newest first.
fn better(one: &Hit, other: &Hit) -> Ordering {
    other.score.total_cmp(&one.score).then(other.document.cmp(&one.document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_description_leaves_room_for_the_names_of_files() {
        let long = |word: &str| (0..60).map(|number| format!("{word}{number}")).collect::<Vec<_>>().join(" ");
        let (own, description) = (long("asked"), long("described"));
        let words = weighed(&own, &[&description, "src/pool.rs crates/client/h2_config.rs"]);
        let has = |word: &str| words.iter().any(|(term, weight)| term.word == word && *weight < 1.0);
        assert!(words.len() <= WORDS && has("pool") && has("config"), "{words:?}");
        assert_eq!(words.iter().filter(|(term, _)| term.word.starts_with("described")).count(), 8);
    }
}
