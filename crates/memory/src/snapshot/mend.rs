//! Repairs objects that hold a part twice: the copy that is intact is written over the damaged one.

use std::{
    fs,
    io::{self, Read as _},
    os::unix::fs::FileExt as _,
    path::Path,
};

use fs_err::File;
use tempfile::NamedTempFile;
use zstd::bulk::Decompressor;

use super::{
    manifest::Manifest,
    pack::{ChunkIndex, MAGIC, PackNote},
    skippable, unpack,
};
use crate::{
    error::Error,
    store::{Object, ObjectName, Part, Store},
};

/// Mends what a save consists of, and returns how many objects that made whole.
pub(crate) fn mend(store: &Store, name: ObjectName) -> Result<u32, Error> {
    let (bytes, is_sound) = Manifest::fetch_bytes(store, name)?;
    let file = NamedTempFile::new()?;
    if !is_sound {
        fs_err::write(file.path(), &bytes)?;
        store.put(Object::Manifest(name), file.path())?;
    }
    let mut mended = u32::from(!is_sound);
    for note in &Manifest::parse(&bytes)?.packs {
        match mend_pack(store, note, file.path()) {
            // One that is lost does not keep others from being mended.
            Err(Error::Flawed(_)) => {}
            is_mended => mended += u32::from(is_mended?),
        }
    }
    Ok(mended)
}

fn mend_pack(store: &Store, note: &PackNote, scratch: &Path) -> Result<bool, Error> {
    let object = Object::Pack(note.name);
    let mut stored = store.get(object, Part::Whole)?.take(note.size);
    io::copy(&mut stored, &mut File::create(scratch)?)?;
    if is(note.name, scratch)? {
        return Ok(false);
    }
    let index = ChunkIndex::fetch(store, note)?.index;
    let file = fs::OpenOptions::new().read(true).write(true).open(scratch)?;
    file.set_len(note.size)?;
    file.write_all_at(MAGIC, 0)?;
    let written = index.to_bytes();
    if let (Some(first), Some(last)) = (note.first_index(), note.last_index()) {
        let skipped = skippable(&written);
        if first != last {
            file.write_all_at(&skipped, first + written.len() as u64 - skipped.len() as u64)?;
        }
        file.write_all_at(&written, last)?;
    }
    let mut decompressor = Decompressor::new()?;
    for frame in index.frames() {
        let Some(again) = frame.again else { continue };
        for (from, to) in [(frame.at, again), (again, frame.at)] {
            let mut packed = vec![0; frame.size as usize];
            file.read_exact_at(&mut packed, from)?;
            if unpack::is_sound(&mut decompressor, &index, &frame, &packed) {
                file.write_all_at(&packed, to)?;
            }
        }
    }
    // What lies there once may be damaged too; a pack that is still not what its name says is left alone.
    let is_mended = is(note.name, scratch)?;
    if is_mended {
        store.put(object, scratch)?;
    }
    Ok(is_mended)
}

fn is(name: ObjectName, file: &Path) -> Result<bool, Error> {
    let hash = blake3::Hasher::new().update_reader(File::open(file)?)?.finalize();
    Ok(ObjectName::from(hash) == name)
}
