//! Whose version of each session is saved, and a database with those that changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{Attempt, ground::Since};
use crate::{
    database::{self, judge},
    error::Error,
    merge::{self, MergeSides, MergeVerdict, Merged, Target, rows},
    ownership::Accepted,
    schema::SessionTables,
    snapshot::{
        manifest::ENGINE_DATABASE,
        restore::{TableChoice, restore_sessions},
        saved::Saved,
    },
};

/// What is about to be saved.
#[derive(Default)]
pub(super) struct Draft {
    /// Has the sessions that changed; nothing if none did.
    pub(super) database: Option<PathBuf>,
    /// Which of its sessions those are.
    pub(super) sessions: BTreeSet<String>,
    /// Sessions that this run deleted.
    pub(super) dropped: Vec<String>,
    pub(super) merged: Merged,
    /// False if the head's engine cannot follow ours: then only what is ours is saved, and the head stays.
    pub(super) may_advance: bool,
}

impl Attempt<'_, '_> {
    /// Brings our sessions and theirs together.
    pub(super) fn draft(
        &self,
        theirs: Option<&Saved>,
        since: &Since,
        accepted: &Accepted,
        scratch: &Path,
    ) -> Result<Draft, Error> {
        let Some(theirs) = theirs else { return Ok(self.only_ours(accepted, true)) };
        let verdicts = self.verdicts(theirs, since, accepted);
        let pick = |wanted: MergeVerdict| verdicts.iter().filter(move |(_, verdict)| **verdict == wanted);
        let both: BTreeSet<String> = pick(MergeVerdict::Both).map(|(id, _)| id.clone()).collect();
        let (ours, dropped): (Vec<&String>, Vec<&String>) = pick(MergeVerdict::Ours)
            .map(|(id, _)| id)
            .partition(|id| self.local.fingerprints.contains_key(*id));
        let dropped = dropped.into_iter().cloned().collect();
        if ours.is_empty() && both.is_empty() {
            return Ok(Draft { dropped, may_advance: true, ..Draft::default() });
        }
        let newest = theirs.migrations();
        let target =
            match (newest.is_superset(&self.local.migrations), self.local.migrations.is_superset(&newest)) {
                (true, _) => Target::Theirs,
                (false, true) => Target::Ours,
                (false, false) => return Ok(self.only_ours(accepted, false)),
            };
        let Some((database, merged)) = self.merge(theirs, since, (&verdicts, &both), (target, scratch))?
        else {
            return Ok(self.only_ours(accepted, false));
        };
        let copies = merged.forked.iter().map(|(_, copy)| copy.clone());
        let sessions = ours.into_iter().cloned().chain(both.iter().cloned()).chain(copies).collect();
        Ok(Draft { database: Some(database), sessions, dropped, merged, may_advance: true })
    }

    fn only_ours(&self, accepted: &Accepted, may_advance: bool) -> Draft {
        let is_kept = |id: &&String| !accepted.left_out.contains(id);
        Draft {
            database: Some(self.local.database.clone()),
            sessions: self.local.fingerprints.keys().filter(is_kept).cloned().collect(),
            may_advance,
            ..Draft::default()
        }
    }

    /// Returns whose version stands, where it is not simply theirs.
    fn verdicts(&self, theirs: &Saved, since: &Since, accepted: &Accepted) -> BTreeMap<String, MergeVerdict> {
        let theirs_notes = theirs.notes();
        let base = match since {
            Since::Back => Some(theirs_notes.clone()),
            Since::Nothing | Since::Saves(_) | Since::Unknown => self.local.base.as_deref().map(Saved::notes),
        };
        let sides = MergeSides {
            base: base.as_ref(),
            ours: &accepted.fingerprints,
            theirs: &theirs_notes,
            gone: &theirs.manifest.gone,
        };
        let mut verdicts = sides.verdicts();
        for (id, verdict) in &mut verdicts {
            *verdict = since.correct(&accepted.fingerprints, id, *verdict);
        }
        verdicts.retain(|id, verdict| *verdict != MergeVerdict::Theirs && !accepted.left_out.contains(id));
        verdicts
    }

    /// Makes a database with our sessions, and with those that both continued; nothing if ours says too little for it.
    fn merge(
        &self,
        theirs: &Saved,
        since: &Since,
        (verdicts, both): (&BTreeMap<String, MergeVerdict>, &BTreeSet<String>),
        (target, scratch): (Target, &Path),
    ) -> Result<Option<(PathBuf, Merged)>, Error> {
        let fail = judge("merge the sessions");
        restore_sessions(self.store, theirs, scratch, both, TableChoice::Newest)?;
        let restored = scratch.join(ENGINE_DATABASE);
        database::remove_orphans(&database::open_copy(&restored)?)?;
        let ours = scratch.join("ours.db");
        let (database, other) = match target {
            Target::Theirs => (restored, self.local.database.clone()),
            Target::Ours => {
                fs_err::copy(&self.local.database, &ours)?;
                (ours, restored)
            }
        };
        let connection = database::open_copy(&database)?;
        merge::attach(&connection, &other, "other")?;
        let group = SessionTables::read(&connection, "main").map_err(&fail)?;
        if !rows::is_enough(&connection, &group).map_err(fail)? {
            return Ok(None);
        }
        let base = if matches!(since, Since::Back) { Some(theirs) } else { self.local.base.as_deref() };
        let has_base = merge::attach_base(&connection, self.store, base, both, scratch)?;
        let verdicts = verdicts.iter().filter(|(id, _)| self.local.fingerprints.contains_key(*id));
        let verdicts = verdicts.map(|(id, verdict)| (id.clone(), *verdict)).collect();
        let merged = merge::at_once(&connection, || merge::apply(&connection, &verdicts, target, has_base))?;
        Ok(Some((database, merged)))
    }
}
