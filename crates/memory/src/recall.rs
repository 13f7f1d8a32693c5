//! Puts the newest memory in place before the engine starts, or says why the start is clean.

use std::{
    io::{Read as _, Write as _},
    path::Path,
};

use fs_err::{File, os::unix::fs::OpenOptionsExt as _};
use jiff::Timestamp;
use zstd::stream::read::Decoder;

use crate::{
    database::{self, MAX_DATABASE},
    error::{Error, Flaw},
    manifest::Manifest,
    private,
    store::{Head, folder::Folder},
};

/// The largest window a frame may ask for, as a power of two; ours need 2 MiB.
const MAX_WINDOW: u32 = 23;

/// What the engine starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recall {
    /// The database is in place.
    Warm {
        /// Points at the save it came from.
        head: Head,
        /// How many sessions it has.
        sessions: u32,
        /// How large the database is.
        bytes: u64,
        /// When it was saved.
        saved_at: Timestamp,
    },
    /// Nothing was ever kept.
    Cold,
    /// What was kept cannot be trusted; it was set aside and the engine starts with nothing.
    Damaged {
        /// What is wrong with it.
        why: Flaw,
    },
}

impl Recall {
    /// Returns the parent of the save that ends this run.
    pub fn head(&self) -> Option<&Head> {
        match self {
            Self::Warm { head, .. } => Some(head),
            Self::Cold | Self::Damaged { .. } => None,
        }
    }
}

/// Restores the newest memory into the engine's data folder (`XDG_DATA_HOME`), which has no database yet.
pub fn recall(folder: &Folder, engine_data: &Path) -> Result<Recall, Error> {
    let Some(head) = folder.head()? else { return Ok(Recall::Cold) };
    match restore(folder, &head, engine_data) {
        Ok(Manifest { sessions, bytes, saved_at, .. }) => {
            Ok(Recall::Warm { head, sessions, bytes, saved_at })
        }
        Err(Error::Flawed(why)) => {
            folder.set_aside(&head)?;
            Ok(Recall::Damaged { why })
        }
        Err(error) => Err(error),
    }
}

fn restore(folder: &Folder, head: &Head, engine_data: &Path) -> Result<Manifest, Error> {
    let manifest = Manifest::read(folder.get(head.manifest()?)?)?;
    let packed = folder.get(manifest.database)?;

    private::folder(engine_data)?;
    let home = database::home(engine_data)?;
    private::folder(&home)?;
    database::refuse_occupied(&home.join(database::FILE))?;
    let scratch = tempfile::tempdir_in(&home)?;
    let copy = scratch.path().join(database::FILE);
    unpack(packed, manifest.bytes, &copy)?;
    let sessions = database::inspect(&database::open(&copy)?)?;
    if sessions != manifest.sessions {
        return Err(Flaw::Unpacked(format!("it has {sessions} sessions")).into());
    }
    fs_err::rename(copy, home.join(database::FILE))?;
    Ok(manifest)
}

/// Unpacks an object into a new private file, reading no further than the manifest speaks of.
fn unpack(packed: File, bytes: u64, copy: &Path) -> Result<(), Error> {
    if bytes > MAX_DATABASE {
        return Err(Flaw::TooLarge { what: "the database".to_owned(), limit: MAX_DATABASE }.into());
    }
    let mut decoder = Decoder::new(packed)?;
    decoder.window_log_max(MAX_WINDOW)?;
    let mut content = decoder.take(bytes + 1);
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).mode(0o600).open(copy)?;
    let mut buffer = vec![0; 64 << 10];
    let mut written = 0;
    loop {
        // The object is what its name says, so whatever fails here is in it, not on the disk.
        let n = content.read(&mut buffer).map_err(|error| Flaw::Unpacked(error.to_string()))?;
        if n == 0 {
            break;
        }
        written += n as u64;
        file.write_all(&buffer[..n])?;
    }
    if written != bytes {
        return Err(Flaw::Unpacked(format!("it does not have {bytes} bytes")).into());
    }
    Ok(())
}
