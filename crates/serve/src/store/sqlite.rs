//! SQLite: one connection on a thread of its own, so that waiting for the file keeps nobody else waiting.

use std::{
    path::Path,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, params_from_iter};
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};

use super::{
    Error,
    row::{Row, Value},
};

/// How long another process may keep us waiting.
const PATIENCE: Duration = Duration::from_secs(20);

/// The file.
#[derive(Debug, Clone)]
pub(super) struct Sqlite {
    connection: Arc<Mutex<Jobs>>,
}

/// The way to the thread that has the connection.
type Jobs = mpsc::Sender<Box<dyn FnOnce(&Connection) + Send>>;

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.map_or(Ok(()), fs_err::create_dir_all).map_err(Error::Folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let fail = |source| Error::Sqlite { deed: format!("open {}", path.display()), source };
        let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
        connection.busy_timeout(PATIENCE).map_err(fail)?;
        // A power cut may not take back what was said to be written: an answer would be posted twice.
        let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON";
        connection.execute_batch(pragmas).map_err(fail)?;
        let (jobs, inbox) = mpsc::channel::<Box<dyn FnOnce(&Connection) + Send>>();
        thread::spawn(move || inbox.into_iter().for_each(|job| job(&connection)));
        Ok(Self { connection: Arc::new(Mutex::new(jobs)) })
    }

    /// Begins a transaction, which is the only one that writes until it ends.
    pub(super) async fn begin(&self) -> Result<SqliteWork, Error> {
        let mut work = SqliteWork { jobs: Arc::clone(&self.connection).lock_owned().await, open: true };
        if let Err(error) = work.script("BEGIN IMMEDIATE").await {
            work.open = false;
            return Err(error);
        }
        Ok(work)
    }
}

/// A transaction. One that is dropped without a commit never was.
#[derive(Debug)]
pub(super) struct SqliteWork {
    jobs: OwnedMutexGuard<Jobs>,
    open: bool,
}

impl SqliteWork {
    /// Runs a statement and returns the rows of its answer.
    pub(super) async fn rows(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, Error> {
        // `$1` would be a name here, numbered by its first appearance.
        let sql = sql.replace('$', "?");
        self.run(sql, move |connection, sql| {
            let mut statement = connection.prepare_cached(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query(params_from_iter(values))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let values = (0..columns).map(|column| row.get(column)).collect::<rusqlite::Result<_>>()?;
                found.push(Row::new(values));
            }
            Ok(found)
        })
        .await
    }

    /// Runs several statements.
    pub(super) async fn script(&self, sql: &str) -> Result<(), Error> {
        self.run(sql.to_owned(), Connection::execute_batch).await
    }

    pub(super) async fn commit(mut self) -> Result<(), Error> {
        self.script("COMMIT").await?;
        self.open = false;
        Ok(())
    }

    pub(super) async fn cancel(mut self) -> Result<(), Error> {
        self.script("ROLLBACK").await?;
        self.open = false;
        Ok(())
    }

    async fn run<T: Send + 'static>(
        &self,
        sql: String,
        deed: impl FnOnce(&Connection, &str) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        let job = Box::new(move |connection: &Connection| {
            let done = deed(connection, &sql).map_err(|source| Error::Sqlite { deed: sql, source });
            // Nobody waits any more if the asker was dropped; its transaction is rolled back behind this.
            drop(answer.send(done));
        });
        #[expect(
            clippy::expect_used,
            reason = "the thread ends when the last sender is dropped, and this is one"
        )]
        self.jobs.send(job).expect("the thread of the database lives");
        #[expect(clippy::expect_used, reason = "every job answers, and no job panics")]
        answered.await.expect("the thread of the database answers")
    }
}

impl Drop for SqliteWork {
    fn drop(&mut self) {
        if self.open {
            // In the same queue as all else, so before whoever gets the connection next.
            drop(self.jobs.send(Box::new(|connection| drop(connection.execute_batch("ROLLBACK")))));
        }
    }
}
