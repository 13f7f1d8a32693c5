//! Where the daemon keeps what it knows, as `serve`, `work`, `audit` and `doctor` are told.

use std::path::Path;

use clap::Args;
use fro_core::Fault;
use fro_serve::{Address, Store};
use jiff::Timestamp;

use crate::env::{self, Env};

/// Returns a name for a process of the daemon that no other has: containers share process numbers, and may share the name of
/// their host, and two processes of one name would take each other's work.
pub(crate) fn process_name(kind: &str) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let moment = Timestamp::now().subsec_nanosecond();
    format!("{kind}-{host}-{}-{moment:x}", std::process::id())
}

/// Which database.
#[derive(Debug, Args)]
pub(crate) struct StoreOption {
    /// The daemon's database: an SQLite file or a Postgres URL; without it, what `FRO_STORE` says
    #[arg(long, value_name = "PATH|URL")]
    store: Option<String>,
}

impl StoreOption {
    /// Returns where the database is, if anybody said.
    pub(crate) fn said(&self, env: &Env) -> Option<Address> {
        self.store.as_deref().or_else(|| env.text(env::FRO_STORE)).map(Address::read)
    }

    /// Returns where the database is.
    pub(crate) fn address(&self, env: &Env) -> Result<Address, Fault> {
        self.said(env).ok_or_else(|| {
            let hint =
                "set `FRO_STORE`, or give `--store`: a path, or a URL like `postgres://user@host/database`";
            Fault::yours("it is not known where the daemon's database is", hint)
        })
    }

    /// Opens a database that is there already: whoever looks at one means none that is made for the look.
    pub(crate) async fn existing(&self, env: &Env) -> Result<Store, Fault> {
        let address = self.address(env)?;
        if let Address::File(path) = &address
            && !Path::new(path).is_file()
        {
            let what = format!("there is no database at {}", path.display());
            return Err(Fault::yours(what, "give the path that `fro-bot serve` was given"));
        }
        Store::open(&address).await.map_err(|error| error.fault())
    }
}
