//! Puts a memory together from its packs, in a folder that nobody else has seen.

use std::{
    collections::HashSet,
    fs,
    io::{self, Write as _},
    ops::Range,
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use super::{
    count, files,
    manifest::{Manifest, Pages, Run},
    pack::MAX_CHUNK,
    unpack::{self, Batch},
};
use crate::{
    error::{Error, Flaw},
    private,
    store::Store,
};

/// So much of the disk is left to others.
const ROOM_LEFT: u64 = 64 << 20;

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
    refuse_without_room(folder, manifest, what)?;
    if matches!(what, What::Everything) {
        aim_at_files(manifest, folder, &mut targets, &mut goals)?;
    }
    for (note, goals) in manifest.packs.iter().zip(&mut goals) {
        goals.sort_unstable_by_key(|goal| (goal.ordinal, goal.target, goal.chunk));
        let mut wanted: Vec<_> = goals.iter().map(|goal| goal.ordinal).collect();
        wanted.dedup();
        let mut rest = goals.as_slice();
        unpack::read(store, note, &wanted, &mut |batch| put(batch, &mut rest, &targets))?;
    }
    Ok(())
}

/// Refuses to fill the disk: whoever runs out of room in the middle leaves none for anybody else.
fn refuse_without_room(folder: &Path, manifest: &Manifest, what: What<'_>) -> Result<(), Error> {
    let needed = match what {
        What::Everything => manifest.bytes(),
        What::Database(name) => manifest.databases.get(name).map_or(0, |pages| pages.bytes),
    };
    let room = rustix::fs::statvfs(folder).map_err(io::Error::from)?;
    let room = room.f_bavail.saturating_mul(room.f_frsize);
    if needed.saturating_add(ROOM_LEFT) <= room {
        return Ok(());
    }
    let what = format!("the memory needs {needed} bytes in `{}`, where {room} are free", folder.display());
    Err(io::Error::new(io::ErrorKind::StorageFull, what).into())
}

/// Writes the chunks of a batch to their goals, which come in the order of the chunks.
///
/// What lies side by side both here and there is written at once.
fn put(batch: &Batch, goals: &mut &[Goal], targets: &[Target]) -> Result<(), Error> {
    let mut stroke: Option<Stroke> = None;
    for (ordinal, place) in batch.wanted() {
        let here = goals.partition_point(|goal| goal.ordinal <= ordinal);
        for goal in &goals[..here] {
            let target = &targets[goal.target as usize];
            target.refuse_misfit(goal.chunk, place.len())?;
            if stroke.as_mut().is_some_and(|stroke| stroke.goes_on(*goal, &place)) {
                continue;
            }
            let next = Stroke { first: *goal, chunks: 1, place: place.clone() };
            if let Some(done) = stroke.replace(next) {
                done.put(batch, targets)?;
            }
        }
        *goals = &goals[here..];
    }
    stroke.map_or(Ok(()), |last| last.put(batch, targets))
}

/// Chunks of one file that are written at once.
struct Stroke {
    first: Goal,
    chunks: u32,
    /// Where they lie in the batch.
    place: Range<usize>,
}

impl Stroke {
    /// Takes one more chunk along, if it is the next one both in the file and in the batch.
    fn goes_on(&mut self, goal: Goal, place: &Range<usize>) -> bool {
        let is_next = goal.target == self.first.target
            && goal.chunk == self.first.chunk + self.chunks
            && place.start == self.place.end;
        if is_next {
            self.chunks += 1;
            self.place.end = place.end;
        }
        is_next
    }

    fn put(self, batch: &Batch, targets: &[Target]) -> Result<(), Error> {
        targets[self.first.target as usize].put(self.first.chunk, &batch.bytes()[self.place])
    }
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
        // The chunks of a longer file may come in any order.
        if bytes == 0 || bytes > u64::from(MAX_CHUNK) {
            create(&path)?;
        }
        Ok(Self { path, bytes, chunk: u64::from(MAX_CHUNK), file: None })
    }

    /// Refuses a chunk of another length than its place in the file has.
    fn refuse_misfit(&self, number: u32, length: usize) -> Result<(), Flaw> {
        let from = u64::from(number) * self.chunk;
        if length as u64 == self.chunk.min(self.bytes - from) {
            return Ok(());
        }
        Err(Flaw::Manifest("a chunk has another length than its place".to_owned()))
    }

    /// Writes chunks from this one on.
    fn put(&self, number: u32, chunks: &[u8]) -> Result<(), Error> {
        let from = u64::from(number) * self.chunk;
        match &self.file {
            Some(file) => file.write_all_at(chunks, from)?,
            None if self.bytes <= self.chunk => create(&self.path)?.write_all(chunks)?,
            None => fs::OpenOptions::new().write(true).open(&self.path)?.write_all_at(chunks, from)?,
        }
        Ok(())
    }
}

fn create(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|error| {
        io::Error::new(error.kind(), format!("failed to create file `{}`: {error}", path.display()))
    })
}
