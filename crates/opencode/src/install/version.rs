//! Which version of a package is installed: the pinned one, the newest, or one that an operator named.

use std::{str::FromStr, time::Duration};

use serde::Deserialize;
use tokio::{process::Command, time};

use crate::{
    error::Error,
    install::{Wanted, npm, registry},
    pin::Package,
};

/// How long the registry may take to name its newest version.
const PATIENCE: Duration = Duration::from_secs(30);

/// A choice of version.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Version {
    /// The one that this source was proven with, by its exact bytes.
    #[default]
    Pinned,
    /// The newest that the registry has.
    Latest,
    /// The version of this number.
    Exactly(String),
}

/// A text that is no version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write `latest` or a version such as `1.18.33`")]
pub struct NotAVersion;

impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let number = text.strip_prefix('v').unwrap_or(text);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        match text {
            "latest" => Ok(Self::Latest),
            "pinned" => Ok(Self::Pinned),
            _ if number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(plain) => {
                Ok(Self::Exactly(number.to_owned()))
            }
            _ => Err(NotAVersion),
        }
    }
}

/// Returns the package in the version that was chosen.
pub(crate) async fn choose(package: &Package, version: &Version, wanted: &Wanted) -> Result<Package, Error> {
    Ok(match version {
        Version::Pinned => package.clone(),
        Version::Exactly(version) => package.at(version.clone()),
        Version::Latest => package.at(latest(package.name, wanted).await?),
    })
}

#[derive(Deserialize)]
struct OwnManifest {
    version: String,
}

/// Asks the registry, by the npm client where there is one.
async fn latest(name: &str, wanted: &Wanted) -> Result<String, Error> {
    let Some(npm) = npm::find(&wanted.environment) else {
        let about = registry::about(name, "latest", &wanted.environment)?;
        let failed = |source| Error::Download { package: format!("{name}@latest"), source };
        let answer = wanted.client.get(about).send().await.map_err(failed)?;
        return Ok(answer.json::<OwnManifest>().map_err(failed)?.version);
    };
    let mut command = Command::new(&npm);
    command.args(["view", &format!("{name}@latest"), "version"]).env_clear().kill_on_drop(true);
    command.envs(wanted.environment.iter().map(|(name, value)| (name, value)));
    let stalled = |_| Error::Stalled { package: format!("{name}@latest"), seconds: PATIENCE.as_secs() };
    let output = time::timeout(PATIENCE, command.output()).await.map_err(stalled)?;
    let output = output.map_err(|source| Error::Start { program: npm, source })?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !version.is_empty() {
        return Ok(version);
    }
    let said = String::from_utf8_lossy(&output.stderr).chars().take(400).collect();
    Err(Error::Npm { package: format!("{name}@latest"), status: output.status, said })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_number_or_a_word() {
        assert_eq!("latest".parse(), Ok(Version::Latest));
        assert_eq!("v1.18.33".parse(), Ok(Version::Exactly("1.18.33".to_owned())));
        assert_eq!("1.0.0-beta.2".parse(), Ok(Version::Exactly("1.0.0-beta.2".to_owned())));
        for wrong in ["", "newest", "1.0 --registry=x", "../1.0"] {
            assert_eq!(wrong.parse::<Version>(), Err(NotAVersion), "{wrong}");
        }
    }
}
