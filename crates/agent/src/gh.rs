//! `gh` for the engine: a socket whose broker has the token, and the settings that lead `gh` there.

use std::{ffi::OsString, path::Path};

use fro_boundary::{Address, Deeds, GhBroker, GhCalls, Upstream};
use fro_core::{Fault, Permit};
use tempfile::TempDir;

use crate::process::Process;

/// What the engine's `gh` needs.
pub(crate) struct Gh {
    broker: GhBroker,
    environment: Vec<(OsString, OsString)>,
    /// Outside the engine's folders: what it can write, it could replace by a link to another socket.
    _folder: TempDir,
}

impl Gh {
    /// Opens the broker in a folder that the agent cannot reach; `home` is the engine's, where `gh` finds its settings.
    pub(crate) fn open(
        process: &Process,
        permit: &Permit,
        home: &Path,
        private: &Path,
        deeds: Deeds,
    ) -> Result<Self, Fault> {
        let failed = |error: std::io::Error| Fault::ours(format!("cannot open a socket for `gh`: {error}"));
        let folder = tempfile::Builder::new().prefix("fro-bot-gh-").tempdir_in(private);
        let folder = folder.map_err(failed)?;
        let settings = &process.settings;
        let server = server_of(&settings.server);
        let upstream = Upstream {
            api: settings.github.api.clone(),
            graphql: settings.github.graphql.clone(),
            server: server.to_owned(),
            repo: permit.repo().clone(),
            subject: permit.subject().number(),
            token: settings.token.clone(),
            secrets: settings.secrets().cloned().collect(),
        };
        let broker = GhBroker::open(&folder.path().join("s"), upstream, process.client()?, deeds);
        let broker = broker.map_err(failed)?;
        let config = home.join("gh");
        fs_err::create_dir_all(&config).map_err(failed)?;
        let socket = format!("http_unix_socket: {}\n", broker.socket().display());
        fs_err::write(config.join("config.yml"), socket).map_err(failed)?;
        let environment = vec![
            ("GH_CONFIG_DIR".into(), config.into()),
            ("GH_HOST".into(), server.into()),
            ("GH_TOKEN".into(), "placeholder".into()),
            ("GH_ENTERPRISE_TOKEN".into(), "placeholder".into()),
            ("GH_REPO".into(), permit.repo().to_string().into()),
            ("GH_PROMPT_DISABLED".into(), "1".into()),
            ("GH_NO_UPDATE_NOTIFIER".into(), "1".into()),
        ];
        Ok(Self { broker, environment, _folder: folder })
    }

    /// Returns the socket, for the wall's list.
    pub(crate) fn address(&self) -> Address {
        Address::Unix(self.broker.socket().to_owned())
    }

    /// Returns the variables that lead `gh` to the broker.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        self.environment.clone()
    }

    /// Returns how often it was asked.
    pub(crate) fn calls(&self) -> GhCalls {
        self.broker.calls()
    }
}

/// Returns the host that `gh` knows GitHub by. It knows no ports: where there is one, it is left to believe that this
/// is github.com, and only what it asks of a remote by name is lost.
fn server_of(server: &str) -> &str {
    let host = server.split_once("://").map_or(server, |(_, rest)| rest).trim_end_matches('/');
    if host.contains(':') { "github.com" } else { host }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gh_knows_hosts_but_no_ports() {
        assert_eq!(server_of("https://github.com"), "github.com");
        assert_eq!(server_of("https://github.example.org/"), "github.example.org");
        assert_eq!(server_of("http://127.0.0.1:8080"), "github.com");
    }
}
