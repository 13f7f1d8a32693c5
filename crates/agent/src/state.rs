//! What a run leaves for the step after it, in case it is killed.
//!
//! It lies in the folder that the agent cannot reach, and goes with it when the run ends by itself.

use std::{
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use fro_boundary::WallProcess;
use fro_core::Fault;
use fro_memory::Head;
use serde::{Deserialize, Serialize};

const FILE: &str = "state.json";

/// What has to be known to save the memory of a killed run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The id of the run, so that no other one is finished by mistake.
    pub(crate) run: String,
    /// The engine's data folder.
    pub(crate) engine_data: PathBuf,
    /// The sessions that served the run.
    pub(crate) sessions: Vec<String>,
    /// The save that the engine started from.
    pub(crate) parent: Option<Head>,
    /// The engine's version, which the memory is stamped with.
    pub(crate) engine_version: Option<String>,
    /// The wall that the engine was behind.
    pub(crate) wall: Option<WallProcess>,
}

impl State {
    /// Writes it down, in one move: whoever reads it sees the old or the new.
    pub(crate) fn write(&self, private: &Path) -> io::Result<()> {
        let new = private.join("state.new");
        fs_err::write(&new, serde_json::to_vec(self)?)?;
        fs_err::rename(new, private.join(FILE))
    }

    /// Reads it, if the run came so far.
    pub(crate) fn read(private: &Path) -> Result<Option<Self>, Fault> {
        let failed = |error: io::Error| Fault::ours(format!("cannot read what the run left: {error}"));
        let file = private.join(FILE);
        match is_ours(private).and_then(|()| is_ours(&file)).and_then(|()| fs_err::read(&file)) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| failed(error.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}

/// Refuses what another user of the machine could have put there.
fn is_ours(path: &Path) -> io::Result<()> {
    let about = fs_err::symlink_metadata(path)?;
    let own = fs_err::metadata("/proc/self")?.uid();
    if about.uid() == own && about.mode() & 0o022 == 0 && !about.is_symlink() {
        return Ok(());
    }
    Err(io::Error::other(format!("`{}` may be of somebody else", path.display())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_others_could_have_written_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(State::read(folder.path()).unwrap(), None);
        let state = State {
            run: "42".to_owned(),
            engine_data: "data".into(),
            sessions: vec!["ses_1".to_owned()],
            parent: None,
            engine_version: Some("1.18.33".to_owned()),
            wall: WallProcess::find(std::process::id()),
        };
        state.write(folder.path()).unwrap();
        assert_eq!(State::read(folder.path()).unwrap(), Some(state));
        let open = std::fs::Permissions::from_mode(0o622);
        fs_err::set_permissions(folder.path().join(FILE), open).unwrap();
        let fault = State::read(folder.path()).unwrap_err();
        assert!(fault.what().ends_with("may be of somebody else"), "{fault}");
    }
}
