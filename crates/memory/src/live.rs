//! Brings what others saved into the database of an engine that is running.

use std::path::Path;

use jiff::Timestamp;

use crate::{
    database::{self, judge},
    error::Error,
    fingerprint::{Fingerprints, fingerprints},
    merge::{self, MergeSides, MergeVerdict, Merged, Target, rows},
    relocate::set_back,
    schema::SessionTables,
    snapshot::{
        manifest::ENGINE_DATABASE,
        restore::{TableChoice, restore_sessions},
        saved::Saved,
    },
    store::{Head, Store},
    upload::migrations,
};

/// The end of a refresh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refreshed {
    /// The store has no newer save.
    Current,
    /// The engine knows now what the others know.
    Merged {
        /// The parent of the next save.
        head: Head,
        /// What both had continued: the others' turns follow after the engine's.
        merged: Merged,
    },
    /// The others' engine knows tables that this one does not; nothing was changed.
    Apart,
}

/// Merges the head into the engine's database, which came from `base`, in one transaction.
///
/// No turn may be in flight. Turns that follow after others can end up ahead of `now`, and a message in the future
/// would make the engine talk to itself, so joined sessions are set back as a whole.
pub fn refresh(
    store: &Store,
    engine_data: &Path,
    base: Option<&Head>,
    now: Timestamp,
) -> Result<Refreshed, Error> {
    let Some(head) = store.head()?.filter(|head| Some(head) != base) else { return Ok(Refreshed::Current) };
    let Some(database) = database::find(engine_data)? else { return Ok(Refreshed::Current) };
    let theirs = Saved::at(store, &head)?;
    let base = match base.map(|base| Saved::at(store, base)) {
        Some(Ok(base)) => Some(base),
        Some(Err(Error::Flawed(_))) | None => None,
        Some(Err(error)) => return Err(error),
    };
    let scratch = tempfile::tempdir()?;
    let all = theirs.sessions.keys().cloned().collect();
    restore_sessions(store, &theirs, scratch.path(), &all, TableChoice::Newest)?;
    let other = scratch.path().join(ENGINE_DATABASE);
    database::inspect(&database::open(&other)?)?;

    let fail = judge("merge into the engine's database");
    let connection = database::open_live(&database)?;
    database::refuse_foreign(&connection)?;
    merge::attach(&connection, &other, "other")?;
    let known = migrations(&connection).map_err(&fail)?;
    let group = SessionTables::read(&connection, "main").map_err(&fail)?;
    if !known.is_superset(&theirs.migrations()) || !rows::is_enough(&connection, &group).map_err(&fail)? {
        return Ok(Refreshed::Apart);
    }
    // Attaching is not possible within a transaction, so the base is brought for whatever may have to be joined.
    let (base_notes, their_notes) = (base.as_ref().map(Saved::notes), theirs.notes());
    let verdicts = |ours: &Fingerprints| {
        let sides =
            MergeSides { base: base_notes.as_ref(), ours, theirs: &their_notes, gone: &theirs.manifest.gone };
        sides.verdicts()
    };
    let before = verdicts(&fingerprints(&connection, "main").map_err(&fail)?);
    let both =
        before.into_iter().filter(|(_, verdict)| *verdict == MergeVerdict::Both).map(|(id, _)| id).collect();
    let has_base = merge::attach_base(&connection, store, base.as_ref(), &both, scratch.path())?;
    let merged = merge::at_once(&connection, || {
        let verdicts = verdicts(&fingerprints(&connection, "main").map_err(&fail)?);
        let merged = merge::apply(&connection, &verdicts, Target::Ours, has_base)?;
        for session in &merged.joined {
            set_back(&connection, session, now).map_err(&fail)?;
        }
        Ok(merged)
    })?;
    Ok(Refreshed::Merged { head, merged })
}
