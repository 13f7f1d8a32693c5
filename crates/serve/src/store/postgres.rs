//! Postgres: a few connections that are kept, over a socket or over TLS.

use std::{str::FromStr as _, sync::Arc};

use fro_core::Secret;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio_postgres::{
    Client, Config,
    config::{Host, SslMode},
    types::ToSql,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    Error,
    row::{Row, Value},
};

/// Connections at the same time, of one process.
const PLACES: usize = 4;

/// The server.
#[derive(Clone)]
pub(super) struct Postgres {
    config: Arc<Config>,
    tls: MakeRustlsConnect,
    places: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Client>>>,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Postgres")
    }
}

impl Postgres {
    pub(super) fn open(url: &Secret) -> Result<Self, Error> {
        // What the parser says of a bad URL may quote it, password and all; its own words are left out.
        let config = Config::from_str(url.expose());
        let mut config = config.map_err(|_| Error::Address("it is no URL of Postgres".to_owned()))?;
        if config.get_ssl_mode() == SslMode::Prefer && !config.get_hosts().iter().all(is_near) {
            // "Prefer" would send the password in the clear to whoever says that TLS is not spoken here.
            config.ssl_mode(SslMode::Require);
        }
        config.application_name("fro-bot");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map_err(Error::Tls)?
            .with_no_client_auth();
        Ok(Self {
            config: Arc::new(config),
            tls: MakeRustlsConnect::new(tls),
            places: Arc::new(Semaphore::new(PLACES)),
            idle: Arc::default(),
        })
    }

    pub(super) async fn begin(&self) -> Result<PostgresWork, Error> {
        #[expect(clippy::expect_used, reason = "nobody closes it")]
        let place = Arc::clone(&self.places).acquire_owned().await.expect("the semaphore is open");
        // A server that was restarted leaves connections behind that end with the first word.
        loop {
            let kept = self.idle.lock().await.pop();
            let Some(client) = kept else { break };
            if !client.is_closed() && client.batch_execute("BEGIN").await.is_ok() {
                return Ok(PostgresWork { client, idle: Arc::clone(&self.idle), _place: place });
            }
        }
        let client = self.connect().await?;
        client.batch_execute("BEGIN").await.map_err(judge("BEGIN"))?;
        Ok(PostgresWork { client, idle: Arc::clone(&self.idle), _place: place })
    }

    async fn connect(&self) -> Result<Client, Error> {
        let connected = self.config.connect(self.tls.clone()).await;
        let (client, connection) = connected.map_err(judge("connect"))?;
        // Its end shows in the client, which says so to whoever asks next.
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }
}

/// Tells whether nobody stands between us and a host.
fn is_near(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

/// A transaction. One that is dropped without a commit never was: its connection is closed.
pub(super) struct PostgresWork {
    client: Client,
    idle: Arc<Mutex<Vec<Client>>>,
    _place: OwnedSemaphorePermit,
}

impl PostgresWork {
    /// Runs a statement and returns the rows of its answer.
    pub(super) async fn rows(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, Error> {
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let rows = self.client.query(sql, &values).await.map_err(judge(sql))?;
        let read = |row: tokio_postgres::Row| {
            let values = (0..row.len()).map(|column| row.try_get(column));
            values.collect::<Result<_, _>>().map(Row::new)
        };
        rows.into_iter().map(read).collect::<Result<_, _>>().map_err(judge(sql))
    }

    /// Runs several statements.
    pub(super) async fn script(&self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await.map_err(judge(sql))
    }

    pub(super) async fn commit(self) -> Result<(), Error> {
        self.script("COMMIT").await?;
        self.idle.lock().await.push(self.client);
        Ok(())
    }

    pub(super) async fn cancel(self) -> Result<(), Error> {
        self.script("ROLLBACK").await?;
        self.idle.lock().await.push(self.client);
        Ok(())
    }
}

fn judge(deed: &str) -> impl FnOnce(tokio_postgres::Error) -> Error {
    let deed = deed.to_owned();
    move |source| Error::Postgres { deed, source }
}
