//! The settings that live with the repository: a file of its default branch, never of a change that is looked at.

use fro_core::Fault;
use fro_github::GitHub;

/// Where they are.
pub const REPO_SETTINGS: &str = ".github/fro-bot.toml";

/// Reads the file, if the repository has one. One that cannot be read may forbid something, so it is a fault.
pub async fn repo_settings(github: &GitHub) -> Result<Option<String>, Fault> {
    github.file(REPO_SETTINGS, "").await.map_err(|error| error.fault())
}
