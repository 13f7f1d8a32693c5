//! What git could not do, and who has to act.

use std::{io, path::PathBuf};

use fro_core::Fault;

use crate::StillRunning;

/// Something about the agent's repository went wrong.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("cannot start `git`")]
    Start(#[source] io::Error),
    /// git said no.
    #[error("`git {command}` failed: {said}")]
    Failed {
        /// What it was asked.
        command: String,
        /// What it said.
        said: String,
    },
    /// git took longer, or printed more, than it is allowed to.
    #[error("`git {command}` came to no end: {why}")]
    Overrun {
        /// What it was asked.
        command: String,
        /// What was too much.
        why: String,
    },
    /// The agent's processes did not stand still while git read what they wrote.
    #[error("what lies in the clone cannot be believed: {0}")]
    Moved(#[source] StillRunning),
    /// A file or folder of ours could not be made.
    #[error("cannot prepare `{path}` for the agent")]
    Prepare {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl GitError {
    pub(super) fn prepare(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Prepare { path, source }
    }

    /// What git said makes no sense.
    pub(super) fn unread(command: &str) -> Self {
        Self::Failed { command: command.to_owned(), said: "its answer cannot be read".to_owned() }
    }

    /// Says who has to act.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Start(cause) => Fault::yours(format!("{self}: {cause}"), "install git on this machine"),
            Self::Failed { .. } => Fault::yours(
                self.to_string(),
                "let the workflow run `actions/checkout` first, and give the token `contents: read`",
            ),
            Self::Overrun { .. } => {
                Fault::yours(self.to_string(), "see that the checkout holds no more than the work needs")
            }
            Self::Moved(_) => Fault::ours(self.to_string()),
            Self::Prepare { source, .. } => Fault::yours(
                format!("{self}: {source}"),
                "see that the folder for temporary files can be written and has room",
            ),
        }
    }
}
