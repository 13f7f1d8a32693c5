//! git as the harness runs it: heeding no settings but ours, asking nobody, running nothing that a repository names.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use data_encoding::BASE64;
use fro_core::Secret;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
    time::timeout,
};

use crate::{
    Confinement,
    git::{GitError, authorities::BUNDLE},
    wall::is_system,
};

/// The program.
const NAME: &str = "git";

/// What of the harness's environment git needs: its programs, and the way to the network.
const KEPT: [&str; 10] = [
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "PATH",
    "TMPDIR",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

const OURS: [(&str, &str); 7] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ALLOW_PROTOCOL", "http:https"),
    ("GIT_LFS_SKIP_SMUDGE", "1"),
    ("HOME", "/nonexistent"),
    ("LC_ALL", "C"),
];

/// Settings that no repository can undo, since they stand on the command line.
const SETTINGS: [&str; 7] = [
    "core.hooksPath=/dev/null",
    // Who is led elsewhere would show the credential there.
    "http.followRedirects=false",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "safe.directory=*",
    "gc.auto=0",
    "advice.detachedHead=false",
];

/// How long git may speak with GitHub: a large history takes minutes.
const PATIENCE: Duration = Duration::from_mins(10);

/// The most that git may print while it speaks with GitHub.
const PRINTED: usize = 1 << 20;

/// The longest complaint of git's that is passed on.
const LONGEST: usize = 500;

/// Starts git for the harness.
#[derive(Debug, Clone)]
pub struct Git {
    /// Named by its path, so that no copy of this process is made to look for it.
    program: OsString,
    pub(super) environment: Vec<(OsString, OsString)>,
    credential: Option<(String, Secret)>,
    /// How long it may speak with GitHub.
    patience: Duration,
    /// How it is run over what the agent wrote.
    pub(super) confinement: Confinement,
}

impl Git {
    /// Takes what git needs from the environment of the harness.
    pub fn new<'a>(
        host: impl IntoIterator<Item = &'a (OsString, OsString)>,
        confinement: Confinement,
    ) -> Self {
        let host: Vec<_> = host.into_iter().collect();
        let kept = host.iter().filter(|(name, _)| KEPT.iter().any(|kept| name == *kept));
        let mut environment: Vec<(OsString, OsString)> = kept.map(|pair| (*pair).clone()).collect();
        let authorities = host.iter().find(|(name, _)| name == "SSL_CERT_FILE");
        environment.extend(authorities.map(|(_, file)| (BUNDLE.into(), file.clone())));
        environment.extend(OURS.map(|(name, value)| (name.into(), value.into())));
        let program = on_path(&environment).map_or_else(|| NAME.into(), Into::into);
        Self { program, environment, credential: None, patience: PATIENCE, confinement }
    }

    /// Returns a git that shows this token to this server, and to no other.
    ///
    /// It travels in the environment: other processes can read a command line.
    #[must_use]
    pub fn with_token(&self, server: &str, token: &Secret) -> Self {
        let key = format!("http.{}/.extraHeader", server.trim_end_matches('/'));
        Self { credential: Some((key, token.clone())), ..self.clone() }
    }

    /// Returns a git that may speak with GitHub for so long.
    #[must_use]
    pub fn patient_for(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Returns a git that knows no credential.
    #[must_use]
    pub(super) fn without_token(&self) -> Self {
        Self { credential: None, ..self.clone() }
    }

    /// Returns the command line of a git that works in a repository.
    pub(super) fn command_line(repository: &Path) -> Vec<OsString> {
        let place = ["--git-dir".into(), OsString::from(repository)];
        Self::words_of_ours().into_iter().chain(place).collect()
    }

    /// Returns the command line of a git that is told by other means where to work.
    pub(super) fn words_of_ours() -> Vec<OsString> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]);
        [NAME.into()].into_iter().chain(settings).collect()
    }

    /// Returns an environment with nothing in it but where programs are, and our settings.
    pub(super) fn bare_environment(&self) -> Vec<(OsString, OsString)> {
        let path = self.environment.iter().filter(|(name, _)| name == "PATH").cloned();
        path.chain(OURS.map(|(name, value)| (name.into(), value.into()))).collect()
    }

    /// Returns the folder that git is installed in, if it is not one of the system's.
    pub(super) fn prefix(&self) -> Option<PathBuf> {
        let file = fs_err::canonicalize(on_path(&self.environment)?).ok()?;
        let prefix = file.parent()?.parent()?;
        (!is_system(&file) && prefix.parent().is_some()).then(|| prefix.to_owned())
    }

    /// Begins a command in a repository.
    pub(super) fn at(&self, repository: &Path) -> Command {
        let mut command = self.anywhere();
        command.arg("--git-dir").arg(repository);
        command
    }

    /// Begins a command that is told by other means where to work.
    pub(super) fn anywhere(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.environment.iter().cloned()).kill_on_drop(true);
        if let Some((key, token)) = &self.credential {
            let pair = BASE64.encode(format!("x-access-token:{}", token.expose()).as_bytes());
            command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", key);
            command.env("GIT_CONFIG_VALUE_0", format!("Authorization: basic {pair}"));
        }
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
    }

    /// Runs a command in a repository and returns what it said, without the last line's end.
    pub(super) async fn run<A: AsRef<OsStr>>(
        &self,
        repository: &Path,
        arguments: &[A],
    ) -> Result<String, GitError> {
        let mut command = self.at(repository);
        command.args(arguments);
        let said = feed(&mut command, &words(arguments), b"").await?;
        Ok(String::from_utf8_lossy(&said).trim_end_matches('\n').to_owned())
    }

    /// Runs a command that speaks with GitHub to its end, or to the end of what it may take: both what is said to it and
    /// the time that it needs are another's to choose.
    pub(super) async fn errand(&self, command: &mut Command, name: &str) -> Result<Output, GitError> {
        // Helpers are ended with it.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut running = command.spawn().map_err(GitError::Start)?;
        let group = running.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let (out, err) = (running.stdout.take(), running.stderr.take());
        let heard = async {
            let (stdout, stderr) = tokio::try_join!(printed(out), printed(err))?;
            Ok(Output { status: running.wait().await.map_err(|error| error.to_string())?, stdout, stderr })
        };
        let heard = timeout(self.patience, heard).await;
        let seconds = self.patience.as_secs();
        heard.unwrap_or_else(|_| Err(format!("it took longer than {seconds} s"))).map_err(|why| {
            // It may have ended just now.
            let _gone = group.map(|group| kill_process_group(group, Signal::KILL));
            GitError::Overrun { command: name.to_owned(), why }
        })
    }

    /// Runs a command that reads something.
    pub(super) async fn feed(
        &self,
        repository: &Path,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        let mut command = self.at(repository);
        command.args(arguments);
        feed(&mut command, &words(arguments), input).await
    }
}

/// Returns where git is, by the `PATH` of an environment.
fn on_path(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let (_, path) = environment.iter().find(|(name, _)| name == "PATH")?;
    let mut folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.find_map(|folder| Some(folder.join(NAME)).filter(|file| file.is_file()))
}

/// Reads what is printed, if it is not too much.
async fn printed(from: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, String> {
    let mut said = Vec::new();
    if let Some(from) = from {
        let read = from.take(PRINTED as u64 + 1).read_to_end(&mut said).await;
        read.map_err(|error| error.to_string())?;
    }
    if said.len() > PRINTED {
        return Err(format!("it printed more than {} MiB", PRINTED >> 20));
    }
    Ok(said)
}

/// Gives a command its input and waits for all of its output.
pub(super) async fn feed(command: &mut Command, name: &str, input: &[u8]) -> Result<Vec<u8>, GitError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().map_err(GitError::Start)?;
    let stdin = running.stdin.take();
    let writing = async {
        if let Some(mut stdin) = stdin {
            // A command that has read enough may close its input.
            drop(stdin.write_all(input).await);
        }
    };
    let ((), output) = tokio::join!(writing, running.wait_with_output());
    succeeded(output.map_err(GitError::Start)?, name)
}

/// Returns what a command printed, unless it failed.
pub(super) fn succeeded(output: Output, name: &str) -> Result<Vec<u8>, GitError> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(GitError::Failed { command: name.to_owned(), said: complaint(&output.stderr) })
}

/// Puts what git complains of on one line.
pub(super) fn complaint(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(LONGEST).collect()
}

/// Names a command by its first words.
fn words<A: AsRef<OsStr>>(arguments: &[A]) -> String {
    let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
    words.filter(|word| !word.starts_with('-')).take(2).collect::<Vec<_>>().join(" ")
}

/// Returns the `.git` of a folder, which may be a file that names the real one.
pub(super) fn git_dir(folder: &Path) -> PathBuf {
    folder.join(".git")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wall::{Enclosure, Strictness};

    #[tokio::test]
    async fn what_prints_without_an_end_is_ended() {
        let confinement = Confinement {
            launcher: Vec::new(),
            strictness: Strictness::Required,
            enclosure: Enclosure::Open,
        };
        let git = Git::new(&[], confinement).patient_for(Duration::from_mins(1));
        let overrun = git.errand(&mut Command::new("yes"), "push").await.unwrap_err();
        assert_eq!(overrun.to_string(), "`git push` came to no end: it printed more than 1 MiB");
    }
}
