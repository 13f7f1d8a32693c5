//! The engine's files below `storage/`, read as untrusted input: no link is followed, nothing outside is opened.

use std::{io::Read as _, os::fd::OwnedFd, path::Path};

use fs_err::File;
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, openat2};

use super::{pack::MAX_CHUNK, place::FilePlace};
use crate::error::{Error, Flaw};

const MAX_FILES: usize = 200_000;

/// A larger file is no memory of a session.
const MAX_FILE: u64 = 64 << 20;

/// Returns how many chunks a file of this length has.
pub(crate) fn chunks(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(u64::from(MAX_CHUNK))).unwrap_or(u32::MAX)
}

/// The engine's folder, opened once, so that no path can be swapped for another.
pub(crate) struct Files {
    home: OwnedFd,
}

impl Files {
    /// Opens the engine's folder.
    pub(crate) fn open(home: &Path) -> Result<Self, Error> {
        Ok(Self { home: std::fs::File::from(File::open(home)?).into() })
    }

    /// Returns all files with names that we take, in order; other things are left out.
    pub(crate) fn list(&self) -> Result<Vec<FilePlace>, Error> {
        let mut places = Vec::new();
        let mut folders = vec!["storage".to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(opened) = self.enter(&folder, OFlags::DIRECTORY) else { continue };
            for entry in Dir::new(opened).map_err(std::io::Error::from)? {
                let entry = entry.map_err(std::io::Error::from)?;
                let Ok(name) = entry.file_name().to_str() else { continue };
                let path = format!("{folder}/{name}");
                match entry.file_type() {
                    FileType::Directory if !matches!(name, "." | "..") => folders.push(path),
                    FileType::RegularFile => places.extend(FilePlace::parse(&path)),
                    _ => {}
                }
                if places.len() + folders.len() > MAX_FILES {
                    let what = "the number of files in `storage/`".to_owned();
                    return Err(Flaw::TooLarge { what, limit: MAX_FILES as u64 }.into());
                }
            }
        }
        places.sort();
        Ok(places)
    }

    /// Returns the content of a file, or nothing if it is gone, no file or too large.
    pub(crate) fn read(&self, place: &FilePlace) -> Result<Option<Vec<u8>>, Error> {
        let Ok(opened) = self.enter(place.as_str(), OFlags::NONBLOCK) else { return Ok(None) };
        let file = std::fs::File::from(opened);
        let about = file.metadata()?;
        if !about.is_file() || about.len() > MAX_FILE {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default() + 1);
        file.take(MAX_FILE + 1).read_to_end(&mut content)?;
        Ok((content.len() as u64 <= MAX_FILE).then_some(content))
    }

    fn enter(&self, path: &str, how: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | how;
        openat2(&self.home, path, flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
    }
}
