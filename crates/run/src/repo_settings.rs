//! The settings that live with the repository: a file of its default branch, never of a change that is looked at.

use fro_core::Fault;
use fro_github::GitHub;

use crate::settings::Settings;

/// Where they are.
pub const REPO_SETTINGS: &str = ".github/fro-bot.toml";

/// Reads the settings anew, below what the workflow says.
pub type Reread<'a> = &'a (dyn Fn(&str) -> Result<Settings, Fault> + Sync);

/// Reads the file, if the repository has one. One that cannot be read may forbid something, so it is a fault.
pub async fn repo_settings(github: &GitHub) -> Result<Option<String>, Fault> {
    github.file(REPO_SETTINGS, "").await.map_err(|error| error.fault())
}

/// Returns the settings that hold with such a file.
pub(crate) fn below(settings: &Settings, file: Option<&str>, reread: Reread<'_>) -> Result<Settings, Fault> {
    file.map_or_else(|| Ok(settings.clone()), reread)
}
