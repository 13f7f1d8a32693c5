//! An engine that the machine already has: used if it is the wanted version, and set up like any other.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{process::Command, time};

use super::Wanted;
use crate::pin::Package;

/// How long it may take to say its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// Finds it on the `PATH`. What lies in the checkout is not the machine's: strangers write there.
pub(super) async fn find(engine: &Package, wanted: &Wanted) -> Option<PathBuf> {
    let (_, path) = wanted.environment.iter().find(|(name, _)| name == "PATH")?;
    let files = std::env::split_paths(path).filter_map(|folder| folder.join("opencode").canonicalize().ok());
    let binary =
        files.into_iter().find(|file| is_program(file) && !is_below(file, wanted.checkout.as_deref()))?;
    let version = version(&binary).await?;
    let fits = version == *engine.version;
    if !fits {
        tracing::info!("{} is OpenCode {version}, not {}", binary.display(), engine.version);
    }
    fits.then_some(binary)
}

/// Tells a program from the script by which npm starts one, which would need node behind the wall.
fn is_program(file: &Path) -> bool {
    let mut beginning = [0; 4];
    File::open(file).and_then(|mut file| file.read_exact(&mut beginning)).is_ok() && beginning == *b"\x7fELF"
}

fn is_below(file: &Path, folder: Option<&Path>) -> bool {
    folder.and_then(|folder| folder.canonicalize().ok()).is_some_and(|folder| file.starts_with(folder))
}

/// Asks it for its version, in a home of its own.
async fn version(binary: &Path) -> Option<String> {
    let home = tempfile::tempdir().ok()?;
    let mut command = Command::new(binary);
    command.arg("--version").env_clear().env("HOME", home.path()).env("TMPDIR", home.path());
    let output = time::timeout(PATIENCE, command.stdin(Stdio::null()).kill_on_drop(true).output()).await;
    let output = output.ok()?.ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
