//! Words as the index has them: without accents, and English ones without their endings. FTS5 does it, in memory.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::gather::Document;
use crate::snapshot::count;

/// What a word of the title, the request, the answer and the work counts.
const FIELDS: [(&str, f64); 4] = [("title", 2.0), ("request", 2.0), ("answer", 1.0), ("around", 0.5)];

/// BM25's two constants.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;

/// What a word counts is kept in so many steps.
const STEPS: f64 = 45.0;

const SCHEMA: &str = "
    CREATE VIRTUAL TABLE word USING fts5 (title, request, answer, around, content = '',
        tokenize = \"porter unicode61 remove_diacritics 2 categories 'L* N* Co M* So'\");
    CREATE VIRTUAL TABLE instance USING fts5vocab (word, instance);";

/// For each word, what it counts in each document.
pub(super) type Impacts = BTreeMap<String, BTreeMap<i64, u8>>;

/// How many documents were read so far, and how many words they had.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReadSoFar {
    pub(super) documents: u32,
    pub(super) words: f64,
}

/// Returns the words of documents, and what was read with them.
///
/// What a word counts depends on how long a document is beside the average of all that were read by then.
pub(super) fn impacts(
    documents: &[(i64, Document)],
    before: ReadSoFar,
) -> rusqlite::Result<(Impacts, ReadSoFar)> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(SCHEMA)?;
    let sql = "INSERT INTO word (rowid, title, request, answer, around) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = connection.prepare(sql)?;
    for (id, document) in documents {
        let Document { title, request, answer, around, .. } = document;
        insert.execute(params![id, title.text(), request.text(), answer.text(), around.text()])?;
    }
    let mut lengths: BTreeMap<i64, f64> = BTreeMap::new();
    let mut counts: BTreeMap<String, BTreeMap<i64, f64>> = BTreeMap::new();
    let mut statement = connection.prepare("SELECT term, doc, col FROM instance")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (term, id, column): (String, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let weight = FIELDS.iter().find(|(name, _)| *name == column).map_or(0.0, |(_, weight)| *weight);
        *lengths.entry(id).or_default() += 1.0;
        *counts.entry(term).or_default().entry(id).or_default() += weight;
    }
    let read = ReadSoFar {
        documents: before.documents.saturating_add(count(documents.len())),
        words: before.words + lengths.values().sum::<f64>(),
    };
    let average = read.words / f64::from(read.documents.max(1));
    let rate = |(id, weight): (i64, f64)| (id, impact(weight, lengths[&id] / average));
    let rated = counts.into_iter().map(|(term, ids)| (term, ids.into_iter().map(rate).collect()));
    Ok((rated.collect(), read))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
fn impact(weight: f64, length: f64) -> u8 {
    let share = LENGTH * length + (1.0 - LENGTH);
    (weight * (SATURATION + 1.0) / (weight + SATURATION * share) * STEPS).round().clamp(1.0, 250.0) as u8
}

/// Returns texts as the index has them, each as one word; nothing for what has none.
pub(super) fn tokens(texts: &[&str]) -> rusqlite::Result<Vec<Option<String>>> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(SCHEMA)?;
    let mut insert = connection.prepare("INSERT INTO word (rowid, title) VALUES (?1, ?2)")?;
    for (number, text) in (0_i64..).zip(texts) {
        insert.execute(params![number, text])?;
    }
    let mut tokens = vec![None; texts.len()];
    let mut statement = connection.prepare("SELECT doc, term FROM instance")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (number, term): (i64, String) = (row.get(0)?, row.get(1)?);
        let place = usize::try_from(number).ok().and_then(|number| tokens.get_mut(number));
        if let Some(place) = place {
            *place = Some(term);
        }
    }
    Ok(tokens)
}
