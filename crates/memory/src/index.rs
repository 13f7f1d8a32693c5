//! Full-text search over sessions, in a file of its own that can be made again at any time.
//!
//! One document per session: its title, what was asked, what was answered, names and errors of the work. Only words
//! are stored, not texts. Sessions that everyone may hear have numbers of their own, so that a search for the public
//! does not even come near the others.
//!
//! The file says which documents there are and where words are found; the words themselves stand in blocks, which are
//! fetched when a question needs them.

mod excerpt;
mod gather;
mod lexicon;
mod rank;
mod refresh;
mod segment;
mod tokens;
mod words;

pub(crate) use segment::{Blocks, Fetch};

use std::{cell::Cell, collections::BTreeSet, path::Path};

use fro_core::remembered::Audience;
use rusqlite::{Connection, OptionalExtension as _, config::DbConfig, params};
use serde::Serialize;

use self::{
    excerpt::{beginning, excerpt},
    gather::{parts, said},
    lexicon::Lexicon,
    rank::{Hit, Ranking, weighed},
    refresh::{AbsentSessions, let_go, read_changes, read_some},
    segment::Sheaf,
};
use crate::{
    database::judge,
    error::Error,
    ledger::Ledger,
    sessions::Sessions,
    snapshot::{leaf::SessionEntries, part::ChunkPart},
    store::ObjectName,
};

/// Raised when words are found differently; an index of another version is made anew.
pub(crate) const VERSION: i64 = 4;

const SCHEMA: &str = "
    CREATE TABLE document (id integer PRIMARY KEY, session text NOT NULL, mark text NOT NULL, last integer NOT NULL,
        last_words integer);
    CREATE TABLE number (is_public integer PRIMARY KEY, next integer NOT NULL);
    CREATE TABLE measure (documents integer NOT NULL, words real NOT NULL);
    CREATE TABLE segment (id integer PRIMARY KEY, documents integer NOT NULL);
    CREATE TABLE sheaf (segment integer NOT NULL, first text NOT NULL, name blob NOT NULL, blocks text NOT NULL,
        PRIMARY KEY (segment, first)) WITHOUT ROWID;";

/// The first document that everyone may hear.
const PUBLIC: i64 = 1 << 40;

/// So many messages of a session are looked through for a place that shows the words.
const LOOKED_THROUGH: u32 = 40;

/// So many words that a session was found by are told.
const TOLD: usize = 6;

/// The words of a memory.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
    blocks: Blocks,
    /// Tells whether there was none to open.
    is_new: bool,
    rows: Cell<u64>,
    bytes: Cell<u64>,
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The words that are asked for.
    pub words: &'a str,
    /// Words around them, which count less: a description, names of files.
    pub around: &'a [&'a str],
    /// Who will hear what is found.
    pub audience: Audience,
    /// A session that is not looked for.
    pub except: Option<&'a str>,
    /// What is shown of a session.
    pub show: ExcerptKind,
}

/// What is shown of a session that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExcerptKind {
    /// What the agent said last: where the words stand in it, or how it begins.
    Answer,
    /// A place where the words stand, whoever said them.
    Place,
}

/// A session that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The session.
    pub session: String,
    /// What it is called.
    pub title: String,
    /// The message that the excerpt is from.
    pub message: String,
    /// A part of what was said.
    pub excerpt: String,
    /// The words of the question that it was found by, those that count most first.
    pub words: Vec<String>,
    /// How good it is, in thousandths of the best.
    pub weight: u32,
}

/// What an excerpt is made of.
struct ExcerptSource<'a> {
    sessions: &'a Sessions,
    question: &'a Question<'a>,
    /// How the words of the question begin, whatever their endings.
    roots: Vec<String>,
}

impl<'a> Question<'a> {
    /// Asks for words, as somebody types them who may hear everything.
    pub fn typed(words: &'a str) -> Self {
        Self { words, around: &[], audience: Audience::Insiders, except: None, show: ExcerptKind::Place }
    }
}

impl Index {
    /// Opens the index in this file; one that is unreadable, of another version or not of our making is made anew.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let fail = judge("make the search index");
        if let Some(index) = Self::existing(path.as_ref()) {
            return Ok(index);
        }
        match fs_err::remove_file(path.as_ref()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let blocks = Blocks::beside(path.as_ref());
        blocks.clear()?;
        let connection = connect(path.as_ref()).map_err(&fail)?;
        connection.execute_batch(SCHEMA).map_err(&fail)?;
        connection.execute("INSERT INTO measure VALUES (0, 0)", []).map_err(&fail)?;
        let numbers = "INSERT INTO number VALUES (0, 1), (1, ?1)";
        connection.execute(numbers, [PUBLIC]).map_err(&fail)?;
        connection.pragma_update(None, "user_version", VERSION).map_err(fail)?;
        Ok(Self { connection, blocks, is_new: true, rows: Cell::default(), bytes: Cell::default() })
    }

    /// Opens an index as it was saved with its sessions, or makes one of them in the second file.
    ///
    /// An index is saved with what it is made of, so that nothing needs to be read to know that it is up to date.
    pub fn saved_or_made(
        saved: &Path,
        own: &Path,
        sessions: &Sessions,
        ledger: &Ledger,
    ) -> Result<Self, Error> {
        if let Some(index) = Self::existing(saved) {
            return Ok(index);
        }
        let mut index = Self::open(own)?;
        if index.is_new {
            index.refresh(sessions, Some(ledger))?;
        }
        Ok(index)
    }

    /// Reads what is new or changed since the last time and returns how many sessions that were. Without a ledger
    /// nobody can tell who may hear what is new.
    pub fn refresh(&mut self, sessions: &Sessions, ledger: Option<&Ledger>) -> Result<usize, Error> {
        let mut read = 0;
        for (number, engine) in sessions.everything()?.into_iter().enumerate() {
            let others = if number == 0 { AbsentSessions::Gone } else { AbsentSessions::Stay };
            let ledger = ledger.map(Ledger::connection);
            read += read_changes((&mut self.connection, &self.blocks), engine, ledger, others)?;
        }
        segment::compact(&self.connection, &self.blocks, &|names| sessions.sheaves(names))?;
        Ok(read)
    }

    /// Reads what is new or changed in this database of the engine.
    pub(crate) fn read_from(
        &mut self,
        engine: &Connection,
        ledger: Option<&Connection>,
    ) -> Result<usize, Error> {
        read_changes((&mut self.connection, &self.blocks), engine, ledger, AbsentSessions::Gone)
    }

    /// Tells whether there was none to open.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Reads some sessions of a database of the engine, whatever is known of them; `all` are those of the memory.
    pub(crate) fn update(
        &mut self,
        engine: &Connection,
        sessions: &BTreeSet<String>,
        all: &SessionEntries,
        ledger: Option<&Connection>,
    ) -> Result<(), Error> {
        read_some((&mut self.connection, &self.blocks), engine, sessions, all, ledger)
    }

    /// Lets go of the sessions that are gone.
    pub(crate) fn retain(&mut self, is_there: impl Fn(&str) -> bool) -> Result<(), Error> {
        let_go(&mut self.connection, is_there).map_err(judge("take sessions out of the search index"))
    }

    /// Makes segments of about the same size into one, where there are several.
    pub(crate) fn compact(&self, fetch: Fetch<'_>) -> Result<(), Error> {
        segment::compact(&self.connection, &self.blocks, fetch)
    }

    /// Writes the index anew, so that nothing is left of words that were taken out.
    pub(crate) fn put_in_order(&self, fetch: Fetch<'_>) -> Result<(), Error> {
        segment::merge_all(&self.connection, &self.blocks, fetch)?;
        self.connection.execute_batch("VACUUM").map_err(judge("put the search index in order"))
    }

    /// Returns the sheaves of blocks that it consists of, and where those lie that are on this machine.
    pub(crate) fn sheaves(&self) -> Result<(Vec<Sheaf>, Blocks), Error> {
        Ok((segment::sheaves(&self.connection, None)?, self.blocks.clone()))
    }

    /// Leaves a sheaf out that cannot be read any more.
    pub(crate) fn lose(&self, sheaf: ObjectName) -> Result<(), Error> {
        segment::lose(&self.connection, sheaf)
    }

    /// Opens the index in this file, if it is one of this version.
    pub(crate) fn existing(path: &Path) -> Option<Self> {
        let connection = path.exists().then(|| connect(path).ok())??;
        let is_ours = is_ours(&connection).unwrap_or(false);
        let blocks = Blocks::beside(path);
        is_ours.then(|| Self {
            connection,
            blocks,
            is_new: false,
            rows: Cell::default(),
            bytes: Cell::default(),
        })
    }

    /// Returns how many rows all searches have read so far, of the index and of the engine's database.
    pub fn rows_read(&self) -> u64 {
        self.rows.get()
    }

    /// Returns how many bytes of blocks all searches have read so far, unpacked.
    pub fn bytes_read(&self) -> u64 {
        self.bytes.get()
    }

    /// Returns the sessions that have some of the words, each once, the best first.
    pub fn search(
        &self,
        sessions: &Sessions,
        question: &Question<'_>,
        limit: u32,
    ) -> Result<Vec<Found>, Error> {
        let words = weighed(question.words, question.around);
        // A single letter or digit stands everywhere: it shows no place.
        let says_something = |root: &String| root.len() > 1;
        let roots = words.iter().map(|(term, _)| term.root()).filter(says_something).collect();
        let seen = ExcerptSource { sessions, question, roots };
        let fetch = |places: &[ChunkPart]| sessions.blocks(places);
        let lexicon = Lexicon::new(
            (&self.connection, &self.blocks),
            &fetch,
            question.audience,
            (&self.rows, &self.bytes),
        );
        let hits = Ranking { lexicon, documents: self.documents(question.audience)? }.rank(words)?;
        let best = hits.first().map_or(0.0, |hit| hit.score);
        self.bring(&hits[..hits.len().min(limit as usize)], &seen);
        let mut shown = Vec::new();
        for hit in hits {
            if shown.len() >= limit as usize {
                break;
            }
            shown.extend(self.show(&hit, best, &seen)?);
        }
        Ok(shown)
    }

    /// Returns how many documents there are, or were, that may be heard: their numbers follow each other.
    fn documents(&self, audience: Audience) -> Result<u32, Error> {
        let sql = "SELECT sum(next - iif(is_public, ?1, 1)) FROM number WHERE is_public OR ?2";
        let row = params![PUBLIC, audience == Audience::Insiders];
        self.connection.query_one(sql, row, |row| row.get(0)).map_err(judge("count what was read"))
    }

    /// Fetches the sessions of some hits at once. One that cannot be read is told of when it is shown.
    fn bring(&self, hits: &[Hit], seen: &ExcerptSource<'_>) {
        let sql = "SELECT session FROM document WHERE id = ?1";
        let name = |hit: &Hit| self.connection.query_one(sql, [hit.document], |row| row.get(0)).ok();
        let wanted =
            hits.iter().filter_map(name).filter(|id: &String| seen.question.except != Some(id.as_str()));
        if let Err(error) = seen.sessions.bring(wanted.collect()) {
            tracing::debug!("the sessions that were found are fetched one by one: {}", error.story());
        }
    }

    /// Shows a session; nothing if nobody knows it, whatever the index says, or if it cannot be fetched.
    fn show(&self, hit: &Hit, best: f64, seen: &ExcerptSource<'_>) -> Result<Option<Found>, Error> {
        let fail = judge("search the memory");
        let sql = "SELECT session, last_words FROM document WHERE id = ?1";
        let mut place = self.connection.prepare_cached(sql).map_err(&fail)?;
        let place = place.query_one([hit.document], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((session, last)): Option<(String, Option<u32>)> = place.optional().map_err(&fail)? else {
            return Ok(None);
        };
        self.read(1);
        if seen.question.except == Some(session.as_str()) {
            return Ok(None);
        }
        let Some(info) = seen.sessions.info(&session)? else { return Ok(None) };
        self.read(1);
        let engine = match seen.sessions.with(&session) {
            Ok(engine) => engine,
            Err(error) => {
                tracing::warn!("a session that was found cannot be read: {}", error.story());
                None
            }
        };
        let Some(engine) = engine else { return Ok(None) };
        let (message, excerpt) = self.place(engine, &session, last, seen).map_err(fail)?;
        let words = hit.words.iter().take(TOLD).cloned().collect();
        let (title, weight) = (info.title, thousandths(hit.score, best));
        Ok(Some(Found { session, title, message, excerpt, words, weight }))
    }

    /// Returns a message of a session and a part of it.
    fn place(
        &self,
        engine: &Connection,
        session: &str,
        last: Option<u32>,
        seen: &ExcerptSource<'_>,
    ) -> rusqlite::Result<(String, String)> {
        let sql = "SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC \
                   LIMIT 1 OFFSET ?2";
        let message = |after| engine.query_one(sql, params![session, after], |row| row.get(0)).optional();
        let last: Option<String> = last.map(message).transpose()?.flatten();
        let last_words = last.as_deref().map(|message| self.words_of(engine, message)).transpose()?;
        let (last, last_words) = (last.unwrap_or_default(), last_words.unwrap_or_default());
        let answer = excerpt(&last_words, &seen.roots);
        if let (ExcerptKind::Answer, Some((_, excerpt))) = (seen.question.show, &answer) {
            return Ok((last, excerpt.clone()));
        }
        // One word of the question may stand anywhere: the place to show has most of them, of equals the newest.
        let mut best = answer.map(|(words, excerpt)| (words, last.clone(), excerpt));
        if seen.question.show == ExcerptKind::Place || last_words.is_empty() {
            let sql =
                "SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC LIMIT ?2";
            let mut statement = engine.prepare_cached(sql)?;
            let mut rows = statement.query(params![session, LOOKED_THROUGH])?;
            while let Some(row) = rows.next()? {
                self.read(1);
                let message: String = row.get(0)?;
                let found = excerpt(&self.words_of(engine, &message)?, &seen.roots);
                if let Some((words, excerpt)) = found
                    && best.as_ref().is_none_or(|(most, ..)| words > *most)
                {
                    best = Some((words, message, excerpt));
                }
            }
        }
        if let Some((_, message, excerpt)) = best {
            return Ok((message, excerpt));
        }
        Ok((last, beginning(&last_words)))
    }

    /// Returns what was said in a message, without the words of the harness.
    fn words_of(&self, engine: &Connection, message: &str) -> rusqlite::Result<String> {
        let (parts, read) = parts(engine, message)?;
        self.read(read);
        let mut texts = Vec::new();
        for part in &parts {
            if let Some(text) = said(part) {
                let people = fro_core::prompt::people_said(text);
                texts.extend([people.title, people.request, people.around]);
            }
            if part["tool"].is_string() {
                texts.push(part["state"]["input"].to_string());
                texts.extend(part["state"]["output"].as_str().map(str::to_owned));
            }
        }
        texts.retain(|text| !text.is_empty());
        Ok(texts.join("\n"))
    }

    fn read(&self, rows: u32) {
        self.rows.set(self.rows.get() + u64::from(rows));
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
fn thousandths(score: f64, best: f64) -> u32 {
    (score / best.max(f64::MIN_POSITIVE) * 1000.0).round() as u32
}

/// Opens a file that can be made anew at any time, so that nothing waits for the disk.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA synchronous = OFF")?;
    connection.set_prepared_statement_cache_capacity(32);
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
