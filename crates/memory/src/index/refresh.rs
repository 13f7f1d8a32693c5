//! Brings the index up to date: reads the sessions that are new or changed, and lets go of those that are gone.

use std::collections::{BTreeMap, BTreeSet};

use fro_core::{
    ancestry::{Ancestry, Parent},
    remembered::Audience,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{
    PUBLIC,
    gather::{Document, gather},
    segment::{self, BATCH, Blocks},
};
use crate::{
    database::judge,
    error::Error,
    hide_private::{ancestry, audiences},
    snapshot::leaf::SessionEntries,
};

/// What is known of sessions that a database does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AbsentSessions {
    /// Sessions that the database lacks were removed.
    Gone,
    /// Sessions that the database lacks exist elsewhere.
    Stay,
}

/// Reads what is new or changed in the engine's database, and returns how many sessions that were.
pub(super) fn read_changes(
    (index, blocks): (&mut Connection, &Blocks),
    engine: &Connection,
    ledger: Option<&Connection>,
    others: AbsentSessions,
) -> Result<usize, Error> {
    let fail = judge(READ);
    let (news, transaction) = news(index, engine, ledger, others).map_err(&fail)?;
    for some in news.chunks(BATCH) {
        let mut documents = Vec::new();
        for (session, mark, is_public) in some {
            documents.push(read(&transaction, engine, session, mark, *is_public).map_err(&fail)?);
        }
        segment::write(&transaction, blocks, &documents)?;
    }
    transaction.commit().map_err(fail)?;
    Ok(news.len())
}

/// What is being done when it fails.
const READ: &str = "read messages into the search index";

/// A session that is new or changed, its mark, and whether everyone may hear it.
type ChangedSession = (String, Mark, bool);

/// Lets go of what is gone, and returns what is new or changed, what was last spoken in last.
fn news<'a>(
    index: &'a mut Connection,
    engine: &Connection,
    ledger: Option<&Connection>,
    others: AbsentSessions,
) -> rusqlite::Result<(Vec<ChangedSession>, rusqlite::Transaction<'a>)> {
    let marks = marks(engine, ledger)?;
    let mut statement = index.prepare("SELECT session, mark, id FROM document")?;
    let known = statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    let known: BTreeMap<String, (String, i64)> = known.collect::<rusqlite::Result<_>>()?;
    drop(statement);
    let transaction = index.transaction()?;
    let gone =
        known.iter().filter(|(session, _)| others == AbsentSessions::Gone && !marks.contains_key(*session));
    for (_, (_, id)) in gone {
        forget(&transaction, *id)?;
    }
    let is_news = |session: &String, mark: &Mark| match known.get(session) {
        None => true,
        Some((text, id)) => {
            *text != mark.text || mark.is_public.is_some_and(|public| public != (*id >= PUBLIC))
        }
    };
    let mut news: Vec<ChangedSession> = Vec::new();
    for (session, mark) in marks.into_iter().filter(|(session, mark)| is_news(session, mark)) {
        let former = known.get(&session).map(|(_, id)| *id);
        if let Some(id) = former {
            forget(&transaction, id)?;
        }
        let is_public = mark.is_public.unwrap_or(former.is_some_and(|id| id >= PUBLIC));
        news.push((session, mark, is_public));
    }
    news.sort_by_key(|(_, mark, _)| mark.last);
    Ok((news, transaction))
}

/// Reads some sessions anew, those that were last spoken in last.
pub(super) fn read_some(
    (index, blocks): (&mut Connection, &Blocks),
    engine: &Connection,
    sessions: &BTreeSet<String>,
    all: &SessionEntries,
    ledger: Option<&Connection>,
) -> Result<(), Error> {
    let fail = judge(READ);
    let known = ledger.map(audiences).transpose().map_err(&fail)?;
    let transaction = index.transaction().map_err(&fail)?;
    let mut sessions: Vec<_> = sessions.iter().filter_map(|id| all.get_key_value(id)).collect();
    sessions.sort_by_key(|(_, entry)| entry.updated);
    for some in sessions.chunks(BATCH) {
        let mut documents = Vec::new();
        for (session, _) in some {
            let is_public = known.as_ref().map(|known| {
                ancestry(all, session).audience(|id| known.get(*id).copied()) == Audience::Everyone
            });
            documents.extend(read_again(&transaction, engine, session, is_public).map_err(&fail)?);
        }
        segment::write(&transaction, blocks, &documents)?;
    }
    transaction.commit().map_err(fail)
}

/// Reads a session in the place of what is known of it; nothing if the database does not have it.
fn read_again(
    index: &Connection,
    engine: &Connection,
    session: &str,
    is_public: Option<bool>,
) -> rusqlite::Result<Option<(i64, Document)>> {
    let sql = "SELECT id FROM document WHERE session = ?1";
    let former: Option<i64> = index.prepare_cached(sql)?.query_one([session], |row| row.get(0)).optional()?;
    if let Some(id) = former {
        forget(index, id)?;
    }
    let Some(mark) = mark(engine, session)? else { return Ok(None) };
    let is_public = is_public.unwrap_or(former.is_some_and(|id| id >= PUBLIC));
    read(index, engine, session, &mark, is_public).map(Some)
}

/// Lets go of the sessions that are not there any more.
pub(super) fn let_go(index: &mut Connection, is_there: impl Fn(&str) -> bool) -> rusqlite::Result<()> {
    let mut statement = index.prepare("SELECT session, id FROM document")?;
    let known = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
    let known: Vec<(String, i64)> = known.collect::<rusqlite::Result<_>>()?;
    drop(statement);
    let transaction = index.transaction()?;
    for (_, id) in known.iter().filter(|(session, _)| !is_there(session)) {
        forget(&transaction, *id)?;
    }
    transaction.commit()
}

/// What changes whenever something is said in a session.
struct Mark {
    text: String,
    /// When something was last said.
    last: i64,
    /// Tells whether everyone may hear it, if anybody knows.
    is_public: Option<bool>,
}

/// How marks are made: of keys alone, since the tables themselves have the whole memory in them.
const MARKS: &str = "SELECT session.id, session.title, session.time_updated, \
    (SELECT count(*) || ' ' || coalesce(max(time_created), 0) FROM message WHERE session_id = session.id), \
    (SELECT count(*) FROM part WHERE session_id = session.id) FROM session";

/// Returns the mark of one session, of which nobody knows who may hear it.
fn mark(engine: &Connection, session: &str) -> rusqlite::Result<Option<Mark>> {
    let mut statement = engine.prepare_cached(&format!("{MARKS} WHERE session.id = ?1"))?;
    statement.query_one([session], |row| marked(row).map(|(_, mark)| mark)).optional()
}

fn marked(row: &Row<'_>) -> rusqlite::Result<(String, Mark)> {
    let (id, title, last): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (messages, parts): (String, i64) = (row.get(3)?, row.get(4)?);
    let hash = blake3::hash(format!("{title}\n{last} {messages} {parts}").as_bytes()).to_hex();
    Ok((id, Mark { text: hash[..8].to_owned(), last, is_public: None }))
}

/// Returns a mark for each session.
fn marks(engine: &Connection, ledger: Option<&Connection>) -> rusqlite::Result<BTreeMap<String, Mark>> {
    let known = ledger.map(audiences).transpose()?;
    let parents = parents(engine)?;
    let mut statement = engine.prepare(MARKS)?;
    let mut rows = statement.query([])?;
    let mut marks = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (id, mark) = marked(row)?;
        let is_public = known.as_ref().map(|known| is_public(&parents, known, &id));
        marks.insert(id, Mark { is_public, ..mark });
    }
    Ok(marks)
}

/// Returns all sessions with their parents.
fn parents(engine: &Connection) -> rusqlite::Result<BTreeMap<String, Option<String>>> {
    let mut statement = engine.prepare("SELECT id, parent_id FROM session")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn is_public(
    parents: &BTreeMap<String, Option<String>>,
    known: &BTreeMap<String, Audience>,
    session: &str,
) -> bool {
    let ancestry = Ancestry::trace(session, |id| {
        let noted = parents.get(*id).and_then(Option::as_deref);
        Parent::verify(noted, |parent| parents.contains_key(*parent))
    });
    ancestry.audience(|id| known.get(*id).copied()) == Audience::Everyone
}

fn forget(index: &Connection, id: i64) -> rusqlite::Result<()> {
    index.prepare_cached("DELETE FROM document WHERE id = ?1")?.execute([id]).map(drop)
}

/// Notes a session, and returns its words.
fn read(
    index: &Connection,
    engine: &Connection,
    session: &str,
    mark: &Mark,
    is_public: bool,
) -> rusqlite::Result<(i64, Document)> {
    let document = gather(engine, session)?;
    // A number is never given twice: the words of a session that is gone may still be there.
    let sql = "UPDATE number SET next = next + 1 WHERE is_public = ?1 RETURNING next - 1";
    let id: i64 = index.prepare_cached(sql)?.query_one([is_public], |row| row.get(0))?;
    let sql = "INSERT INTO document VALUES (?1, ?2, ?3, ?4, ?5)";
    let row = params![id, session, mark.text, mark.last, document.last_words];
    index.prepare_cached(sql)?.execute(row)?;
    Ok((id, document))
}
