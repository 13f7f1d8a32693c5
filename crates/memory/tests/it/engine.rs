//! The engine's side of the story: a data folder with a database as OpenCode 1.18.33 lays it out, cut to the bone.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde_json::json;
use tempfile::TempDir;

use fro_core::remembered::Audience;
use fro_memory::{Figures, Head, Kept, Provenance, Run};
use jiff::Timestamp;

/// The first moment of the stories: noon of the day, in milliseconds.
pub(crate) const NOON: i64 = 1_794_744_000_000;

/// A data folder of the engine, alone on its machine.
pub(crate) struct Engine {
    data: TempDir,
}

impl Engine {
    /// Returns an engine that never ran.
    pub(crate) fn fresh() -> Self {
        Self { data: tempfile::tempdir().unwrap() }
    }

    /// Returns an engine with this many sessions of one message each.
    pub(crate) fn with_sessions(n: u32) -> Self {
        let engine = Self::fresh();
        std::fs::create_dir(engine.data().join("opencode")).unwrap();
        let mut connection = engine.connect();
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF").unwrap();
        connection.execute_batch(include_str!("schema.sql")).unwrap();
        for number in 0..n {
            say(&mut connection, number, "The hose leaks.");
        }
        engine
    }

    /// Makes the database of an engine that was given none.
    pub(crate) fn begin(&self) -> Connection {
        std::fs::create_dir_all(self.home()).unwrap();
        let connection = self.connect();
        connection.execute_batch(include_str!("schema.sql")).unwrap();
        connection
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.data().join("opencode")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.home().join("opencode.db")
    }

    /// Returns the names of the files in the engine's folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let Ok(folder) = std::fs::read_dir(self.home()) else { return Vec::new() };
        let mut names: Vec<_> =
            folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Writes a file below `storage/`.
    pub(crate) fn write(&self, place: &str, content: impl AsRef<[u8]>) {
        let path = self.home().join("storage").join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Reads a file below `storage/`.
    pub(crate) fn read(&self, place: &str) -> String {
        std::fs::read_to_string(self.home().join("storage").join(place)).unwrap()
    }

    /// Opens the database as the engine does, with SQLite's own defaults for dead space.
    pub(crate) fn connect(&self) -> Connection {
        let connection = Connection::open(self.database()).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA secure_delete = OFF").unwrap();
        connection
    }

    /// Changes the database by SQL.
    pub(crate) fn change(&self, sql: &str) {
        self.connect().execute_batch(sql).unwrap();
    }

    /// Returns every message in the order in which the engine shows it: session, words, place in the event log.
    pub(crate) fn remembers(&self) -> Vec<(String, String, i64)> {
        let connection = self.connect();
        let sql = "SELECT session.id, json_extract(part.data, '$.text'), event_sequence.seq FROM session \
                   JOIN message ON message.session_id = session.id JOIN part ON part.message_id = message.id \
                   JOIN event_sequence ON aggregate_id = session.id \
                   ORDER BY session.id, message.time_created, message.id, part.id";
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// Returns the words of one session, in order.
    pub(crate) fn words(&self, session: &str) -> Vec<String> {
        self.remembers().into_iter().filter(|(id, ..)| id == session).map(|(_, words, _)| words).collect()
    }
}

/// Adds a session with one message and one event, all or nothing.
pub(crate) fn say(connection: &mut Connection, number: u32, words: &str) {
    let session = format!("ses_{number:08}");
    let transaction = connection.transaction().unwrap();
    open_session(&transaction, &session, NOON + i64::from(number));
    add_message(&transaction, &session, &format!("msg_{number:08}"), NOON + i64::from(number), words);
    transaction
        .execute(
            "INSERT INTO event VALUES ('evt_' || ?1, ?1, 7, 'message.updated.1', ?2)",
            params![session, words],
        )
        .unwrap();
    transaction.commit().unwrap();
}

/// Adds a session without a message.
pub(crate) fn open_session(connection: &Connection, session: &str, at: i64) {
    connection
        .execute(
            "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
             VALUES (?1, 'prj', 'a-slug', '/repo/a', 'a title', '1.18.33', ?2, ?2)",
            params![session, at],
        )
        .unwrap();
    connection.execute("INSERT INTO event_sequence VALUES (?1, 7, NULL)", [session]).unwrap();
}

/// Adds an assistant's message of one part that cost a cent.
pub(crate) fn add_message(connection: &Connection, session: &str, id: &str, at: i64, words: &str) {
    let data = json!({ "role": "assistant", "cost": 0.01, "time": { "created": at, "completed": at + 5 },
        "tokens": { "input": 10, "output": 2, "reasoning": 0, "cache": { "read": 0, "write": 0 } } });
    connection
        .execute(
            "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
            params![id, session, at, data.to_string()],
        )
        .unwrap();
    let part = json!({ "type": "text", "text": words }).to_string();
    connection
        .execute(
            "INSERT INTO part VALUES (replace(?1, 'msg', 'prt'), ?1, ?2, ?3, ?3, ?4)",
            params![id, session, at, part],
        )
        .unwrap();
}

/// Returns what the ledger notes of a run about a subject, one of the first three of which are private.
pub(crate) fn run(number: u32) -> Run {
    Run {
        id: format!("run-{number}"),
        subject: format!("octo/garden#{number}"),
        session: Some(format!("ses_{number:08}")),
        ended_at: Timestamp::from_millisecond(NOON + i64::from(number)).unwrap(),
        surface: "github".to_owned(),
        event: "issue_comment".to_owned(),
        actor: "mara".to_owned(),
        trust: "maintainer".to_owned(),
        visibility: if number < 3 { Audience::Insiders } else { Audience::Everyone },
        outcome: "answered".to_owned(),
        links: Vec::new(),
        figures: Figures::default(),
    }
}

/// Returns the provenance of a save at noon.
pub(crate) fn after(parent: Option<&Head>) -> Provenance {
    Provenance {
        now: "2026-11-15T12:00:00Z".parse().unwrap(),
        engine_version: "1.18.33".to_owned(),
        parent: parent.cloned(),
    }
}

/// Returns where a save ended that must have gone well.
#[track_caller]
pub(crate) fn saved(kept: &Kept) -> Head {
    kept.head().unwrap_or_else(|| panic!("not saved: {kept:?}")).clone()
}
