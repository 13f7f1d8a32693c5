//! A new database of each kind for every test: a file, and one of a Postgres that the first test starts.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use fro_serve::{Address, Store};
use tempfile::TempDir;

/// Where a test keeps things. The folder goes with it.
pub(crate) struct Database {
    pub(crate) address: Address,
    pub(crate) kind: &'static str,
    _folder: Option<TempDir>,
}

impl Database {
    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.address).await.unwrap()
    }

    /// Runs statements behind the store's back.
    pub(crate) async fn meddle(&self, sql: &str) -> Result<(), String> {
        match &self.address {
            Address::File(path) => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.execute_batch(sql).map_err(|error| error.to_string())
            }
            Address::Url(url) => execute(url.expose(), sql).await,
        }
    }
}

/// Returns a new database of each kind.
pub(crate) async fn each() -> [Database; 2] {
    [file(), server().await]
}

pub(crate) fn file() -> Database {
    let folder = tempfile::tempdir().unwrap();
    let address = Address::File(folder.path().join("kept/serve.db"));
    Database { address, kind: "sqlite", _folder: Some(folder) }
}

pub(crate) async fn server() -> Database {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let url = |name: &str| format!("postgres://fro@/{name}?host={}", socket().display());
    execute(&url("postgres"), &format!("CREATE DATABASE {name}")).await.unwrap();
    Database { address: Address::read(&url(&name)), kind: "postgres", _folder: None }
}

async fn execute(url: &str, sql: &str) -> Result<(), String> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let done = client.batch_execute(sql).await;
    drop(client);
    connection.await.unwrap().unwrap();
    done.map_err(|error| error.as_db_error().map_or(error.to_string(), |error| error.message().to_owned()))
}

/// Returns the folder of the server's socket. The server ends with this process, which holds its standard input.
fn socket() -> &'static Path {
    static SERVER: OnceLock<(PathBuf, Child)> = OnceLock::new();
    let (folder, _) = SERVER.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres");
        let script = Command::new(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut script = script.unwrap();
        let mut folder = String::new();
        BufReader::new(script.stdout.take().unwrap()).read_line(&mut folder).unwrap();
        assert!(!folder.is_empty(), "scripts/postgres could not start one");
        (PathBuf::from(folder.trim()), script)
    });
    folder
}
