//! What is remembered, for people and for the agent: which sessions there are and what was said in them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde_json::Value;

use crate::{
    archive::Archive,
    database::{self, judge},
    error::Error,
    snapshot::part::ChunkPart,
};

const INFO: &str = "SELECT id, title, parent_id, directory, time_created, time_updated, time_archived, cost, \
    (SELECT count(*) FROM message WHERE session_id = session.id) FROM session";

/// The sessions that the engine has, and those of the memory that it was not given, opened for reading.
#[derive(Debug)]
pub struct Sessions {
    engine: Option<Connection>,
    rest: Option<Rest>,
}

/// Sessions that the engine was not given.
#[derive(Debug)]
struct Rest {
    archive: Archive,
    /// Has those that were fetched.
    fetched: Connection,
}

/// A session as a line in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Info {
    /// The engine's id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// The session that asked for it, if one did.
    pub parent: Option<String>,
    /// The folder it works in.
    pub directory: String,
    /// When it began.
    pub created: Timestamp,
    /// When something was last said.
    pub updated: Timestamp,
    /// Tells whether the session was closed.
    pub is_archived: bool,
    /// What it cost, in dollars.
    pub cost: f64,
    /// How many messages it has.
    pub messages: u32,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionMessage {
    /// The engine's id.
    pub id: String,
    /// `user` or `assistant`.
    pub role: String,
    /// When it was said.
    pub at: Timestamp,
    /// What was said, and what tools were asked and answered.
    pub text: String,
}

/// Which of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// How many are left out at the beginning.
    pub skip: u32,
    /// How many at most.
    pub limit: u32,
}

impl Sessions {
    /// Opens the engine's database, if there is one.
    pub fn open(engine_data: &Path) -> Result<Option<Self>, Error> {
        Ok(opened(engine_data)?.map(|engine| Self { engine: Some(engine), rest: None }))
    }

    /// Opens the engine's database, if there is one, and the rest of the memory. What is fetched of that goes into this
    /// folder, which the agent must not reach.
    pub fn open_all(engine_data: &Path, archive: &Archive, folder: &Path) -> Result<Self, Error> {
        let rest = Rest { archive: archive.clone(), fetched: archive.open(folder)? };
        Ok(Self { engine: opened(engine_data)?, rest: Some(rest) })
    }

    /// Returns sessions without parents, the last spoken in first.
    pub fn list(&self, page: Page) -> Result<Vec<Info>, Error> {
        let fail = judge("list the sessions");
        let mut all: BTreeMap<String, Info> = BTreeMap::new();
        all.extend(
            self.rest.iter().flat_map(|rest| rest.archive.infos()).map(|info| (info.id.clone(), info)),
        );
        if let Some(engine) = &self.engine {
            let mut statement = engine.prepare(INFO).map_err(&fail)?;
            for row in statement.query_map([], info).map_err(&fail)? {
                let info = row.map_err(&fail)?;
                all.insert(info.id.clone(), info);
            }
        }
        let mut list: Vec<Info> = all.into_values().filter(|info| info.parent.is_none()).collect();
        list.sort_by(|left, right| (right.updated, &left.id).cmp(&(left.updated, &right.id)));
        Ok(list.into_iter().skip(page.skip as usize).take(page.limit as usize).collect())
    }

    /// Returns one session.
    pub fn info(&self, id: &str) -> Result<Option<Info>, Error> {
        if let Some(engine) = &self.engine {
            let row = engine.query_one(&format!("{INFO} WHERE id = ?1"), [id], info);
            if let Some(info) = row.optional().map_err(judge("read the session"))? {
                return Ok(Some(info));
            }
        }
        Ok(self.rest.as_ref().and_then(|rest| rest.archive.info(id)))
    }

    /// Returns how much was said in a session, in bytes.
    pub fn size(&self, id: &str) -> Result<u64, Error> {
        if let Some(engine) = self.engine.as_ref().filter(|engine| has(engine, id)) {
            let sql = "SELECT coalesce(sum(length(data)), 0) FROM part WHERE session_id = ?1";
            let bytes: i64 =
                engine.query_one(sql, [id], |row| row.get(0)).map_err(judge("measure the session"))?;
            return Ok(u64::try_from(bytes).unwrap_or_default());
        }
        Ok(self.rest.as_ref().and_then(|rest| rest.archive.size(id)).unwrap_or_default())
    }

    /// Returns what was said in a session, in order.
    pub fn read(&self, id: &str, page: Page) -> Result<Vec<SessionMessage>, Error> {
        let Some(connection) = self.with(id)? else { return Ok(Vec::new()) };
        let fail = judge("read the session");
        let sql = "SELECT id, time_created, data FROM message WHERE session_id = ?1 \
                   ORDER BY time_created, id LIMIT ?2 OFFSET ?3";
        let mut statement = connection.prepare(sql).map_err(&fail)?;
        let rows = statement.query_map(params![id, page.limit, page.skip], |row| {
            let (id, at, data): (String, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let data: Value = serde_json::from_str(&data).unwrap_or_default();
            let role = data["role"].as_str().unwrap_or("unknown").to_owned();
            let text = text_of(connection, &id)?;
            Ok(SessionMessage { id, role, at: time(at), text })
        });
        rows.map_err(&fail)?.collect::<rusqlite::Result<_>>().map_err(fail)
    }

    /// Returns a database that has this session, fetched if need be; nothing if there is none.
    pub(crate) fn with(&self, id: &str) -> Result<Option<&Connection>, Error> {
        if let Some(engine) = self.engine.as_ref().filter(|engine| has(engine, id)) {
            return Ok(Some(engine));
        }
        let Some(rest) = self.rest.as_ref().filter(|rest| rest.archive.info(id).is_some()) else {
            return Ok(None);
        };
        rest.archive.load(&rest.fetched, &BTreeSet::from([id.to_owned()]))?;
        Ok(Some(&rest.fetched))
    }

    /// Fetches those of some sessions that are not here, all at once.
    pub(crate) fn bring(&self, ids: BTreeSet<String>) -> Result<(), Error> {
        let Some(rest) = &self.rest else { return Ok(()) };
        let is_here = |id: &String| self.engine.as_ref().is_some_and(|engine| has(engine, id));
        rest.archive.load(&rest.fetched, &ids.into_iter().filter(|id| !is_here(id)).collect())
    }

    /// Fetches sheaves of the search index that are not on this machine, all that can be read.
    pub(crate) fn sheaves(&self, names: &[Hash]) -> Result<HashMap<Hash, Vec<u8>>, Error> {
        self.rest.as_ref().map_or_else(|| Ok(HashMap::new()), |rest| rest.archive.sheaves(names))
    }

    /// Fetches blocks of the search index that are not on this machine, all that can be read.
    pub(crate) fn blocks(&self, places: &[ChunkPart]) -> Result<HashMap<ChunkPart, Vec<u8>>, Error> {
        self.rest.as_ref().map_or_else(|| Ok(HashMap::new()), |rest| rest.archive.blocks(places))
    }

    /// Returns all databases, after everything was fetched: for an index that has to be made anew.
    pub(crate) fn everything(&self) -> Result<Vec<&Connection>, Error> {
        if let Some(rest) = &self.rest {
            rest.archive.load(&rest.fetched, &rest.archive.ids())?;
        }
        Ok(self.rest.iter().map(|rest| &rest.fetched).chain(&self.engine).collect())
    }
}

fn opened(engine_data: &Path) -> Result<Option<Connection>, Error> {
    let Some(database) = database::find(engine_data)? else { return Ok(None) };
    let connection = database::open(&database)?;
    database::refuse_foreign(&connection)?;
    Ok(Some(connection))
}

/// Tells whether a database has a session.
fn has(connection: &Connection, id: &str) -> bool {
    let found = connection.prepare_cached("SELECT 1 FROM session WHERE id = ?1");
    found.and_then(|mut statement| statement.exists([id])).unwrap_or(false)
}

/// Returns the words of a message: its texts, and what tools were asked and answered.
pub(crate) fn text_of(connection: &Connection, message: &str) -> rusqlite::Result<String> {
    let mut statement =
        connection.prepare_cached("SELECT data FROM part WHERE message_id = ?1 ORDER BY time_created, id")?;
    let mut rows = statement.query([message])?;
    let mut texts: Vec<String> = Vec::new();
    while let Some(row) = rows.next()? {
        let data: String = row.get(0)?;
        let Ok(part) = serde_json::from_str::<Value>(&data) else { continue };
        texts.extend(part["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned));
        if let Some(tool) = part["tool"].as_str() {
            let input = &part["state"]["input"];
            let input = if input.is_null() { String::new() } else { input.to_string() };
            let output = part["state"]["output"].as_str().unwrap_or_default();
            texts.push(format!("[{tool}] {input}\n{output}"));
        }
    }
    Ok(texts.join("\n"))
}

fn info(row: &Row<'_>) -> rusqlite::Result<Info> {
    Ok(Info {
        id: row.get(0)?,
        title: row.get(1)?,
        parent: row.get(2)?,
        directory: row.get(3)?,
        created: time(row.get(4)?),
        updated: time(row.get(5)?),
        is_archived: row.get::<_, Option<i64>>(6)?.is_some(),
        cost: row.get(7)?,
        messages: row.get(8)?,
    })
}

pub(crate) fn time(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
