//! Which sessions a question is about: BM25 per session, rare words first, within a budget of rows.
//!
//! What it costs does not grow with the memory. A word that stands in very many sessions says little, so of those only
//! the newest are looked at.

use std::{cell::Cell, cmp::Ordering, collections::HashMap};

use rusqlite::{Connection, params};

use super::words::{Term, terms};

/// So many words of a question are looked for, and so many with those around them.
const OWN: usize = 24;
const WORDS: usize = 32;

/// A word in more sessions is a common one: only the newest of them count.
const COMMON: u32 = 256;

/// So many rows are ranked for one question.
const BUDGET: u32 = 6_000;

/// What a word of the title, the request, the answer and the work counts.
const FIELDS: &str = "2.0, 2.0, 1.0, 0.5";

/// What other forms of a word, and other words for the same, count beside the word itself.
const AKIN: f64 = 0.6;

/// What the words count that stand around those of the question, and those of its files.
const AROUND: f64 = 0.5;

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
struct Weighed {
    term: Term,
    weight: f64,
    sessions: u32,
}

/// A search through one index.
pub(super) struct Ranking<'a> {
    pub(super) index: &'a Connection,
    /// The first document that may be heard.
    pub(super) first: i64,
    /// Rows that were read.
    pub(super) rows: &'a Cell<u64>,
}

/// Returns the words of a question, those that are asked for before those around them, with their weights.
pub(super) fn weighed(words: &str, around: &[&str]) -> Vec<(Term, f64)> {
    let mut own = terms(words);
    // In a long text the names say more than the prose; its beginning, where a title stands, says most.
    let beginning = own.len().min(OWN / 2);
    own[beginning..].sort_by_key(|term| !term.is_name);
    own.truncate(OWN);
    let mut all: Vec<(Term, f64)> = own.into_iter().map(|term| (term, 1.0)).collect();
    for term in around.iter().flat_map(|text| terms(text)) {
        if all.len() < WORDS && !all.iter().any(|(known, _)| known.word == term.word) {
            all.push((term, AROUND));
        }
    }
    all
}

impl Ranking<'_> {
    /// Returns the sessions with some of these words, the best first.
    pub(super) fn rank(&self, words: Vec<(Term, f64)>) -> rusqlite::Result<Vec<Hit>> {
        let mut weighed = Vec::new();
        for (term, weight) in words {
            let sessions = self.count(&term.exact())?;
            weighed.push(Weighed { term, weight, sessions });
        }
        weighed.sort_by_key(|weighed| weighed.sessions);
        let mut scores: HashMap<i64, Vec<(f64, usize)>> = HashMap::new();
        let mut left = BUDGET;
        for (number, word) in weighed.iter().enumerate() {
            for (document, score) in self.score(word, &mut left)? {
                scores.entry(document).or_default().push((score * word.weight, number));
            }
        }
        let mut hits: Vec<Hit> =
            scores.into_iter().map(|(document, found)| hit(document, found, &weighed)).collect();
        hits.sort_by(better);
        self.prefer_recent(&mut hits)?;
        Ok(hits)
    }

    /// Returns what each session has of a word.
    fn score(&self, word: &Weighed, left: &mut u32) -> rusqlite::Result<HashMap<i64, f64>> {
        let mut scores: HashMap<i64, f64> = HashMap::new();
        if word.sessions > 0 {
            scores.extend(self.matching(&word.term.exact(), left)?);
        }
        let mut akin = word.term.akin();
        if word.sessions == 0 {
            akin.extend(self.parts(&word.term)?);
        }
        if !akin.is_empty() {
            for (document, score) in self.matching(&akin.join(" OR "), left)? {
                let known = scores.entry(document).or_default();
                *known = known.max(score * AKIN);
            }
        }
        Ok(scores)
    }

    /// Returns the parts of a compound that the index knows.
    fn parts(&self, term: &Term) -> rusqlite::Result<Vec<String>> {
        let mut parts = Vec::new();
        for (tail, heads) in term.cuts() {
            if !self.knows(&tail)? {
                continue;
            }
            for head in heads {
                if self.knows(&head)? {
                    parts.extend([tail, head]);
                    break;
                }
            }
        }
        Ok(parts)
    }

    fn knows(&self, query: &str) -> rusqlite::Result<bool> {
        self.read(1);
        let sql = "SELECT 1 FROM word WHERE word MATCH ?1 AND rowid >= ?2 LIMIT 1";
        self.index.prepare_cached(sql)?.exists(params![query, self.first])
    }

    /// Returns how many sessions match, up to those that make a word common.
    fn count(&self, query: &str) -> rusqlite::Result<u32> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM word WHERE word MATCH ?1 AND rowid >= ?2 LIMIT ?3)";
        let mut statement = self.index.prepare_cached(sql)?;
        let count = statement.query_one(params![query, self.first, COMMON], |row| row.get(0))?;
        self.read(count);
        Ok(count)
    }

    /// Returns the newest sessions that match, with what they have of it.
    fn matching(&self, query: &str, left: &mut u32) -> rusqlite::Result<Vec<(i64, f64)>> {
        let sql = format!(
            "SELECT rowid, -bm25(word, {FIELDS}) FROM word WHERE word MATCH ?1 AND rowid >= ?2 \
             ORDER BY rowid DESC LIMIT ?3"
        );
        let mut statement = self.index.prepare_cached(&sql)?;
        let most = COMMON.min(*left);
        let rows =
            statement.query_map(params![query, self.first, most], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found: Vec<(i64, f64)> = rows.collect::<rusqlite::Result<_>>()?;
        let read = u32::try_from(found.len()).unwrap_or(most);
        self.read(read);
        *left -= read.min(*left);
        Ok(found)
    }

    /// Puts a newer session before an older one that is about as good.
    fn prefer_recent(&self, hits: &mut [Hit]) -> rusqlite::Result<()> {
        let close = hits.len().min(CLOSE);
        let mut statement = self.index.prepare_cached("SELECT last FROM document WHERE id = ?1")?;
        let mut times: Vec<i64> = Vec::new();
        for hit in &hits[..close] {
            self.read(1);
            times.push(statement.query_one([hit.document], |row| row.get(0))?);
        }
        let newest = times.iter().max().copied().unwrap_or_default();
        for (hit, time) in hits.iter_mut().zip(times) {
            #[expect(clippy::cast_precision_loss, reason = "a millisecond more or less does not matter")]
            let days = (newest - time).max(0) as f64 / DAY;
            hit.score *= 1.0 + RECENT / (1.0 + days / 30.0);
        }
        hits[..close].sort_by(better);
        Ok(())
    }

    fn read(&self, rows: u32) {
        self.rows.set(self.rows.get() + u64::from(rows));
    }
}

fn hit(document: i64, mut found: Vec<(f64, usize)>, words: &[Weighed]) -> Hit {
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
