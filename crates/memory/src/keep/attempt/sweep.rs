//! Takes a value that is known to be secret only now out of everything that was saved before.

use std::collections::BTreeSet;

use super::{Attempt, NextSave, Source, emit};
use crate::{
    database,
    error::Error,
    keep::Report,
    snapshot::{
        catalog::FileChunks,
        leaf::FileNote,
        manifest::ENGINE_DATABASE,
        packer::Packer,
        restore::{TableChoice, restore_sessions},
        saved::Saved,
    },
    store::ObjectName,
};

impl Attempt<'_, '_> {
    /// Sweeps the memory if something had to be taken out of what is new, or if a title or what was looked over has it,
    /// and tells whether nothing that was saved before may be taken over as it is.
    ///
    /// A value that stood in this run may stand in others. All of them are read then; else none is.
    pub(super) fn sweep(
        &self,
        next: &mut NextSave<'_>,
        packer: &mut Packer<'_>,
        (report, has_secret): (&mut Report, bool),
    ) -> Result<bool, Error> {
        let is_forgetting = !self.forget.is_empty();
        let Some(theirs) = next.theirs else { return Ok(is_forgetting) };
        let titles = next.sessions.values().map(|entry| format!("{}\n{}", entry.title, entry.directory));
        let titles = titles.collect::<Vec<_>>().join("\n\n");
        let is_suspect = has_secret || report.redacted > 0 || self.secrets.are_in(titles.as_bytes());
        if !is_suspect || !self.secrets.stand_in(self.store, theirs)? {
            return Ok(is_forgetting);
        }
        let fresh: BTreeSet<&String> = next.sources.iter().flat_map(|source| &source.sessions).collect();
        let rest: Vec<&String> = theirs
            .sessions
            .keys()
            .filter(|id| next.sessions.contains_key(*id) && !fresh.contains(id))
            .collect();
        let mut dirty = BTreeSet::new();
        theirs.each_session(self.store, rest.iter().copied(), |id, bytes| {
            if self.secrets.are_in(bytes) {
                dirty.insert(id.to_owned());
            }
            Ok(())
        })?;
        self.sweep_files(theirs, &rest, next, packer)?;
        let folder = next.scratch.join("swept");
        fs_err::create_dir(&folder)?;
        restore_sessions(self.store, theirs, &folder, &dirty, TableChoice::Newest)?;
        let database = folder.join(ENGINE_DATABASE);
        let connection = database::open_copy(&database)?;
        report.redacted += self.secrets.scrub(&connection)?;
        emit(&connection, &dirty, next, packer)?;
        next.sources.push(Source { database, sessions: dirty });
        Ok(true)
    }

    /// Cleans the files of sessions that are not here.
    fn sweep_files(
        &self,
        theirs: &Saved,
        rest: &[&String],
        next: &mut NextSave<'_>,
        packer: &mut Packer<'_>,
    ) -> Result<(), Error> {
        for id in rest {
            let Some(entry) = next.sessions.get_mut(*id) else { continue };
            for FileNote(_, bytes, chunks) in &mut entry.files {
                (*bytes, *chunks) = self.clean_file(chunks, theirs, packer)?;
            }
        }
        Ok(())
    }

    /// Cleans the files of nobody that are taken over from a save.
    pub(super) fn clean_files(
        &self,
        mut files: Vec<FileChunks>,
        theirs: Option<&Saved>,
        packer: &mut Packer<'_>,
    ) -> Result<Vec<FileChunks>, Error> {
        let Some(theirs) = theirs else { return Ok(files) };
        let is_theirs = |file: &FileChunks| file.chunks.iter().all(|hash| theirs.catalog.has(hash));
        for file in files.iter_mut().filter(|file| is_theirs(file)) {
            let names: Vec<ObjectName> = file.chunks.iter().map(|hash| (*hash).into()).collect();
            let (bytes, chunks) = self.clean_file(&names, theirs, packer)?;
            (file.bytes, file.chunks) = (bytes, chunks.into_iter().map(ObjectName::hash).collect());
        }
        Ok(files)
    }

    /// Packs a file of a save anew without secrets, and returns its length and its chunks.
    fn clean_file(
        &self,
        chunks: &[ObjectName],
        theirs: &Saved,
        packer: &mut Packer<'_>,
    ) -> Result<(u64, Vec<ObjectName>), Error> {
        let read = theirs.fetch(self.store, chunks.iter().map(|name| name.hash()))?;
        let chunk = |name: &ObjectName| read.get(&name.hash()).cloned().unwrap_or_default();
        let content: Vec<u8> = chunks.iter().flat_map(chunk).collect();
        let clean = self.secrets.without(&content);
        Ok((clean.len() as u64, packer.add(&clean)?))
    }
}
