//! What stands around the wall where root is at hand: namespaces of the engine's own, and another user.

use std::{
    ffi::OsStr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rustix::process::{getgid, getuid};
use tokio::{io::AsyncReadExt as _, process::Command, time::timeout};

use crate::wall::{Strictness, WallSpec};

/// Where `sudo` is looked for: never on a path, where somebody could put another one.
pub(super) const SUDO: &str = "/usr/bin/sudo";

/// How long the trial may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What stands around the wall.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Enclosure {
    /// Nothing: root is not at hand.
    #[default]
    Open,
    /// Namespaces and another user. The harness is root.
    Root,
    /// Namespaces. They take root, whom `sudo` lends; then the engine is this user again, as the harness is.
    Sudo(User),
}

/// A user of the machine, with the one group that is left to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// The user's number.
    pub id: u32,
    /// The group's number.
    pub group: u32,
}

impl User {
    /// Who owns nothing. It has a name on every machine, which many tools insist on.
    pub(super) const NOBODY: Self = Self { id: 65_534, group: 65_534 };

    fn own() -> Self {
        Self { id: getuid().as_raw(), group: getgid().as_raw() }
    }
}

impl Enclosure {
    /// Finds out what this machine can give, by having `fro-bot wall` (of this `program`) put it up.
    pub async fn find(program: &Path) -> Self {
        let enclosure = if getuid().is_root() { Self::Root } else { Self::Sudo(User::own()) };
        if enclosure != Self::Root && !Path::new(SUDO).exists() {
            return Self::Open;
        }
        match timeout(PATIENCE, enclosure.tried(program)).await {
            Ok(Ok(())) => enclosure,
            Ok(Err(why)) => {
                tracing::debug!("nothing is put around the wall: {why}");
                Self::Open
            }
            Err(_) => Self::Open,
        }
    }

    /// Gives the other user up where it could not read what the engine is made of: root may have a strict umask.
    #[must_use]
    pub fn if_readable(self, paths: &[PathBuf]) -> Self {
        let is_root_s = |path: &&PathBuf| {
            fs_err::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o004 == 0)
        };
        match (self, paths.iter().find(is_root_s)) {
            (Self::Root, Some(path)) => {
                tracing::warn!("the engine runs as root: no other user can read `{}`", path.display());
                Self::Open
            }
            (kept, _) => kept,
        }
    }

    /// Puts it up around a command that does nothing; only what is around the wall counts.
    async fn tried(self, program: &Path) -> Result<(), String> {
        let spec = WallSpec {
            enclosure: self,
            strictness: Strictness::AllowUnwalled,
            grace: Duration::ZERO,
            ..WallSpec::default()
        };
        let mut trial = Command::new(program);
        trial.arg("wall").args(spec.arguments()).args(["--", "/bin/sh", "-c", ":"]);
        trial.env_clear().current_dir("/").kill_on_drop(true);
        trial.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut trial = trial.spawn().map_err(|error| error.to_string())?;
        // The lifeline has to stay whole until the end.
        let (_lifeline, mut said) = (trial.stdin.take(), String::new());
        if let Some(mut stderr) = trial.stderr.take() {
            // What cannot be read cannot be told.
            drop(stderr.read_to_string(&mut said).await);
        }
        let status = trial.wait().await.map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(said) }
    }

    /// Returns the user that the engine becomes behind the wall.
    pub(super) fn engine_s_user(self) -> Option<User> {
        match self {
            Self::Root => Some(User::NOBODY),
            Self::Open | Self::Sudo(_) => None,
        }
    }

    /// Reads what [`Enclosure::argument`] writes.
    pub(super) fn parse(text: &OsStr) -> Option<Self> {
        match text.to_str()?.split_once(':') {
            None => (text == ROOT).then_some(Self::Root),
            Some((id, group)) => Some(Self::Sudo(User { id: id.parse().ok()?, group: group.parse().ok()? })),
        }
    }

    /// Returns the value of `--enclose`, if there is anything to enclose with.
    pub(super) fn argument(self) -> Option<String> {
        match self {
            Self::Open => None,
            Self::Root => Some(ROOT.to_owned()),
            Self::Sudo(User { id, group }) => Some(format!("{id}:{group}")),
        }
    }
}

const ROOT: &str = "root";

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn another_user_has_to_be_able_to_read_the_engine() {
        let folder = tempfile::tempdir().unwrap();
        let engine = folder.path().join("engine");
        fs_err::write(&engine, "").unwrap();
        let with = |mode: u32, enclosure: Enclosure| {
            fs_err::set_permissions(&engine, Permissions::from_mode(mode)).unwrap();
            enclosure.if_readable(&[PathBuf::from("/nowhere"), engine.clone()])
        };
        let sudo = Enclosure::Sudo(User { id: 1001, group: 1001 });

        assert_eq!(with(0o755, Enclosure::Root), Enclosure::Root);
        assert_eq!(with(0o700, Enclosure::Root), Enclosure::Open);
        assert_eq!(with(0o700, sudo), sudo);
    }
}
