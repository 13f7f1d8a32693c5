//! Downloads by the npm client, which knows its registry, its proxy and its certificates.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use tokio::{
    process::{Child, Command},
    time,
};

use crate::{
    error::Error,
    install::{InstallProgress, Stage, Tell, Wanted, cache::disk},
    pin::Package,
};

/// How often the growing download is measured.
const MEASURE: Duration = Duration::from_millis(100);

/// How long a killed client may take to die.
const DEATH: Duration = Duration::from_millis(500);

/// Returns the npm client on the `PATH` of this environment.
pub(crate) fn find(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let (_, path) = environment.iter().find(|(name, _)| name == "PATH")?;
    std::env::split_paths(path).map(|folder| folder.join("npm")).find(|npm| npm.is_file())
}

/// Has the client fetch a package as it was published.
///
/// Its working folder and its cache are the workshop: no project's settings apply, nothing stays in anybody's home, and
/// the growing of the folder is the progress that the client does not tell.
pub(crate) async fn pack(
    npm: &Path,
    package: &Package,
    wanted: &Wanted,
    workshop: &Path,
    tell: Tell<'_>,
) -> Result<PathBuf, Error> {
    let output = workshop.join("npm.log");
    let log = fs::File::create(&output).map_err(|source| disk("write", &output, source))?;
    let mut client = NpmClient::start(npm, package, wanted, workshop, log)?;
    let mut growth = Growth { bytes: 0, since: Instant::now() };
    let status = loop {
        if let Ok(ended) = time::timeout(MEASURE, client.0.wait()).await {
            break ended.map_err(|source| Error::Start { program: npm.to_owned(), source })?;
        }
        let done = growth.measure(workshop).min(package.bytes);
        tell(InstallProgress {
            what: package.tool,
            stage: Stage::Downloading { done, total: package.bytes },
        });
        if growth.since.elapsed() > wanted.patience {
            return Err(Error::Stalled { package: package.spec(), seconds: wanted.patience.as_secs() });
        }
    };
    match packed(workshop) {
        Some(path) if status.success() => Ok(path),
        _ => Err(Error::Npm { package: package.spec(), status, said: last_words(&output) }),
    }
}

/// A running client. When it is dropped it is really gone, or it would write into a folder that is being removed.
struct NpmClient(Child);

impl NpmClient {
    fn start(
        npm: &Path,
        package: &Package,
        wanted: &Wanted,
        workshop: &Path,
        log: fs::File,
    ) -> Result<Self, Error> {
        let child = Command::new(npm)
            .args(["pack", &package.spec(), "--ignore-scripts", "--loglevel=error", "--no-update-notifier"])
            // By itself it waits a minute before it says that nobody is there.
            .args(["--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=3000"])
            .arg("--cache")
            .arg(workshop.join("npm-cache"))
            .current_dir(workshop)
            .env_clear()
            .envs(wanted.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn();
        child.map(Self).map_err(|source| Error::Start { program: npm.to_owned(), source })
    }
}

impl Drop for NpmClient {
    fn drop(&mut self) {
        let deadline = Instant::now() + DEATH;
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < deadline {
            let _gone = self.0.start_kill();
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// How large the workshop is, and since when.
struct Growth {
    bytes: u64,
    since: Instant,
}

impl Growth {
    fn measure(&mut self, folder: &Path) -> u64 {
        let bytes = size(folder);
        if bytes != self.bytes {
            *self = Self { bytes, since: Instant::now() };
        }
        bytes
    }
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

fn packed(workshop: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(workshop).ok()?.flatten();
    entries.map(|entry| entry.path()).find(|path| path.extension() == Some(OsStr::new("tgz")))
}

/// Returns what the client complained about: its lines without their prefix, the pointer to its log left out.
fn last_words(output: &Path) -> String {
    let said = fs::read(output).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let complaint =
        |line: &'_ str| line.strip_prefix("npm error ").or(line.strip_prefix("npm ERR! ")).map(str::to_owned);
    let lines = said.lines().filter_map(complaint).filter(|line| !line.contains("_logs"));
    let words: Vec<_> = lines.take(4).collect();
    if words.is_empty() { "it said nothing".to_owned() } else { words.join("; ").chars().take(400).collect() }
}
