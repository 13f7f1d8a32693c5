//! What can go wrong with memory, and which of it is damage.

use std::{error::Error as _, io, path::PathBuf};

use fro_core::Fault;

use crate::store::ObjectName;

/// A failure to recall or keep.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused; the source names the file.
    #[error("cannot read or write a file of the memory")]
    Files(#[from] io::Error),
    /// SQLite refused for a reason other than the content.
    #[error("cannot {deed}")]
    Sqlite {
        /// What was being done, on what.
        deed: &'static str,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The engine has a database already, and nobody knows what is in it.
    #[error("cannot restore the memory over the file {}", .0.display())]
    Occupied(PathBuf),
    /// A secret stood in the bytes that were about to be stored, after every secret had been taken out.
    #[error("a secret is still in the memory, so it was not saved")]
    Leak,
    /// What was read is not what it should be.
    #[error(transparent)]
    Flawed(#[from] Flaw),
}

/// Why stored bytes cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The head holds something else than a name.
    #[error("the head of the memory does not name an object")]
    Head,
    /// An object is not there.
    #[error("the object {0} is missing")]
    Missing(ObjectName),
    /// An object does not hash to its name.
    #[error("the object {0} is not what its name says")]
    Altered(ObjectName),
    /// Something is larger than we are willing to handle.
    #[error("{what} is larger than {limit} bytes")]
    TooLarge {
        /// What is too large.
        what: String,
        /// The most we take.
        limit: u64,
    },
    /// The manifest is not one.
    #[error("the manifest cannot be read: {0}")]
    Manifest(String),
    /// The manifest was written by another release.
    #[error("the memory has format {found}, this release reads format {readable}")]
    Format {
        /// What the manifest says.
        found: u64,
        /// What we read.
        readable: u64,
    },
    /// The database does not have what its manifest says.
    #[error("the database does not match its manifest: {0}")]
    Unpacked(String),
    /// The memory was written by an engine that this one cannot follow.
    #[error("the memory is of engine {found}, which knows more than {ours}")]
    EngineNewer {
        /// The version that wrote it.
        found: String,
        /// The version that would have to read it.
        ours: String,
    },
    /// The database is malformed, or holds what the engine never puts there.
    #[error("the database is not sound: {0}")]
    Unsound(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        let what = format!("{error}{cause}");
        match error {
            Error::Files(_) => {
                Fault::yours(what, "check that the folder of the memory is writable and its disk has room")
            }
            Error::Occupied(_) => Fault::yours(what, "give each run an engine folder of its own"),
            Error::Sqlite { .. } | Error::Leak | Error::Flawed(_) => Fault::ours(what),
        }
    }
}
