//! Brings two databases that came from the same one together, session by session, and loses nothing.
//!
//! One database is the target and is changed; the other is attached as `other`. What both sides continued is joined:
//! the other side's new turns follow after the target's. What cannot be joined is forked.

mod fork;
mod join;
pub(crate) mod rows;

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::ffi::OsStrExt as _,
    path::Path,
};

use rusqlite::{
    Connection,
    types::{ToSqlOutput, ValueRef},
};

use crate::{
    database::judge,
    error::{Error, Flaw},
    fingerprint::{Fingerprint, Fingerprints},
    schema::SessionTables,
    snapshot::{
        manifest::{ENGINE_DATABASE, Removal, RemovedSession},
        restore::{TableChoice, restore_sessions},
        saved::Saved,
    },
    store::Store,
};

/// The fingerprints of all three sides. Without a base nothing is known to be deleted but what is in `gone`.
pub(crate) struct MergeSides<'a> {
    pub(crate) base: Option<&'a Fingerprints>,
    pub(crate) ours: &'a Fingerprints,
    pub(crate) theirs: &'a Fingerprints,
    /// Sessions that were removed from theirs on purpose.
    pub(crate) gone: &'a BTreeMap<String, RemovedSession>,
}

/// Whose version of a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MergeVerdict {
    Ours,
    Theirs,
    Both,
}

/// Which side the target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Ours,
    Theirs,
}

/// What a merge did beyond taking one side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// Sessions that both sides had continued; one side's turns now follow after the other's.
    pub joined: Vec<String>,
    /// Sessions that could not be joined, each with the id of its copy.
    pub forked: Vec<(String, String)>,
}

impl MergeSides<'_> {
    /// Returns whose version of each session stands, where the sides differ.
    pub(crate) fn verdicts(&self) -> BTreeMap<String, MergeVerdict> {
        let ids: BTreeSet<_> = self.ours.keys().chain(self.theirs.keys()).collect();
        let differs = |id: &&&String| fingerprint(self.ours, id) != fingerprint(self.theirs, id);
        ids.iter().filter(differs).map(|id| ((*id).clone(), self.verdict(id))).collect()
    }

    fn verdict(&self, id: &str) -> MergeVerdict {
        let (ours, theirs) = (fingerprint(self.ours, id), fingerprint(self.theirs, id));
        let gone = self.gone.get(id).filter(|_| theirs.is_none());
        if gone.is_some_and(|gone| gone.why == Removal::Forgotten) {
            return MergeVerdict::Theirs;
        }
        let Some(base) = self.base else {
            return match (ours, theirs) {
                (None, _) => MergeVerdict::Theirs,
                (Some(_), None) if gone.is_some() => MergeVerdict::Theirs,
                (Some(_), None) => MergeVerdict::Ours,
                (Some(_), Some(_)) => MergeVerdict::Both,
            };
        };
        let base = fingerprint(base, id);
        match (ours, theirs) {
            _ if ours == base => MergeVerdict::Theirs,
            _ if theirs == base => MergeVerdict::Ours,
            (Some(_), None) => MergeVerdict::Ours,
            (None, _) => MergeVerdict::Theirs,
            (Some(_), Some(_)) => MergeVerdict::Both,
        }
    }
}

fn fingerprint(fingerprints: &Fingerprints, id: &str) -> Option<Fingerprint> {
    fingerprints.get(id).map(|note| note.fingerprint)
}

/// Attaches a database for reading.
pub(crate) fn attach(connection: &Connection, path: &Path, name: &'static str) -> Result<(), Error> {
    let path = ToSqlOutput::Borrowed(ValueRef::Text(path.as_os_str().as_bytes()));
    connection.execute(&format!("ATTACH ?1 AS {name}"), [path]).map_err(judge("attach a database"))?;
    Ok(())
}

/// Attaches what both sides started from, if something has to be joined, and tells whether it did.
pub(crate) fn attach_base(
    connection: &Connection,
    store: &Store,
    base: Option<&Saved>,
    both: &BTreeSet<String>,
    scratch: &Path,
) -> Result<bool, Error> {
    let Some(base) = base else { return Ok(false) };
    let known: BTreeSet<String> = both.iter().filter(|id| base.sessions.contains_key(*id)).cloned().collect();
    if both.is_empty() {
        return Ok(false);
    }
    let folder = scratch.join("base");
    fs_err::create_dir(&folder)?;
    restore_sessions(store, base, &folder, &known, TableChoice::Newest)?;
    attach(connection, &folder.join(ENGINE_DATABASE), "base")?;
    Ok(true)
}

/// Does everything or nothing; an engine that is running waits as long.
pub(crate) fn at_once<T>(
    connection: &Connection,
    deed: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let fail = judge("merge the sessions");
    connection.execute_batch("BEGIN IMMEDIATE").map_err(&fail)?;
    let done = deed();
    connection.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" }).map_err(fail)?;
    done
}

/// Carries out the verdicts on the target; `other` is attached, and `base` if it is at hand.
pub(crate) fn apply(
    connection: &Connection,
    verdicts: &BTreeMap<String, MergeVerdict>,
    target: Target,
    has_base: bool,
) -> Result<Merged, Error> {
    let merged = carry_out(connection, verdicts, target, has_base).map_err(judge("merge the sessions"))?;
    refuse_orphans(connection)?;
    Ok(merged)
}

fn carry_out(
    connection: &Connection,
    verdicts: &BTreeMap<String, MergeVerdict>,
    target: Target,
    has_base: bool,
) -> rusqlite::Result<Merged> {
    let group = SessionTables::read(connection, "main")?;
    let other = SessionTables::read(connection, "other")?;
    let mut merged = Merged::default();
    for (id, verdict) in verdicts {
        match (verdict, target) {
            (MergeVerdict::Ours, Target::Ours) | (MergeVerdict::Theirs, Target::Theirs) => {}
            (MergeVerdict::Ours, Target::Theirs) | (MergeVerdict::Theirs, Target::Ours) => {
                rows::remove_all(connection, &group, std::slice::from_ref(id))?;
                rows::copy(connection, &group, id)?;
                rows::raise_sequence(connection, id, id)?;
            }
            (MergeVerdict::Both, _) if join::is_hard(connection, &group, id)? => {
                let copy = fork::fork(connection, &group, &other, id)?;
                merged.forked.push((id.clone(), copy));
            }
            (MergeVerdict::Both, _) => {
                join::join(connection, &group, id, has_base)?;
                merged.joined.push(id.clone());
            }
        }
    }
    Ok(merged)
}

/// Refuses a result in which a row points at nothing.
fn refuse_orphans(connection: &Connection) -> Result<(), Error> {
    let fail = judge("check the merged database");
    let mut statement = connection.prepare("PRAGMA main.foreign_key_check").map_err(&fail)?;
    let orphan =
        statement.query([]).map_err(&fail)?.next().map_err(&fail)?.map(|row| row.get::<_, String>(0));
    match orphan {
        Some(table) => {
            let table = table.map_err(fail)?;
            Err(Flaw::Unsound(format!("a row of `{table}` points at nothing")).into())
        }
        None => Ok(()),
    }
}
