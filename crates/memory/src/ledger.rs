//! Our own records beside the engine's: which session belongs to which subject, and what each run cost and did.
//!
//! The file lies where the agent cannot reach it. Two ledgers are merged by uniting their rows, since a run writes only
//! its own.

use std::path::{Path, PathBuf};

use fro_core::remembered::Audience;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use crate::{
    database::{self, judge},
    error::Error,
    merge,
    schema::tables,
};

/// One row per run; everything that is not looked up by is in `data`.
const SCHEMA: &str = "
    PRAGMA journal_mode = DELETE;
    CREATE TABLE IF NOT EXISTS run (id text PRIMARY KEY, subject text NOT NULL, session text, ended_at integer NOT NULL,
        data text NOT NULL);
    CREATE INDEX IF NOT EXISTS run_subject ON run (subject, ended_at);
    CREATE INDEX IF NOT EXISTS run_session ON run (session);";

/// What is known of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Unlike any other run's: run id, attempt and event.
    #[serde(skip)]
    pub id: String,
    /// What it was about, such as `octo/garden#7`.
    #[serde(skip)]
    pub subject: String,
    /// The engine's session, if there was one.
    #[serde(skip)]
    pub session: Option<String>,
    /// When it ended.
    #[serde(skip, default = "never")]
    pub ended_at: Timestamp,
    /// Where it came from: `github` or `discord`.
    pub surface: String,
    /// What set it off.
    pub event: String,
    /// Whose words it acted on.
    pub actor: String,
    /// How far those are trusted.
    pub trust: String,
    /// Who may see what was said: a public subject never recalls a private session.
    #[serde(with = "StoredAudience")]
    pub visibility: Audience,
    /// How it ended.
    pub outcome: String,
    /// Where its answer is.
    pub links: Vec<String>,
    /// What it took.
    #[serde(flatten)]
    pub figures: Figures,
}

/// What a run took, and what it had of its memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// How long it took, in milliseconds.
    pub duration: u64,
    /// When the first words for a person were out, in milliseconds from the start of the job.
    pub first_output: Option<u64>,
    /// What it cost, in millionths of a dollar.
    pub cost: u64,
    /// Tokens read and written by the model.
    pub tokens: Tokens,
    /// The sessions that were recalled into its prompt.
    pub recalled: Vec<String>,
    /// How often the agent searched and read its memory.
    pub memory_calls: u32,
    /// How often it explored the code: reads, searches, listings.
    pub exploration_calls: u32,
    /// Whether there was a memory to begin with.
    #[serde(default)]
    pub is_warm: bool,
}

/// Who may see a session, in the words of the ledger's format.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Audience")]
enum StoredAudience {
    #[serde(rename = "public")]
    Everyone,
    #[serde(rename = "private")]
    Insiders,
}

/// What a model counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
}

fn never() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

/// The records of one memory.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    path: PathBuf,
}

impl Ledger {
    /// Opens the ledger in this file, made if need be.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let fail = judge("open the ledger");
        let connection = Connection::open(path.as_ref()).map_err(&fail)?;
        // The file lies in a run's own folder: what is to outlive the machine is saved from there.
        connection.execute_batch("PRAGMA synchronous = OFF").map_err(&fail)?;
        connection.execute_batch(SCHEMA).map_err(fail)?;
        Ok(Self { connection, path: path.as_ref().to_owned() })
    }

    /// Returns where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes a run, or what has changed about it.
    pub fn record(&self, run: &Run) -> Result<(), Error> {
        let data = serde_json::to_string(run).map_err(std::io::Error::from)?;
        let row = params![run.id, run.subject, run.session, run.ended_at.as_millisecond(), data];
        let sql = "INSERT OR REPLACE INTO run VALUES (?1, ?2, ?3, ?4, ?5)";
        self.connection.execute(sql, row).map_err(judge("write to the ledger"))?;
        Ok(())
    }

    /// Removes the runs that this is said of, and returns them.
    pub fn forget(&self, concerned: impl Fn(&Run) -> bool) -> Result<Vec<Run>, Error> {
        let runs: Vec<Run> = self.newest(u32::MAX)?.into_iter().filter(concerned).collect();
        for run in &runs {
            let done = self.connection.execute("DELETE FROM run WHERE id = ?1", [&run.id]);
            done.map_err(judge("remove a run from the ledger"))?;
        }
        self.connection.execute_batch("VACUUM").map_err(judge("remove a run from the ledger"))?;
        Ok(runs)
    }

    /// Returns the connection, for the index.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns the session in which a subject was last spoken about.
    pub fn session_of(&self, subject: &str) -> Result<Option<String>, Error> {
        let sql = "SELECT session FROM run WHERE subject = ?1 AND session IS NOT NULL ORDER BY ended_at DESC, id DESC LIMIT 1";
        self.connection
            .query_one(sql, [subject], |row| row.get(0))
            .optional()
            .map_err(judge("read the ledger"))
    }

    /// Returns the runs in a session, oldest first.
    pub fn runs_of(&self, session: &str) -> Result<Vec<Run>, Error> {
        self.select("WHERE session = ?1 ORDER BY ended_at, id", &[session])
    }

    /// Returns the runs about a subject, newest first.
    pub fn runs_about(&self, subject: &str) -> Result<Vec<Run>, Error> {
        self.select("WHERE subject = ?1 ORDER BY ended_at DESC, id DESC", &[subject])
    }

    /// Returns the newest runs, newest first.
    pub fn newest(&self, limit: u32) -> Result<Vec<Run>, Error> {
        self.select(&format!("ORDER BY ended_at DESC, id DESC LIMIT {limit}"), &[])
    }

    fn select(&self, rest: &str, arguments: &[&str]) -> Result<Vec<Run>, Error> {
        let fail = judge("read the ledger");
        let sql = format!("SELECT id, subject, session, ended_at, data FROM run {rest}");
        let mut statement = self.connection.prepare(&sql).map_err(&fail)?;
        let rows = statement.query_map(rusqlite::params_from_iter(arguments), |row| {
            let data: String = row.get(4)?;
            let mut run: Run = serde_json::from_str(&data).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(4, rusqlite::types::Type::Text, error.into())
            })?;
            (run.id, run.subject, run.session) = (row.get(0)?, row.get(1)?, row.get(2)?);
            run.ended_at = Timestamp::from_millisecond(row.get(3)?).unwrap_or_else(|_| never());
            Ok(run)
        });
        rows.map_err(&fail)?.collect::<rusqlite::Result<_>>().map_err(fail)
    }
}

/// Leaves out what `Ledger::open` makes again: a ledger travels with every run.
pub(crate) fn strip(ledger: &Connection) -> Result<(), Error> {
    let sql = "DROP INDEX IF EXISTS run_subject; DROP INDEX IF EXISTS run_session";
    ledger.execute_batch(sql).map_err(judge("pack the ledger"))
}

/// Adds the rows of one ledger to another, without those of sessions that were forgotten; of a run that both know,
/// ours is taken.
pub(crate) fn merge(target: &Path, ours: &Path, forgotten: &[&String]) -> Result<(), Error> {
    let fail = judge("merge the ledgers");
    let connection = database::open_copy(target)?;
    connection.execute_batch(SCHEMA).map_err(&fail)?;
    merge::attach(&connection, ours, "other")?;
    if tables(&connection, "other").map_err(&fail)?.contains("run") {
        let sql =
            "INSERT OR REPLACE INTO main.run SELECT id, subject, session, ended_at, data FROM other.run";
        connection.execute(sql, []).map_err(&fail)?;
    }
    for session in forgotten {
        connection.execute("DELETE FROM run WHERE session = ?1", [session]).map_err(&fail)?;
    }
    Ok(())
}
