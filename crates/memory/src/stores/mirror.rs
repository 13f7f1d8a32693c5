//! Copies a save from one store to another, and brings home what only a mirror has.

use std::io;

use fs_err::File;
use jiff::Timestamp;

use super::{Stored, whole::WholeMemory};
use crate::{
    error::Error,
    keep::Provenance,
    recall::Recall,
    snapshot::manifest::Manifest,
    store::{Advance, Head, Object, ObjectName, Part, Store},
};

/// So often the head of a mirror is moved when others move it too.
const ATTEMPTS: u32 = 5;

/// Gives a mirror the newest save that the truth has.
pub(super) fn copy(truth: &Store, mirror: &Store) -> Result<Stored, Error> {
    let Some(head) = truth.head()? else { return Ok(Stored::Nothing) };
    let name = head.manifest()?;
    let manifest = Manifest::fetch(truth, name)?;
    for pack in &manifest.packs {
        let pack_object = Object::Pack(pack.name);
        if !mirror.has(pack_object)? {
            carry(truth, mirror, pack_object, Part::Slice { from: 0, length: pack.size })?;
        }
    }
    carry(truth, mirror, Object::Manifest(name), Part::Whole)?;
    for _ in 0..ATTEMPTS {
        let now = mirror.head()?;
        if now.as_ref() == Some(&head) {
            return Ok(Stored::Saved);
        }
        if let Advance::Done = mirror.advance(now.as_ref(), &head)? {
            return Ok(Stored::Saved);
        }
    }
    Ok(Stored::Raced)
}

/// Merges a save of a mirror into the truth, as if its run had saved there.
pub(super) fn bring_home(
    mirror: &Store,
    truth: &Store,
    name: ObjectName,
    now: Timestamp,
) -> Result<(), Error> {
    let manifest = Manifest::fetch(mirror, name)?;
    let (memory, recall) = WholeMemory::fetch(mirror)?;
    let Recall::Warm { .. } = recall else { return Ok(()) };
    let parent = manifest.parents.first().copied().map(Head::from);
    let provenance = Provenance { now, engine_version: manifest.engine, parent };
    memory.keep(provenance).from(manifest.origin).save(truth)?;
    // From now on the truth knows it, and it is not brought a second time.
    carry(mirror, truth, Object::Manifest(name), Part::Whole)
}

/// Brings everything that a save consists of from one store to another, over what is damaged there.
pub(super) fn mend(whole: &Store, damaged: &Store, name: ObjectName) -> Result<(), Error> {
    let manifest = Manifest::fetch(whole, name)?;
    for pack in &manifest.packs {
        carry(whole, damaged, Object::Pack(pack.name), Part::Slice { from: 0, length: pack.size })?;
    }
    carry(whole, damaged, Object::Manifest(name), Part::Whole)
}

fn carry(from: &Store, to: &Store, object: Object, part: Part) -> Result<(), Error> {
    let file = tempfile::NamedTempFile::new()?;
    io::copy(&mut from.get(object, part)?, &mut File::create(file.path())?)?;
    to.put(object, file.path())?;
    Ok(())
}
