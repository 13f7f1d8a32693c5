//! What can go wrong with memory, and which of it is damage.

use std::{
    error::{self, Error as _},
    io,
    path::PathBuf,
};

use fro_core::{Fault, fault::Retry};

use crate::store::{ObjectName, Place};

/// A failure to recall or keep.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused; the source names the file.
    #[error("cannot read or write a file of the memory")]
    Files(#[source] io::Error),
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
    /// A store over the network did not do what it was asked.
    #[error("cannot {deed}: {why}")]
    Remote {
        /// What was asked, of which store.
        deed: String,
        /// What became of it.
        why: Refusal,
        /// What the wire said.
        #[source]
        source: Option<Box<dyn error::Error + Send + Sync>>,
    },
    /// A store cannot be opened with these settings.
    #[error("cannot use {place} as a store: {why}")]
    Settings {
        /// Which store.
        place: Place,
        /// What is wrong with them.
        why: String,
    },
    /// A secret stood in the bytes that were about to be stored, after every secret had been taken out.
    #[error("a secret is still in the memory, so it was not saved")]
    Leak,
    /// What was read is not what it should be.
    #[error(transparent)]
    Flawed(#[from] Flaw),
}

/// How a store over the network says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The store did not answer in time.
    #[error("it cannot be reached")]
    Unreachable,
    /// Our credentials do not suffice.
    #[error("access is denied")]
    Denied,
    /// This run's token may read the store, but not write to it.
    #[error("this run may only read it")]
    ReadOnly,
    /// There is no room left.
    #[error("it is full")]
    Full,
    /// It answered with an error, or with something else than it should.
    #[error("it does not work as it should")]
    Failing,
}

/// Why stored bytes cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The head holds something else than a name.
    #[error("the head of the memory does not name an object")]
    Head,
    /// There are saves, and no head that names one.
    #[error("its head is gone")]
    Headless,
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
    /// What a save has of a session cannot be read.
    #[error("its session {0} cannot be read")]
    Session(String),
    /// Rows are not written as they should be.
    #[error("the rows of a session cannot be read: {0}")]
    Rows(String),
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

impl Error {
    /// Tells why a store over the network said no, if one did.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Remote { why, .. } => Some(*why),
            _ => None,
        }
    }

    /// Tells the error together with its deepest cause, which is the one that helps.
    pub fn story(&self) -> String {
        let mut deepest = self.source();
        while let Some(deeper) = deepest.and_then(error::Error::source) {
            deepest = Some(deeper);
        }
        deepest.map_or_else(|| self.to_string(), |cause| format!("{self}: {cause}"))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        // A store that fails while it is read can say so only through `Read`.
        error.downcast().unwrap_or_else(Self::Files)
    }
}

/// Sorts an error of reading a pack: bytes that make no sense are damage, a store that fails is not.
pub(crate) fn nonsense(error: io::Error) -> io::Error {
    match error.downcast::<Error>() {
        Ok(error) => io::Error::other(error),
        Err(_) => io::Error::from(io::ErrorKind::InvalidData),
    }
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
            Error::Settings { .. } => Fault::yours(what, "fix the settings of the memory's store"),
            Error::Remote { why: Refusal::Denied, .. } => {
                Fault::yours(what, "check the credentials of the memory's store and what they may do")
            }
            Error::Remote { why: Refusal::ReadOnly | Refusal::Full, .. } => {
                Fault::yours(what, "let the run write to its store, or keep the memory in S3")
            }
            Error::Remote { why: Refusal::Unreachable | Refusal::Failing, .. } => {
                Fault::upstream(what, Retry::Later)
            }
            Error::Sqlite { .. } | Error::Leak | Error::Flawed(_) => Fault::ours(what),
        }
    }
}
