//! Carries a memory of the former format over into this one, once, and leaves the former where it is.

use jiff::Timestamp;
use tempfile::TempDir;

use crate::{
    database,
    error::{Error, Flaw, Refusal},
    keep::{Keep, Provenance},
    newest::stray,
    private,
    prune::Retention,
    recall::Recall,
    snapshot::{
        former::FormerManifest,
        manifest::{INDEX, LEDGER},
    },
    store::{Head, Store},
};

/// A memory of the former format in a store of its own.
pub(crate) struct CarriedOver {
    pub(crate) store: Store,
    _folder: TempDir,
}

/// Saves the newest memory of the former format anew, if this format has none yet.
///
/// Where that cannot be, because nothing may be written or the former one is damaged, there is nothing to carry over.
pub(crate) fn carry_over(store: &Store) -> Result<(), Error> {
    if store.head()?.is_some() {
        return Ok(());
    }
    let Some(former) = store.former()? else { return Ok(()) };
    // A memory of this format that lost its head is newer than one of the former.
    if stray(store)?.is_some() {
        return Ok(());
    }
    let done = store.may_write().and_then(|()| into(&former, store));
    match done {
        Ok(()) => Ok(()),
        Err(Error::Flawed(why)) => {
            tracing::warn!("the memory of the former format was not carried over: {why}");
            Ok(())
        }
        Err(error) if matches!(error.refusal(), Some(Refusal::ReadOnly | Refusal::Denied)) => {
            tracing::warn!("the memory of the former format was not carried over: {}", error.story());
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Carries the newest memory of the former format over into a store that nobody else knows.
pub(crate) fn aside(store: &Store) -> Result<Option<CarriedOver>, Error> {
    let Some(former) = store.former()? else { return Ok(None) };
    let folder = tempfile::tempdir()?;
    let store = Store::folder(folder.path())?;
    into(&former, &store)?;
    Ok(Some(CarriedOver { store, _folder: folder }))
}

/// Tells what the newest memory of the former format is, as far as its manifest says.
pub(crate) fn look(store: &Store) -> Result<Recall, Error> {
    let Some(former) = store.former()? else { return Ok(Recall::Cold) };
    let Some(head) = former.head()? else { return Ok(Recall::Cold) };
    match newest(&former, &head) {
        Ok(manifest) => Ok(Recall::Warm {
            head,
            sessions: manifest.statistics.sessions,
            bytes: manifest.statistics.bytes,
            saved_at: manifest.saved_at,
            engine: manifest.engine,
            instead_of: None,
        }),
        Err(Error::Flawed(why)) => Ok(Recall::Damaged { why }),
        Err(error) => Err(error),
    }
}

fn newest(former: &Store, head: &Head) -> Result<FormerManifest, Error> {
    FormerManifest::fetch(former, head.manifest()?)
}

fn into(former: &Store, store: &Store) -> Result<(), Error> {
    let head = former.head()?.ok_or(Flaw::Head)?;
    let manifest = newest(former, &head)?;
    let folder = tempfile::tempdir()?;
    private::folder(&folder.path().join("opencode"))?;
    let home = database::home(folder.path())?;
    manifest.restore(former, &home)?;
    let [ledger, index] = [LEDGER, INDEX].map(|name| folder.path().join(name));
    for (from, to) in [(LEDGER, &ledger), (INDEX, &index)] {
        if home.join(from).exists() {
            fs_err::rename(home.join(from), to)?;
        }
    }
    let now = manifest.saved_at.max(Timestamp::UNIX_EPOCH);
    let provenance = Provenance { now, engine_version: manifest.engine, parent: None };
    let origin = manifest.origin.into_iter().chain([("carried over".to_owned(), head.as_str().to_owned())]);
    let keep = Keep::new(folder.path(), provenance).from(origin).pruning(Retention::EVERYTHING);
    keep.with_ledger(&ledger).with_index(&index).save(store)?;
    Ok(())
}
