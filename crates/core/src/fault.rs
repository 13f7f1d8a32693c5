//! What went wrong, sorted by who has to act.

use std::{
    fmt,
    io::{self, ErrorKind},
    path::Path,
    time::Duration,
};

use crate::say::summary::duration;

/// The next step where a disk is full.
const MAKE_ROOM: &str =
    "make room on that disk, or name a folder on another in `TMPDIR` (in a workflow `RUNNER_TEMP`)";

/// A failure as people are told of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The person who set this up has to change something.
    Yours {
        /// What failed, on what.
        what: String,
        /// The next step.
        hint: String,
    },
    /// Somebody else's service failed.
    Upstream {
        /// What failed, on what.
        what: String,
        /// When trying again may help.
        retry: Retry,
    },
    /// A mistake of this program.
    Ours {
        /// What failed, on what.
        what: String,
    },
}

/// Whether trying again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Not before this time has passed.
    After(Duration),
    /// At any later time.
    Later,
    /// Another try will fail in the same way.
    Never,
}

impl Fault {
    /// Makes a fault that the reader can mend.
    pub fn yours(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Yours { what: what.into(), hint: hint.into() }
    }

    /// Makes a fault of somebody else's service.
    pub fn upstream(what: impl Into<String>, retry: Retry) -> Self {
        Self::Upstream { what: what.into(), retry }
    }

    /// Makes a fault of our own.
    pub fn ours(what: impl Into<String>) -> Self {
        Self::Ours { what: what.into() }
    }

    /// Says that the disk of a folder for temporary files is full. Its owner can fix that.
    pub fn disk_full(folder: &Path) -> Self {
        Self::yours(format!("the disk that has `{}` is full", folder.display()), MAKE_ROOM)
    }

    /// Sorts a failure in the folder for temporary files: most are the machine's, and its owner can fix them.
    pub fn in_temporary_folder(what: &str, error: &io::Error) -> Self {
        let what = format!("{what}: {error}");
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::yours(what, MAKE_ROOM),
            ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::NotFound
            | ErrorKind::NotADirectory => Self::yours(
                what,
                "name a folder that can be written in `TMPDIR` (in a workflow `RUNNER_TEMP`)",
            ),
            _ => Self::ours(what),
        }
    }

    /// Returns what failed, on what.
    pub fn what(&self) -> &str {
        match self {
            Self::Yours { what, .. } | Self::Upstream { what, .. } | Self::Ours { what } => what,
        }
    }

    /// Returns the next step for the reader.
    pub fn hint(&self) -> String {
        match self {
            Self::Yours { hint, .. } => hint.clone(),
            Self::Upstream { retry: Retry::After(wait), .. } => {
                let wait = match wait.as_secs() {
                    seconds @ 0..60 => format!("{} s", seconds.max(1)),
                    _ => duration(*wait),
                };
                format!("try again in {wait}")
            }
            Self::Upstream { retry: Retry::Later, .. } => "try again in a few minutes".to_owned(),
            Self::Upstream { retry: Retry::Never, .. } => {
                "trying again will not help; see the log for what it said".to_owned()
            }
            Self::Ours { .. } => {
                "this is a bug in fro-bot; please report it with the log of this run".to_owned()
            }
        }
    }

    /// Returns the exit code that says who has to act: 2 the reader, 3 another service, 1 us.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Yours { .. } => 2,
            Self::Upstream { .. } => 3,
            Self::Ours { .. } => 1,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_cannot_be_written_is_for_its_owner_to_mend() {
        let told = |kind: ErrorKind| Fault::in_temporary_folder("cannot make a folder", &kind.into());
        for kind in [ErrorKind::StorageFull, ErrorKind::PermissionDenied, ErrorKind::NotFound] {
            let fault = told(kind);
            assert_eq!(fault.exit_code(), 2, "{kind}");
            assert!(fault.hint().contains("`TMPDIR`"), "{fault:?}");
        }
        assert_eq!(told(ErrorKind::BrokenPipe).exit_code(), 1);
    }

    #[test]
    fn how_long_to_wait_is_said_as_people_say_it() {
        let hint =
            |seconds| Fault::upstream("GitHub is busy", Retry::After(Duration::from_secs(seconds))).hint();
        assert_eq!(
            [0, 30, 3_600].map(hint),
            ["try again in 1 s", "try again in 30 s", "try again in 1 h 0 min"]
        );
    }

    #[test]
    fn every_fault_has_a_next_step_and_an_exit_code() {
        let faults = [
            Fault::yours("the token was refused", "check `github-token`"),
            Fault::upstream("GitHub answered 503", Retry::Later),
            Fault::ours("a plan without a subject"),
        ];
        let told: Vec<_> =
            faults.iter().map(|fault| (fault.to_string(), fault.hint(), fault.exit_code())).collect();
        insta::assert_debug_snapshot!(told, @r#"
        [
            (
                "the token was refused",
                "check `github-token`",
                2,
            ),
            (
                "GitHub answered 503",
                "try again in a few minutes",
                3,
            ),
            (
                "a plan without a subject",
                "this is a bug in fro-bot; please report it with the log of this run",
                1,
            ),
        ]
        "#);
    }
}
