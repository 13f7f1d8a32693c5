//! A confined git that reads what the agent made: without a credential, within limits, with the store's settings.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    confined::{Bounds, ConfinedOutput, ConfinedTask},
    git::{Git, GitError, command::complaint},
    wall::Enclosure,
};

const BOUNDS: Bounds =
    Bounds { time: Duration::from_mins(1), memory: 2 << 30, file: 512 << 20, output: 128 << 20 };

/// Settings that keep a hostile file from filling the memory.
const FRUGAL: [&str; 6] = [
    "core.untrackedCache=false",
    "core.bigFileThreshold=16m",
    "core.packedGitWindowSize=16m",
    "core.packedGitLimit=256m",
    "core.preloadIndex=false",
    "advice.addEmbeddedRepo=false",
];

/// A git that reads.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    pub(super) git: Git,
    pub(super) repository: PathBuf,
    /// All folders of objects that the repository refers to.
    pub(super) objects: Vec<PathBuf>,
    /// The only folder that it writes; the agent cannot look there.
    pub(super) scratch: PathBuf,
}

/// What it is asked.
#[derive(Debug)]
pub(super) struct GitQuestion<'a> {
    pub(super) arguments: Vec<OsString>,
    pub(super) input: &'a [u8],
    /// Where objects are looked for besides the repository, and written.
    pub(super) objects: &'a Path,
    /// The agent's files, if they are what it is asked about.
    pub(super) clone: Option<&'a Path>,
    /// Whose files those are.
    pub(super) enclosure: Enclosure,
}

impl Reader {
    /// Asks git and returns what it prints.
    pub(super) async fn ask(&self, question: GitQuestion<'_>) -> Result<Vec<u8>, GitError> {
        let name = question.arguments.first().map(|word| word.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let mut confinement = self.git.confinement.clone();
        let enclosure = question.enclosure;
        let errand = self.errand(question)?;
        confinement.enclosure = enclosure.if_readable(&errand.read);
        match confinement.run(errand).await {
            Ok(ConfinedOutput { status, output, .. }) if status.success() => Ok(output),
            Ok(ConfinedOutput { complaint: said, .. }) => {
                Err(GitError::Failed { command: name, said: complaint(&said) })
            }
            Err(overrun) => Err(GitError::Overrun { command: name, why: overrun.to_string() }),
        }
    }

    fn errand(&self, question: GitQuestion<'_>) -> Result<ConfinedTask, GitError> {
        let GitQuestion { arguments, input, objects, clone, .. } = question;
        let scratch = &self.scratch;
        let given = scratch.join("input");
        let made = fs_err::create_dir_all(scratch).and_then(|()| fs_err::write(&given, input));
        made.map_err(GitError::prepare(scratch))?;
        let mut command = Git::command_line(&self.repository);
        command.extend(FRUGAL.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]));
        command.extend(clone.into_iter().flat_map(|clone| ["--work-tree".into(), OsString::from(clone)]));
        command.extend(arguments);
        let mut environment = self.git.bare_environment();
        environment.extend([
            ("GIT_INDEX_FILE".into(), scratch.join("index").into()),
            ("GIT_OBJECT_DIRECTORY".into(), objects.into()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES".into(), self.repository.join("objects").into()),
            ("TMPDIR".into(), scratch.clone().into()),
        ]);
        let own = [&self.repository].into_iter().chain(&self.objects).cloned();
        Ok(ConfinedTask {
            command,
            environment,
            folder: clone.unwrap_or(scratch).to_owned(),
            read: own.chain(self.git.prefix()).chain(clone.map(Path::to_owned)).collect(),
            write: vec![scratch.clone()],
            connect: Vec::new(),
            input: Some(given),
            bounds: BOUNDS,
        })
    }
}
