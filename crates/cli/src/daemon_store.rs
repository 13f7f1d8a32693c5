//! Where the daemon keeps what it knows, as `serve`, `work` and `audit` are told.

use std::path::Path;

use clap::Args;
use fro_core::Fault;
use fro_serve::{Address, Store};

use crate::env::{self, Env};

/// Which database.
#[derive(Debug, Args)]
pub(crate) struct StoreOption {
    /// A file of SQLite, or a URL of Postgres; without it, what `FRO_STORE` says
    #[arg(long, value_name = "PATH|URL")]
    store: Option<String>,
}

impl StoreOption {
    /// Returns where the database is.
    pub(crate) fn address(&self, env: &Env) -> Result<Address, Fault> {
        let said = self.store.as_deref().or_else(|| env.text(env::FRO_STORE));
        said.map(Address::read).ok_or_else(|| {
            let hint =
                "set `FRO_STORE`, or give `--store`: a path, or a URL like `postgres://user@host/database`";
            Fault::yours("nobody said where the daemon keeps what it knows", hint)
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
