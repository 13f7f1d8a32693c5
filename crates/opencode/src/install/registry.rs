//! Downloads with our own HTTP client where there is no npm client, from the registry that its configuration names.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde::Deserialize;
use tokio::{process::Command, time};

use crate::{
    error::Error,
    install::{InstallProgress, Stage, Tell, Wanted, cache::disk, npm},
    pin::Package,
};

/// How long the client may take to say which registry it uses.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a registry says about one version.
#[derive(Deserialize)]
struct VersionManifest {
    dist: Dist,
}

#[derive(Deserialize)]
struct Dist {
    tarball: String,
}

/// Returns the registry of the npm client: what the client itself says, or what its configuration does.
pub async fn registry(environment: &[(OsString, OsString)]) -> Option<String> {
    let asked = async {
        let mut client = Command::new(npm::find(environment)?);
        client.args(["config", "get", "registry"]).env_clear().envs(environment.iter().cloned());
        // Away from any project, whose settings are not the operator's.
        client.current_dir("/").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let output = time::timeout(PATIENCE, client.output()).await.ok()?.ok()?;
        let said = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && said.contains("://")).then_some(said)
    };
    asked.await.or_else(|| find(environment))
}

/// Returns where the registry tells about a version.
pub(crate) fn about(
    name: &str,
    version: &str,
    environment: &[(OsString, OsString)],
) -> Result<String, Error> {
    let registry = find(environment);
    let registry = registry.ok_or_else(|| Error::NoRegistry { package: format!("{name}@{version}") })?;
    Ok(format!("{}/{}/{version}", registry.trim_end_matches('/'), name.replace('/', "%2f")))
}

/// Fetches a package as it was published.
pub(crate) async fn download(
    package: &Package,
    wanted: &Wanted,
    workshop: &Path,
    tell: Tell<'_>,
) -> Result<PathBuf, Error> {
    let failed = |source| Error::Download { package: package.spec(), source };
    let about = about(package.name, &package.version, &wanted.environment)?;
    let manifest: VersionManifest =
        wanted.client.get(about).send().await.and_then(|answer| answer.json()).map_err(failed)?;
    let mut incoming = wanted.client.get(manifest.dist.tarball).stream().await.map_err(failed)?;

    let path = workshop.join("package.tgz");
    let mut file = fs::File::create(&path).map_err(|source| disk("write", &path, source))?;
    let mut done = 0;
    loop {
        let piece = time::timeout(wanted.patience, incoming.chunk()).await;
        let stalled = || Error::Stalled { package: package.spec(), seconds: wanted.patience.as_secs() };
        let Some(piece) = piece.map_err(|_| stalled())?.map_err(failed)? else { return Ok(path) };
        done += piece.len() as u64;
        // Whatever is larger than the pin cannot be what was pinned; there is no need to store it.
        if done > package.bytes {
            return Ok(path);
        }
        file.write_all(&piece).map_err(|source| disk("write", &path, source))?;
        tell(InstallProgress {
            what: package.tool,
            stage: Stage::Downloading { done, total: package.bytes },
        });
    }
}

/// Returns the registry in the order in which the client itself would look: environment, user, machine.
fn find(environment: &[(OsString, OsString)]) -> Option<String> {
    let value = |wanted: &str| {
        let (_, value) =
            environment.iter().find(|(name, _)| name.eq_ignore_ascii_case(OsStr::new(wanted)))?;
        Some(value.clone())
    };
    if let Some(registry) = value("npm_config_registry") {
        return registry.into_string().ok();
    }
    let user = value("npm_config_userconfig").map(PathBuf::from);
    let user = user.or_else(|| Some(PathBuf::from(value("HOME")?).join(".npmrc")));
    let machine = value("npm_config_globalconfig").map_or_else(usual_files, |path| vec![path.into()]);
    user.into_iter().chain(machine).find_map(|path| setting(&fs::read_to_string(path).ok()?))
}

/// Where npm clients look by default, depending on who built them.
fn usual_files() -> Vec<PathBuf> {
    ["/usr/local/etc/npmrc", "/usr/etc/npmrc", "/etc/npmrc"].map(PathBuf::from).into()
}

fn setting(npmrc: &str) -> Option<String> {
    npmrc.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "registry").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(environment: &[(&str, &str)], expect: Option<&str>) {
        let environment: Vec<_> =
            environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        assert_eq!(find(&environment).as_deref(), expect, "{environment:?}");
    }

    #[test]
    fn the_registry_is_the_one_that_the_client_would_use() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("own.npmrc");
        fs::write(home.path().join(".npmrc"), "fund=false\nregistry = \"http://home.test/\"\n").unwrap();
        fs::write(&own, "registry=http://own.test\n").unwrap();
        let (home, own) = (home.path().to_str().unwrap(), own.to_str().unwrap());

        check(&[("HOME", home)], Some("http://home.test/"));
        check(&[("HOME", home), ("NPM_CONFIG_USERCONFIG", own)], Some("http://own.test"));
        check(&[("HOME", "/nowhere"), ("npm_config_globalconfig", own)], Some("http://own.test"));
        check(&[("HOME", home), ("npm_config_registry", "http://env.test")], Some("http://env.test"));
    }
}
