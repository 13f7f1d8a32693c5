//! A store in a folder of this machine.
//!
//! ```text
//! objects/<hash>   content, never changed
//! head             the hash of the newest manifest
//! head.lock        held while the head is compared and moved
//! aside/<hash>     heads that led to damage, kept for a person to look at
//! scratch/         files on their way to another name
//! ```

use std::{
    io::{self, Read, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use fs_err::File;
use tempfile::{NamedTempFile, TempDir};

use super::{Advance, Head, ObjectName, Stored};
use crate::{
    error::{Error, Flaw},
    private,
};

const MAX_OBJECT: u64 = 4 << 30;
const MAX_HEAD: u64 = 256;
const BUFFER: usize = 64 << 10;

/// A memory kept in a folder.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Opens the store in this folder, made if need be.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, Error> {
        private::folder(root.as_ref())?;
        let root = fs_err::canonicalize(root)?;
        for part in ["objects", "aside", "scratch"] {
            private::folder(&root.join(part))?;
        }
        Ok(Self { root })
    }

    /// Stores bytes under their hash.
    ///
    /// A sound object of that name is left alone; a damaged one is replaced.
    pub fn put(&self, mut content: impl Read) -> Result<Stored, Error> {
        let mut file = self.scratch_file()?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; BUFFER];
        loop {
            let n = content.read(&mut buffer)?;
            if n == 0 {
                break;
            }
            hasher.update(&buffer[..n]);
            if hasher.count() > MAX_OBJECT {
                return Err(Flaw::TooLarge { what: "the object".to_owned(), limit: MAX_OBJECT }.into());
            }
            file.write_all(&buffer[..n])?;
        }
        let name = ObjectName::from(hasher.finalize());
        match self.get(name) {
            Ok(_) => Ok(Stored { name, written: 0 }),
            Err(Error::Flawed(_)) => {
                self.settle(file, &self.object(name))?;
                Ok(Stored { name, written: hasher.count() })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns an object, checked against its name.
    pub fn get(&self, name: ObjectName) -> Result<File, Error> {
        let path = self.object(name);
        let about = match fs_err::symlink_metadata(&path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Flaw::Missing(name).into()),
            Err(error) => return Err(error.into()),
        };
        if !about.is_file() {
            return Err(Flaw::Altered(name).into());
        }
        if about.len() > MAX_OBJECT {
            return Err(Flaw::TooLarge { what: format!("the object {name}"), limit: MAX_OBJECT }.into());
        }
        let mut file = File::open(&path)?;
        let hash = blake3::Hasher::new().update_reader(&mut file)?.finalize();
        if ObjectName::from(hash) != name {
            return Err(Flaw::Altered(name).into());
        }
        file.rewind()?;
        Ok(file)
    }

    /// Returns what the head says, if there is one.
    pub fn head(&self) -> Result<Option<Head>, Error> {
        let file = match File::open(self.head_path()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut text = Vec::new();
        file.take(MAX_HEAD).read_to_end(&mut text)?;
        Ok(Some(Head(String::from_utf8_lossy(&text).into_owned())))
    }

    /// Points the head at a manifest, unless it moved from where we believed it.
    pub fn advance(&self, expected: Option<&Head>, manifest: ObjectName) -> Result<Advance, Error> {
        let next = Head::from(manifest);
        let mut file = self.scratch_file()?;
        file.write_all(next.0.as_bytes())?;
        self.locked(|| {
            let now = self.head()?;
            if now.as_ref() != expected {
                return Ok(Advance::Moved { now });
            }
            self.settle(file, &self.head_path())?;
            Ok(Advance::Done(next))
        })
    }

    /// Takes a head that leads to damage out of the way, unless it moved meanwhile.
    ///
    /// Nothing is deleted: what it pointed at stays, and the pointer goes to `aside/`.
    pub fn set_aside(&self, bad: &Head) -> Result<(), Error> {
        self.locked(|| {
            if self.head()?.as_ref() == Some(bad) {
                let name = ObjectName::from(blake3::hash(bad.0.as_bytes()));
                fs_err::rename(self.head_path(), self.root.join("aside").join(name.to_string()))?;
            }
            Ok(())
        })
    }

    /// Returns a private folder for work in progress, gone when dropped.
    pub(crate) fn scratch(&self) -> Result<TempDir, Error> {
        Ok(tempfile::tempdir_in(self.root.join("scratch"))?)
    }

    fn scratch_file(&self) -> Result<NamedTempFile, Error> {
        Ok(NamedTempFile::new_in(self.root.join("scratch"))?)
    }

    fn object(&self, name: ObjectName) -> PathBuf {
        self.root.join("objects").join(name.to_string())
    }

    fn head_path(&self) -> PathBuf {
        self.root.join("head")
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
}
