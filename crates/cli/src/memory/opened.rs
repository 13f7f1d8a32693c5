//! A memory, brought from its store into a folder of its own, to be looked at or changed by a person.

use std::path::{Path, PathBuf};

use anstream::println;
use clap::Args;
use fro_core::Fault;
use fro_memory::{Destination, Index, Keep, Kept, Ledger, Provenance, Recall, Sessions, Store, Visibility};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

use crate::env::{self, Env};

/// Which memory, and how it is shown.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The folder that keeps the memory; `FRO_MEMORY` if not given
    #[arg(long, value_name = "FOLDER", global = true)]
    memory: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

impl Which {
    /// Prints a value as JSON, or the text for people.
    pub(crate) fn show(
        &self,
        value: &Value,
        text: impl FnOnce() -> Result<String, Fault>,
    ) -> Result<(), Fault> {
        if self.json {
            println!("{value:#}");
        } else {
            println!("{}", text()?);
        }
        Ok(())
    }

    /// Returns the folder of the store.
    pub(crate) fn folder(&self, env: &Env) -> Result<PathBuf, Fault> {
        let named = self.memory.clone().or_else(|| env.text(env::FRO_MEMORY).map(PathBuf::from));
        let named = named.ok_or_else(|| {
            Fault::yours("no memory is named", "give `--memory FOLDER`, or set `FRO_MEMORY`")
        })?;
        if named.is_dir() {
            return Ok(named);
        }
        Err(Fault::yours(
            format!("there is no memory in `{}`", named.display()),
            "name the folder that runs keep their memory in; `FRO_MEMORY` has it in a workflow",
        ))
    }
}

/// A memory that was brought.
pub(crate) struct Opened {
    store: PathBuf,
    folder: TempDir,
    pub(crate) recall: Recall,
}

impl Opened {
    /// Brings a memory, every byte verified.
    pub(crate) fn bring(which: &Which, env: &Env) -> Result<Self, Fault> {
        let store = which.folder(env)?;
        let folder = tempfile::tempdir()
            .map_err(|error| Fault::ours(format!("cannot make a temporary folder: {error}")))?;
        let recall = restore(&store, folder.path())?;
        match &recall {
            Recall::Warm { .. } => Ok(Self { store, folder, recall }),
            Recall::Cold => Err(Fault::yours(
                format!("the memory in `{}` is empty", store.display()),
                "let a run save something first",
            )),
            Recall::Damaged { why } => Err(Fault::yours(
                format!("the memory in `{}` cannot be used: {why}", store.display()),
                "a damaged memory was set aside in the store; the next run begins a new one",
            )),
        }
    }

    /// Returns the folder with the engine's data.
    pub(crate) fn data(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the sessions.
    pub(crate) fn sessions(&self) -> Result<Sessions, Fault> {
        Sessions::open(self.data())?.ok_or_else(|| Fault::ours("the memory has no database of the engine"))
    }

    /// Returns the ledger.
    pub(crate) fn ledger(&self) -> Result<Ledger, Fault> {
        Ok(Ledger::open(self.ledger_file())?)
    }

    /// Returns the search index, up to date.
    pub(crate) fn index(&self, sessions: &Sessions) -> Result<Index, Fault> {
        let mut index = Index::open(self.data().join("index.db"))?;
        index.refresh(sessions)?;
        Ok(index)
    }

    /// Saves what was changed here; `wish` says how.
    pub(crate) fn save(&self, wish: impl FnOnce(Keep<'_>) -> Keep<'_>) -> Result<Kept, Fault> {
        let provenance = Provenance {
            now: Timestamp::now(),
            engine_version: fro_opencode::VERSION.to_owned(),
            parent: self.recall.head().cloned(),
        };
        let ledger = self.ledger_file();
        let keep = Keep::new(self.data(), provenance).with_ledger(&ledger);
        let keep = wish(keep.from([("by".to_owned(), "fro-bot memory".to_owned())]));
        Ok(keep.save(&Store::folder(&self.store)?)?)
    }

    fn ledger_file(&self) -> PathBuf {
        self.data().join(LEDGER)
    }
}

/// The ledger's name in a folder that a memory was brought to.
pub(crate) const LEDGER: &str = "fro-bot-ledger.db";

/// Brings the newest memory of a store into a folder.
pub(crate) fn restore(store: &Path, folder: &Path) -> Result<Recall, Fault> {
    let ledger = folder.join(LEDGER);
    let destination = Destination {
        engine_data: folder,
        ledger: Some(&ledger),
        engine_version: Some(fro_opencode::VERSION),
        audience: Visibility::Private,
    };
    Ok(fro_memory::recall_to(&Store::folder(store)?, destination)?)
}
