//! Removes sessions for good, with their children and whatever else speaks of them.

use std::{collections::BTreeSet, path::Path};

use crate::{
    database::{self, judge},
    error::Error,
    schema::tables,
    snapshot::{
        leaf::{self, SessionEntries},
        manifest::{INDEX, LEDGER},
    },
    store::{Listing, Store},
};

/// Returns sessions with everything that was opened for them, those that are gone already too.
pub(crate) fn with_children(known: &SessionEntries, sessions: &BTreeSet<String>) -> BTreeSet<String> {
    let mut all = sessions.clone();
    all.extend(sessions.iter().flat_map(|session| leaf::tree(known, session)));
    all
}

/// Removes the runs of sessions from a ledger that was restored into this folder.
///
/// The search index still knows their words, so it goes too; it is made anew.
pub(crate) fn in_folder(folder: &Path, sessions: &BTreeSet<String>) -> Result<(), Error> {
    if sessions.is_empty() {
        return Ok(());
    }
    let fail = judge("forget runs in the ledger");
    if folder.join(LEDGER).exists() {
        let ledger = database::open_copy(&folder.join(LEDGER))?;
        if tables(&ledger, "main").map_err(&fail)?.contains("run") {
            for session in sessions {
                ledger.execute("DELETE FROM run WHERE session = ?1", [session]).map_err(&fail)?;
            }
        }
    }
    if folder.join(INDEX).exists() {
        fs_err::remove_file(folder.join(INDEX))?;
    }
    Ok(())
}

/// Deletes what a release of the former format saved in the same place: what is taken out of a memory is in it.
pub(crate) fn former(store: &Store) -> Result<(), Error> {
    let Some(former) = store.former()? else { return Ok(()) };
    if let Some(head) = former.head()? {
        former.set_aside(&head)?;
        former.drop_aside(&head)?;
    }
    if let Listing::Known(listed) = former.list()? {
        listed.iter().try_for_each(|listed| former.delete(listed.object))?;
    }
    Ok(())
}
