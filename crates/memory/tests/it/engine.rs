//! The engine's side of the story: a data folder with a database as OpenCode 1.18.33 lays it out, cut to the bone.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use tempfile::TempDir;

use fro_memory::{Head, Kept, Provenance};

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = OFF;
    CREATE TABLE account (id text PRIMARY KEY, email text NOT NULL, access_token text NOT NULL, refresh_token text NOT NULL);
    CREATE TABLE account_state (id integer PRIMARY KEY, active_account_id text REFERENCES account(id) ON DELETE SET NULL);
    CREATE TABLE control_account (email text, url text, access_token text NOT NULL, PRIMARY KEY (email, url));
    CREATE TABLE credential (id text PRIMARY KEY, label text NOT NULL, value text NOT NULL);
    CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer NOT NULL, owner_id text);
    CREATE TABLE event (id text PRIMARY KEY, aggregate_id text NOT NULL REFERENCES event_sequence(aggregate_id) ON DELETE CASCADE,
        seq integer NOT NULL, type text NOT NULL, data text NOT NULL);
    CREATE TABLE session (id text PRIMARY KEY, title text NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE, data text NOT NULL);
    CREATE TABLE session_share (session_id text PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE, secret text NOT NULL);
    CREATE UNIQUE INDEX event_aggregate_seq_idx ON event (aggregate_id, seq);
    CREATE INDEX message_session_idx ON message (session_id, id);";

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
        connection.execute_batch(SCHEMA).unwrap();
        for number in 0..n {
            say(&mut connection, number, "The hose leaks.");
        }
        engine
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data().join("opencode/opencode.db")
    }

    /// Returns the names of the files in the engine's folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let Ok(folder) = std::fs::read_dir(self.data().join("opencode")) else { return Vec::new() };
        folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Opens the database as the engine does, with SQLite's own defaults for dead space.
    pub(crate) fn connect(&self) -> Connection {
        let connection = Connection::open(self.database()).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA secure_delete = OFF").unwrap();
        connection
    }

    /// Returns every session with its words and its place in the event log.
    pub(crate) fn remembers(&self) -> Vec<(String, String, i64)> {
        let connection = self.connect();
        let sql = "SELECT session.id, message.data, event_sequence.seq FROM session \
                   JOIN message ON session_id = session.id JOIN event_sequence ON aggregate_id = session.id \
                   ORDER BY session.id";
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }
}

/// Adds a session with one message and one event, all or nothing.
pub(crate) fn say(connection: &mut Connection, number: u32, words: &str) {
    let session = format!("ses_{number:08}");
    let transaction = connection.transaction().unwrap();
    transaction.execute("INSERT INTO session VALUES (?1, 'a title', 0)", [&session]).unwrap();
    transaction
        .execute("INSERT INTO message VALUES ('msg_' || ?1, ?1, ?2)", params![session, words])
        .unwrap();
    transaction.execute("INSERT INTO event_sequence VALUES (?1, 7, NULL)", [&session]).unwrap();
    transaction
        .execute(
            "INSERT INTO event VALUES ('evt_' || ?1, ?1, 7, 'message.updated.1', ?2)",
            params![session, words],
        )
        .unwrap();
    transaction.commit().unwrap();
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
