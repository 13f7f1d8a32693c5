//! Whose version of each file is saved, and under which session.

use fro_core::remembered::Audience;

use super::{Attempt, NextSave};
use crate::{
    error::Error,
    keep::Report,
    ownership::Accepted,
    snapshot::{
        catalog::FileChunks,
        claims::{Choice, Claims},
        leaf::FileNote,
        packer::Packer,
        place::FilePlace,
    },
};

impl Attempt<'_, '_> {
    /// Packs the files that changed, puts each with its session, and returns those that belong to none.
    ///
    /// Files of sessions that were never here stay as the head has them.
    pub(super) fn settle_files(
        &self,
        accepted: &Accepted,
        next: &mut NextSave<'_>,
        packer: &mut Packer<'_>,
        report: &mut Report,
    ) -> Result<Vec<FileChunks>, Error> {
        let is_here = |id: &str| accepted.own.contains(id) || self.local.fingerprints.contains_key(id);
        let claims = Claims {
            is_ours: &|place| self.keep.ours.owns_file(&accepted.own, place),
            is_gone: &|place| {
                report.pruned.iter().chain(&report.forgotten).any(|session| place.belongs_to(session))
            },
            base: self.local.base.as_ref().map(|base| base.files(is_here)).unwrap_or_default(),
            theirs: next.theirs.map(|theirs| theirs.files(is_here)).unwrap_or_default(),
        };
        let Choice { ours, theirs, left_out } = claims.settle(self.local.cut.get()?.clone());
        let mut files = theirs;
        for file in ours {
            files.extend(packer.add_file(self.local.files, file)?);
        }
        files.sort_by(|left, right| left.place.cmp(&right.place));
        for (_, entry) in next.sessions.iter_mut().filter(|(id, _)| is_here(id)) {
            entry.files.clear();
        }
        let mut of_nobody = Vec::new();
        for file in files {
            match owner(&file.place, next) {
                Some(session) => {
                    let chunks = file.chunks.into_iter().map(Into::into).collect();
                    let note = FileNote(file.place, file.bytes, chunks);
                    next.sessions.entry(session).and_modify(|entry| entry.files.push(note));
                }
                None => of_nobody.push(file),
            }
        }
        report.left_out.extend(self.told_files(&left_out)?);
        Ok(of_nobody)
    }

    fn told_files(&self, left_out: &[FilePlace]) -> Result<Vec<String>, Error> {
        let mut told = Vec::new();
        for place in left_out {
            let is_told = match self.keep.audience {
                Audience::Insiders => true,
                Audience::Everyone => self.local.files.read(place)?.is_some(),
            };
            told.extend(is_told.then(|| place.to_string()));
        }
        Ok(told)
    }
}

/// Returns the session that a file is named after.
fn owner(place: &FilePlace, next: &NextSave<'_>) -> Option<String> {
    let names = place.as_str().split('/').filter_map(|name| name.split('.').next());
    names.map(str::to_owned).find(|name| next.sessions.contains_key(name))
}
