//! What the engine is given and what it is kept from, for one run.

use std::{
    ffi::{OsStr, OsString},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use fro_boundary::{Address, Strictness, Toolbox, WallSpec, environment, probe};
use fro_core::Fault;
use fro_opencode::Engine;
use serde_json::Value;

use crate::settings::{EngineSettings, Settings, Unwalled};

/// How long the wall lets the engine end by itself; less than the server waits for the wall.
const GRACE: Duration = Duration::from_secs(3);

/// How the engine is started.
pub(crate) struct Wall {
    /// The command that it is started through.
    pub(crate) command: Vec<OsString>,
    /// All that it gets of the harness's environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// What stands, in words.
    pub(crate) told: String,
}

/// Draws the wall around an engine that lives in `home` and works in the checkout.
///
/// A machine that cannot give it is refused here, before anything starts.
pub(crate) fn around(home: &Path, settings: &Settings, engine: &Engine) -> Result<Wall, Fault> {
    let host = &settings.engine;
    let strictness = match host.unwalled {
        Unwalled::Refused => Strictness::Required,
        Unwalled::Allowed => Strictness::AllowUnwalled,
    };
    let walls = probe().map_err(|error| error.fault())?;
    walls.suffice(strictness).map_err(|error| error.fault())?;
    let tools = toolbox(settings);
    let mut read = tools.read().to_vec();
    read.extend([engine.binary.clone(), engine.rg.clone()]);
    let spec = WallSpec {
        read,
        write: vec![home.to_owned(), settings.workspace.clone()],
        connect: models(&host.config),
        strictness,
        grace: GRACE,
        ..WallSpec::default()
    };
    let mut command: Vec<OsString> = vec![host.program.clone().into(), "wall".into()];
    command.extend(spec.arguments());
    command.extend(["--listen".into(), fro_opencode::PORT.into(), "--".into()]);
    let given = environment(host.environment.iter().cloned(), &tools, []);
    Ok(Wall { command, environment: given.variables.into_iter().collect(), told: walls.to_string() })
}

/// Chooses the programs of the machine that the engine may use.
fn toolbox(settings: &Settings) -> Toolbox {
    let host = &settings.engine;
    let home = host.variable("HOME").map(PathBuf::from);
    let private: Vec<PathBuf> =
        home.into_iter().chain([settings.scratch.clone(), settings.workspace.clone()]).collect();
    let path = host.variable("PATH").unwrap_or(OsStr::new("/usr/bin:/bin"));
    Toolbox::from_path(path, &private, |path| fs_err::canonicalize(path).ok())
}

/// Returns where the configured models are. A name is no address: behind the wall nothing resolves it.
fn models(config: &Value) -> Vec<Address> {
    let providers = config.get("provider").and_then(Value::as_object);
    let urls = providers
        .into_iter()
        .flat_map(|providers| providers.values())
        .filter_map(|provider| provider.pointer("/options/baseURL")?.as_str());
    let mut addresses: Vec<SocketAddr> = urls.flat_map(addresses).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses.into_iter().map(Address::Tcp).collect()
}

fn addresses(url: &str) -> Vec<SocketAddr> {
    let Ok(url) = fro_http::Url::parse(url) else { return Vec::new() };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let ips = match host {
        "localhost" => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        _ => host.parse().into_iter().collect::<Vec<IpAddr>>(),
    };
    let port = url.port_or_known_default();
    ips.into_iter().filter_map(|ip| Some(SocketAddr::new(ip, port?))).collect()
}

impl EngineSettings {
    /// Returns a variable of the harness.
    fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_engine_reaches_the_configured_models_only() {
        let config = json!({"provider": {
            "local": {"options": {"baseURL": "http://127.0.0.1:4800/v1"}},
            "cloud": {"options": {"baseURL": "https://models.example/v1"}},
            "six": {"options": {"baseURL": "http://[::1]:4801/v1"}},
            "same": {"options": {"baseURL": "http://localhost:4800/v2"}},
        }});
        let places: Vec<_> = models(&config).iter().map(ToString::to_string).collect();
        assert_eq!(places, ["127.0.0.1:4800", "[::1]:4800", "[::1]:4801"]);
        assert_eq!(models(&json!({})), []);
    }
}
