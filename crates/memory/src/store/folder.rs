//! A store in a folder of this machine.
//!
//! ```text
//! 3/                                 the format's number: another release neither finds nor deletes what is in it
//!   manifests/<hash>   packs/<hash>  content, never changed
//!   head.3                           the hash of the newest manifest
//!   head.lock                        held while the head is compared and moved
//!   aside/<hash>                     heads that led to damage, kept for a person to look at
//!   scratch/                         files on their way to another name
//! ```

use std::{
    io::{self, Read, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use fs_err::File;
use jiff::Timestamp;
use tempfile::NamedTempFile;

use super::{Advance, DamagedHead, Head, Listed, Listing, Object, ObjectName, Part};
use crate::{
    error::{Error, Flaw},
    private,
    snapshot::{former::FORMER, manifest::FORMAT},
};

const MAX_HEAD: u64 = 256;

/// A memory kept in a folder.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
    /// The format whose head it has.
    format: u64,
}

impl Folder {
    /// Opens the store in this folder, made if need be.
    pub(crate) fn open(root: impl AsRef<Path>) -> Result<Self, Error> {
        private::folder(root.as_ref())?;
        let root = fs_err::canonicalize(root)?.join(FORMAT.to_string());
        private::folder(&root)?;
        for part in ["manifests", "packs", "aside", "scratch"] {
            private::folder(&root.join(part))?;
        }
        Ok(Self { root, format: FORMAT })
    }

    /// Returns what a release of the former format has here, if there ever was one.
    pub(crate) fn former(&self) -> Option<Self> {
        let root = self.root.parent()?.to_owned();
        let is_there = self.format == FORMAT && root.join(format!("head.{FORMER}")).exists();
        is_there.then_some(Self { root, format: FORMER })
    }

    fn path(&self, object: Object) -> PathBuf {
        self.root.join(object.to_string())
    }

    /// An older release has a head of its own, so that going back to it finds what it can read.
    fn head_path(&self) -> PathBuf {
        self.root.join(format!("head.{}", self.format))
    }

    fn aside_path(&self, bad: &Head) -> PathBuf {
        self.root.join("aside").join(bad.aside_name().to_string())
    }

    fn scratch_file(&self) -> Result<NamedTempFile, Error> {
        Ok(NamedTempFile::new_in(self.root.join("scratch"))?)
    }

    /// Gives a finished file its name, so that it is there whole or not at all, even after a power cut.
    fn settle(&self, file: NamedTempFile, path: &Path) -> Result<(), Error> {
        file.as_file().sync_all()?;
        file.persist(path).map_err(|refused| refused.error)?;
        File::open(path.parent().unwrap_or(&self.root))?.sync_all()?;
        Ok(())
    }

    fn locked<T>(&self, deed: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let path = self.root.join("head.lock");
        let file = fs_err::OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        let mut lock = fd_lock::RwLock::new(file);
        let _held = lock.write()?;
        deed()
    }

    fn listed(entry: &fs_err::DirEntry, kind: &str) -> Result<Option<Listed>, Error> {
        let Some(object) =
            entry.file_name().to_str().and_then(|name| Object::parse(&format!("{kind}/{name}")))
        else {
            return Ok(None);
        };
        let about = match entry.metadata() {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let stored_at = Timestamp::try_from(about.modified()?).unwrap_or(Timestamp::MAX);
        Ok(Some(Listed { object, bytes: about.len(), stored_at }))
    }
}

/// What every store promises: see `Store`.
impl Folder {
    pub(crate) fn head(&self) -> Result<Option<Head>, Error> {
        let file = match File::open(self.head_path()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut text = Vec::new();
        file.take(MAX_HEAD).read_to_end(&mut text)?;
        Ok(Some(Head::new(String::from_utf8_lossy(&text))))
    }

    pub(crate) fn advance(&self, expected: Option<&Head>, next: &Head) -> Result<Advance, Error> {
        let mut file = self.scratch_file()?;
        file.write_all(next.as_str().as_bytes())?;
        self.locked(|| {
            let now = self.head()?;
            if now.as_ref() != expected {
                return Ok(Advance::Moved { now });
            }
            self.settle(file, &self.head_path())?;
            Ok(Advance::Done)
        })
    }

    pub(crate) fn set_aside(&self, bad: &Head) -> Result<(), Error> {
        self.note_aside(bad)?;
        self.locked(|| {
            if self.head()?.as_ref() == Some(bad) {
                fs_err::remove_file(self.head_path())?;
            }
            Ok(())
        })
    }

    pub(crate) fn note_aside(&self, bad: &Head) -> Result<(), Error> {
        let path = self.aside_path(bad);
        if self.head()?.as_ref() != Some(bad) || path.exists() {
            return Ok(());
        }
        let mut file = self.scratch_file()?;
        file.write_all(bad.as_str().as_bytes())?;
        self.settle(file, &path)
    }

    pub(crate) fn asides(&self) -> Result<Vec<DamagedHead>, Error> {
        let mut asides = Vec::new();
        for entry in fs_err::read_dir(self.root.join("aside"))? {
            let path = entry?.path();
            let Ok(text) = fs_err::read(&path) else { continue };
            let since = Timestamp::try_from(fs_err::metadata(&path)?.modified()?).unwrap_or(Timestamp::MAX);
            asides.push(DamagedHead { head: Head::new(String::from_utf8_lossy(&text)), since });
        }
        Ok(asides)
    }

    pub(crate) fn drop_aside(&self, bad: &Head) -> Result<(), Error> {
        gone_is_fine(fs_err::remove_file(self.aside_path(bad)))
    }

    pub(crate) fn get(&self, object: Object, part: Part) -> Result<Box<dyn Read + Send>, Error> {
        let path = self.path(object);
        match fs_err::symlink_metadata(&path) {
            Ok(about) if about.is_file() => {}
            Ok(_) => return Err(Flaw::Altered(object.name()).into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Flaw::Missing(object.name()).into());
            }
            Err(error) => return Err(error.into()),
        }
        let mut file = File::open(path)?;
        Ok(match part {
            Part::Whole => Box::new(file),
            Part::Slice { from, length } => {
                file.seek(SeekFrom::Start(from))?;
                Box::new(file.take(length))
            }
        })
    }

    #[expect(clippy::unnecessary_wraps, reason = "every store has the same methods")]
    pub(crate) fn has(&self, object: Object) -> Result<bool, Error> {
        Ok(self.path(object).symlink_metadata().is_ok_and(|about| about.is_file()))
    }

    pub(crate) fn put(&self, object: Object, content: &Path) -> Result<u64, Error> {
        let path = self.path(object);
        let bytes = fs_err::metadata(content)?.len();
        if path.symlink_metadata().is_ok_and(|about| about.is_file() && about.len() == bytes) {
            let hash = blake3::Hasher::new().update_reader(File::open(&path)?)?.finalize();
            if ObjectName::from(hash) == object.name() {
                return Ok(0);
            }
        }
        let mut file = self.scratch_file()?;
        io::copy(&mut File::open(content)?, &mut file)?;
        self.settle(file, &path)?;
        Ok(bytes)
    }

    pub(crate) fn list(&self) -> Result<Listing, Error> {
        let mut listed = Vec::new();
        for kind in ["manifests", "packs"] {
            for entry in fs_err::read_dir(self.root.join(kind))? {
                listed.extend(Self::listed(&entry?, kind)?);
            }
        }
        Ok(Listing::Known(listed))
    }

    pub(crate) fn delete(&self, object: Object) -> Result<(), Error> {
        gone_is_fine(fs_err::remove_file(self.path(object)))
    }
}

/// Takes a file that somebody else removed for removed.
fn gone_is_fine(removed: io::Result<()>) -> Result<(), Error> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
