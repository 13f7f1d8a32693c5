//! Puts a memory together from its packs, in a folder that nobody else has seen.

use std::{
    collections::HashSet,
    fs,
    io::{self, Write as _},
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use super::{
    count, files,
    manifest::{Manifest, Pages, Run},
    pack::{self, MAX_CHUNK},
};
use crate::{
    error::{Error, Flaw},
    private,
    store::Store,
};

/// Writes the databases and files of a save into a folder.
pub(crate) fn restore(store: &Store, manifest: &Manifest, folder: &Path) -> Result<(), Error> {
    write(store, manifest, folder, What::Everything)
}

/// Writes one database of a save into a folder.
pub(crate) fn restore_database(
    store: &Store,
    manifest: &Manifest,
    folder: &Path,
    name: &str,
) -> Result<(), Error> {
    write(store, manifest, folder, What::Database(name))
}

#[derive(Clone, Copy)]
enum What<'a> {
    Everything,
    Database(&'a str),
}

/// Where a chunk goes: which file of ours, and which chunk of it.
#[derive(Clone, Copy)]
struct Goal {
    ordinal: u32,
    target: u32,
    chunk: u32,
}

/// A file to be written.
struct Target {
    path: PathBuf,
    bytes: u64,
    chunk: u64,
    /// Open from the start if it is a database.
    file: Option<fs::File>,
}

fn write(store: &Store, manifest: &Manifest, folder: &Path, what: What<'_>) -> Result<(), Error> {
    let mut targets = Vec::new();
    let mut goals: Vec<Vec<Goal>> = vec![Vec::new(); manifest.packs.len()];
    for (name, pages) in &manifest.databases {
        if matches!(what, What::Database(wanted) if wanted != name) {
            continue;
        }
        aim(&mut goals, &pages.chunks, count(targets.len()));
        targets.push(Target::database(folder.join(name), pages)?);
    }
    if matches!(what, What::Everything) {
        aim_at_files(manifest, folder, &mut targets, &mut goals)?;
    }
    for (note, goals) in manifest.packs.iter().zip(&mut goals) {
        goals.sort_unstable_by_key(|goal| (goal.ordinal, goal.target, goal.chunk));
        let mut wanted: Vec<_> = goals.iter().map(|goal| goal.ordinal).collect();
        wanted.dedup();
        let mut rest = goals.as_slice();
        pack::read(store, note, &wanted, &mut |ordinal, chunk| {
            let here = rest.partition_point(|goal| goal.ordinal <= ordinal);
            for goal in &rest[..here] {
                targets[goal.target as usize].put(goal.chunk, chunk)?;
            }
            rest = &rest[here..];
            Ok(())
        })?;
    }
    Ok(())
}

/// Notes for each chunk of one target where it lies.
fn aim(goals: &mut [Vec<Goal>], runs: &[Run], target: u32) {
    for (chunk, (pack, ordinal)) in (0..).zip(places(runs)) {
        goals[pack].push(Goal { ordinal, target, chunk });
    }
}

fn aim_at_files(
    manifest: &Manifest,
    folder: &Path,
    targets: &mut Vec<Target>,
    goals: &mut [Vec<Goal>],
) -> Result<(), Error> {
    let mut places = places(&manifest.file_chunks);
    let mut made = HashSet::new();
    for (place, bytes) in &manifest.files {
        let path = folder.join(place.as_str());
        if let Some(parent) = path.parent()
            && made.insert(parent.to_owned())
        {
            private::folder(parent)?;
        }
        let target = count(targets.len());
        for (chunk, (pack, ordinal)) in (0..files::chunks(*bytes)).zip(places.by_ref()) {
            goals[pack].push(Goal { ordinal, target, chunk });
        }
        targets.push(Target::file(path, *bytes)?);
    }
    Ok(())
}

fn places(runs: &[Run]) -> impl Iterator<Item = (usize, u32)> + '_ {
    runs.iter().flat_map(|Run(pack, first, count)| {
        let pack = *pack as usize;
        (*first..*first + *count).map(move |ordinal| (pack, ordinal))
    })
}

impl Target {
    fn database(path: PathBuf, pages: &Pages) -> Result<Self, Error> {
        let file = create(&path)?;
        file.set_len(pages.bytes)?;
        Ok(Self { path, bytes: pages.bytes, chunk: u64::from(pages.chunk), file: Some(file) })
    }

    fn file(path: PathBuf, bytes: u64) -> Result<Self, Error> {
        if bytes == 0 {
            create(&path)?;
        }
        Ok(Self { path, bytes, chunk: u64::from(MAX_CHUNK), file: None })
    }

    fn put(&mut self, number: u32, chunk: &[u8]) -> Result<(), Error> {
        let from = u64::from(number) * self.chunk;
        if chunk.len() as u64 != self.chunk.min(self.bytes - from) {
            return Err(Flaw::Manifest("a chunk has another length than its place".to_owned()).into());
        }
        match &self.file {
            Some(file) => file.write_all_at(chunk, from)?,
            None if number == 0 => create(&self.path)?.write_all(chunk)?,
            None => fs::OpenOptions::new().write(true).open(&self.path)?.write_all_at(chunk, from)?,
        }
        Ok(())
    }
}

fn create(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|error| {
        io::Error::new(error.kind(), format!("failed to create file `{}`: {error}", path.display()))
    })
}
