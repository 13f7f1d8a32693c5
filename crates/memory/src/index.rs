//! Full-text search over everything that was said, in a file of its own that can be made again at any time.
//!
//! Only words are stored, not texts. Scripts that do not put spaces between words are cut into overlapping pairs of
//! characters, in the index and in the question alike.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt::Write as _,
    path::Path,
};

use rusqlite::{Connection, OptionalExtension as _, config::DbConfig, params};
use serde::Serialize;

use crate::{
    database::judge,
    error::Error,
    sessions::{Sessions, text_of},
};

/// Raised when words are found differently; an index of another version is made anew.
const VERSION: i64 = 1;

const SCHEMA: &str = "
    CREATE TABLE seen (session text PRIMARY KEY, mark text NOT NULL);
    CREATE TABLE document (id integer PRIMARY KEY, session text NOT NULL, message text NOT NULL);
    CREATE INDEX document_session ON document (session);
    CREATE VIRTUAL TABLE word USING fts5 (text, content = '', contentless_delete = 1, detail = none,
        tokenize = \"unicode61 remove_diacritics 2 categories 'L* N* Co M* So'\");";

/// After so many sessions at once the index is put in order, for the searches that follow.
const MANY: usize = 100;

/// A word in so many messages is a common one, and only the last of them are looked at.
const COMMON: u32 = 2_000;

/// So much of a message is looked at.
const MAX_TEXT: usize = 200_000;

/// So much of a message is shown around a word, on each side.
const AROUND: usize = 120;

/// The words of a memory.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
}

/// A message in which something was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The session.
    pub session: String,
    /// What it is called.
    pub title: String,
    /// The message.
    pub message: String,
    /// The words around the first of those that were looked for.
    pub excerpt: String,
}

impl Index {
    /// Opens the index in this file; one that is unreadable, of another version or not of our making is made anew.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let fail = judge("make the search index");
        if path.as_ref().exists()
            && let Ok(connection) = connect(path.as_ref())
            && is_ours(&connection).unwrap_or(false)
        {
            return Ok(Self { connection });
        }
        match fs_err::remove_file(path.as_ref()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let connection = connect(path.as_ref()).map_err(&fail)?;
        connection.execute_batch(SCHEMA).map_err(&fail)?;
        connection.pragma_update(None, "user_version", VERSION).map_err(fail)?;
        Ok(Self { connection })
    }

    /// Reads what is new or changed since the last time and returns how many sessions that were.
    pub fn refresh(&mut self, sessions: &Sessions) -> Result<usize, Error> {
        self.read_from(sessions.connection())
    }

    /// Reads what is new or changed in this database of the engine.
    pub(crate) fn read_from(&mut self, engine: &Connection) -> Result<usize, Error> {
        self.read_changes(engine).map_err(judge("read messages into the search index"))
    }

    /// Returns the messages with all of these words, from the session last spoken in to the first; if there is none,
    /// those with some, the best first.
    pub fn search(&self, sessions: &Sessions, question: &str, limit: u32) -> Result<Vec<Found>, Error> {
        let words = words(question, For::Question);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let fail = judge("search the memory");
        let mut hits = self.with_all(&words, limit).map_err(&fail)?;
        if hits.is_empty() && words.len() > 1 {
            hits = self.with_some(&words, limit).map_err(&fail)?;
        }
        let shown = hits.into_iter().map(|document| self.show(document, sessions, &words));
        let shown: Vec<Option<Found>> = shown.collect::<rusqlite::Result<_>>().map_err(fail)?;
        Ok(shown.into_iter().flatten().collect())
    }

    /// Returns the documents with all of these words, the last read first.
    fn with_all(&self, words: &[String], limit: u32) -> rusqlite::Result<Vec<i64>> {
        let terms: Vec<_> = words.iter().map(|word| term(word)).collect();
        let sql = "SELECT rowid FROM word WHERE word MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_map(params![terms.join(" AND "), limit], |row| row.get(0))?.collect()
    }

    /// Returns the documents with some of these words: a rare one counts more than a common one, and of equals the
    /// last read comes first.
    fn with_some(&self, words: &[String], limit: u32) -> rusqlite::Result<Vec<i64>> {
        let mut worth: BTreeMap<i64, f64> = BTreeMap::new();
        for word in words.iter().collect::<BTreeSet<_>>() {
            let hits = self.with_all(std::slice::from_ref(word), COMMON)?;
            let count = u32::try_from(hits.len()).unwrap_or(COMMON).max(1);
            let rarity = 1.0 + (f64::from(COMMON) / f64::from(count)).ln();
            for hit in hits {
                *worth.entry(hit).or_default() += rarity;
            }
        }
        let mut best: Vec<_> = worth.into_iter().collect();
        best.sort_by(|(left, one), (right, other)| other.total_cmp(one).then(right.cmp(left)));
        best.truncate(limit as usize);
        Ok(best.into_iter().map(|(document, _)| document).collect())
    }

    /// Shows a place; nothing if the message is not in that session, whatever the index says.
    fn show(&self, document: i64, sessions: &Sessions, words: &[String]) -> rusqlite::Result<Option<Found>> {
        let sql = "SELECT session, message FROM document WHERE id = ?1";
        let mut place = self.connection.prepare_cached(sql)?;
        let place = place.query_one([document], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((session, message)): Option<(String, String)> = place.optional()? else { return Ok(None) };
        let engine = sessions.connection();
        let sql = "SELECT title FROM session JOIN message ON message.session_id = session.id \
                   WHERE session.id = ?1 AND message.id = ?2";
        let title: Option<String> =
            engine.prepare_cached(sql)?.query_one([&session, &message], |row| row.get(0)).optional()?;
        let Some(title) = title else { return Ok(None) };
        let excerpt = excerpt(&text_of(engine, &message)?, words);
        Ok(Some(Found { session, title, message, excerpt }))
    }

    fn read_changes(&mut self, engine: &Connection) -> rusqlite::Result<usize> {
        let marks = marks(engine)?;
        let mut statement = self.connection.prepare("SELECT session, mark FROM seen")?;
        let seen = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let seen: BTreeMap<String, String> = seen.collect::<rusqlite::Result<_>>()?;
        drop(statement);
        let transaction = self.connection.transaction()?;
        let mut changed = 0;
        for session in seen.keys().filter(|session| !marks.contains_key(*session)) {
            forget(&transaction, session)?;
        }
        let news = marks.iter().filter(|(session, mark)| seen.get(*session) != Some(&mark.text));
        let mut news: Vec<_> = news.collect();
        // What is read last is found first.
        news.sort_by_key(|(_, mark)| mark.last);
        for (session, mark) in news {
            if seen.contains_key(session) {
                forget(&transaction, session)?;
            }
            read(&transaction, engine, session)?;
            transaction.execute("INSERT INTO seen VALUES (?1, ?2)", [session, &mark.text])?;
            changed += 1;
        }
        if changed >= MANY {
            transaction.execute("INSERT INTO word (word) VALUES ('optimize')", [])?;
        }
        transaction.commit()?;
        Ok(changed)
    }
}

/// What changes whenever something is said in a session.
#[derive(Default)]
struct Mark {
    text: String,
    /// When something was last said.
    last: i64,
}

fn marks(engine: &Connection) -> rusqlite::Result<BTreeMap<String, Mark>> {
    let mut marks: BTreeMap<String, Mark> = BTreeMap::new();
    for table in ["message", "part"] {
        let sql = format!("SELECT session_id, count(*), max(time_updated) FROM {table} GROUP BY session_id");
        let mut statement = engine.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (session, count, last): (String, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let mark = marks.entry(session).or_default();
            mark.last = mark.last.max(last);
            let _ = write!(mark.text, "{count} {last};");
        }
    }
    Ok(marks)
}

fn forget(index: &Connection, session: &str) -> rusqlite::Result<()> {
    let mut statement = index.prepare_cached("SELECT id FROM document WHERE session = ?1")?;
    let ids = statement.query_map([session], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
    // One by one: for a list of rows FTS5 walks over all there are.
    for id in ids {
        index.prepare_cached("DELETE FROM word WHERE rowid = ?1")?.execute([id])?;
    }
    index.execute("DELETE FROM document WHERE session = ?1", [session])?;
    index.execute("DELETE FROM seen WHERE session = ?1", [session]).map(drop)
}

fn read(index: &Connection, engine: &Connection, session: &str) -> rusqlite::Result<()> {
    let mut statement =
        engine.prepare_cached("SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
    let messages =
        statement.query_map([session], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    for message in messages {
        let text = text_of(engine, &message)?;
        let words = distinct_words(&text[..text.floor_char_boundary(MAX_TEXT)]);
        index
            .prepare_cached("INSERT INTO document (session, message) VALUES (?1, ?2)")?
            .execute([session, &message])?;
        let id = index.last_insert_rowid();
        index
            .prepare_cached("INSERT INTO word (rowid, text) VALUES (?1, ?2)")?
            .execute(params![id, words])?;
    }
    Ok(())
}

/// Opens a file that can be made anew at any time, so that nothing waits for the disk.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA synchronous = OFF")?;
    Ok(connection)
}

/// Tells whether an index is one of this version and nothing else: it may come from a store that others write to.
fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    let version: i64 = connection.query_one("PRAGMA user_version", [], |row| row.get(0))?;
    let fresh = Connection::open_in_memory()?;
    fresh.execute_batch(SCHEMA)?;
    Ok(version == VERSION && schema(connection)? == schema(&fresh)?)
}

fn schema(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let mut statement =
        connection.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

/// Cuts a text around the first place where one of the words stands.
fn excerpt(text: &str, words: &[String]) -> String {
    let lower = text.to_lowercase();
    let first = words.iter().filter_map(|word| lower.find(word.as_str())).min().unwrap_or_default();
    let from = text.floor_char_boundary(first.saturating_sub(AROUND));
    let to = text.ceil_char_boundary((first + AROUND).min(text.len()));
    let cut = text[from..to.max(from)].split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, after) = (if from > 0 { "… " } else { "" }, if to < text.len() { " …" } else { "" });
    format!("{before}{cut}{after}")
}

/// Writes a word of a question as FTS5 wants it; a single character of a script without spaces may begin a pair.
fn term(word: &str) -> String {
    let is_one = word.chars().count() == 1 && word.chars().all(is_unspaced);
    format!("\"{word}\"{}", if is_one { "*" } else { "" })
}

/// What words are for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// The last character of a run stands alone too, so that a question of one character finds it.
    Index,
    Question,
}

/// Returns the words of a text, in lower case.
fn words(text: &str, what_for: For) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, what_for, |word| words.push(word.to_owned()));
    words
}

/// Returns each word of a text once, with spaces between: the index counts in how many messages a word stands.
fn distinct_words(text: &str) -> String {
    let mut seen: HashSet<String> = HashSet::new();
    let mut distinct = String::new();
    each_word(text, For::Index, |word| {
        if !seen.contains(word) {
            seen.insert(word.to_owned());
            distinct.push_str(word);
            distinct.push(' ');
        }
    });
    distinct
}

fn each_word(text: &str, what_for: For, mut with: impl FnMut(&str)) {
    let mut word = String::new();
    for run in text.split(|letter: char| !letter.is_alphanumeric()).filter(|run| !run.is_empty()) {
        word.clear();
        if run.is_ascii() {
            word.push_str(run);
            word.make_ascii_lowercase();
            with(&word);
            continue;
        }
        let letters: Vec<char> = run.chars().flat_map(char::to_lowercase).collect();
        for part in letters.chunk_by(|left, right| is_unspaced(*left) == is_unspaced(*right)) {
            match part {
                [first, _, ..] if is_unspaced(*first) => {
                    part.windows(2).for_each(|pair| with(&String::from_iter(pair)));
                    if let (Some(last), For::Index) = (part.last(), what_for) {
                        with(&last.to_string());
                    }
                }
                part => with(&String::from_iter(part)),
            }
        }
    }
}

/// Tells whether a letter is of a script that puts no spaces between words, or binds so much to them that parts of
/// words must be found.
fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0E00}'..='\u{0EFF}' // Thai, Lao
        | '\u{1000}'..='\u{109F}' // Burmese
        | '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7AF}' // Korean
        | '\u{1780}'..='\u{17FF}' // Khmer
        | '\u{3040}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' // Japanese
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' // Chinese characters
        | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_script() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(words(text, For::Question), expected, "{text}");
        check("The hose-leaks, at tap.rs:12!", &["the", "hose", "leaks", "at", "tap", "rs", "12"]);
        check("软管漏水", &["软管", "管漏", "漏水"]);
        check("水", &["水"]);
        check("ホースが漏れる v2", &["ホー", "ース", "スが", "が漏", "漏れ", "れる", "v2"]);
        check("Straße ΣΊΣΥΦΟΣ шланг", &["straße", "σίσυφοσ", "шланг"]);
        check("", &[]);
        assert_eq!(words("漏水", For::Index), ["漏水", "水"]);
        assert_eq!(distinct_words("The hose, the HOSE, 漏水漏水"), "the hose 漏水 水漏 水 ");
    }

    #[test]
    fn an_excerpt_shows_where_it_was_found() {
        let text = format!("{} the HOSE leaks {}", "before ".repeat(40), "after ".repeat(40));
        let shown = excerpt(&text, &["hose".to_owned()]);
        assert!(
            shown.starts_with("… ") && shown.contains("the HOSE leaks") && shown.ends_with(" …"),
            "{shown}"
        );
        assert_eq!(excerpt("short", &["nothing".to_owned()]), "short");
    }
}
