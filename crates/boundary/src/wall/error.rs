//! Why a wall could not be put up.

use std::{ffi::OsString, io, path::PathBuf};

use fro_core::Fault;

/// A wall that does not stand. The engine was not started, or is gone again.
#[derive(Debug, thiserror::Error)]
pub enum WallError {
    /// The arguments of `wall` make no sense.
    #[error("cannot read the arguments of `wall`: {0}")]
    Arguments(String),
    /// This machine cannot give a wall that the engine must not be without.
    #[error("cannot wall the engine in: {0}")]
    Unavailable(String),
    /// A folder that the engine was to write is not there.
    #[error("cannot open the engine's folder `{path}`", path = path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A call to the kernel failed that should not.
    #[error("cannot {0}")]
    Kernel(&'static str, #[source] io::Error),
    /// The engine's program could not be started.
    #[error("cannot start `{program}` behind the wall", program = program.display())]
    Program {
        /// The program.
        program: OsString,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl WallError {
    /// Says who has to act.
    pub fn fault(&self) -> Fault {
        let what = self.to_string();
        match self {
            Self::Unavailable(_) => Fault::yours(
                what,
                "use a machine with Linux 6.7 or newer, or set `allow-unwalled: true` where the agent may see \
                 and do whatever its user can",
            ),
            Self::Arguments(_) => Fault::yours(what, "see `fro-bot wall --help`"),
            Self::Folder { .. } | Self::Kernel(..) | Self::Program { .. } => Fault::ours(what),
        }
    }

    /// Puts the doing into words for an error of the kernel.
    pub(super) fn kernel<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Kernel(doing, source.into())
    }
}
