//! What is built once for a whole process, however many engines it starts: the HTTP client and the redactor, beside
//! what the operator says.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use fro_core::{Fault, Redactor, RepoName, Secret};
use fro_github::GitHub;
use fro_http::Client;
use fro_opencode::{ToolCache, Wanted};
use jiff::Timestamp;

use crate::settings::{Elevated, EngineSettings, Settings};

/// What a process has. Clones share the client and its connections.
#[derive(Debug, Clone)]
pub struct Process {
    /// What the operator says.
    pub settings: Settings,
    /// Knows every credential of the settings.
    pub redactor: Redactor,
    /// Built when something is first asked: most events are for nobody here, and reading the system's certificates
    /// would be most of what they cost.
    client: Arc<OnceLock<Client>>,
}

impl Process {
    /// Takes the settings; nothing is opened yet.
    pub fn new(settings: Settings) -> Self {
        let redactor = Redactor::knowing(settings.secrets());
        Self { settings, redactor, client: Arc::default() }
    }

    /// Returns this process with other settings, as when the repository's own file adds to them. The client stays:
    /// how requests travel is not the repository's to say.
    #[must_use]
    pub fn with(&self, settings: Settings) -> Self {
        Self { client: Arc::clone(&self.client), ..Self::new(settings) }
    }

    /// Returns the one HTTP client.
    pub fn client(&self) -> Result<Client, Fault> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let built = Client::new(self.settings.client.clone()).map_err(|error| error.fault())?;
        Ok(self.client.get_or_init(|| built).clone())
    }

    /// Returns this process with a token of the App's for a repository, where no other was given. It is good for an hour.
    pub async fn signed_in(self, repo: &RepoName) -> Result<Self, Fault> {
        let Elevated::App(app, _) = &self.settings.elevated else { return Ok(self) };
        if !self.settings.token.expose().is_empty() {
            return Ok(self);
        }
        let minted = app.mint(&self.settings.github, repo, &self.client()?, Timestamp::now()).await;
        let token = minted.map_err(|error| error.fault())?.token;
        Ok(self.with(Settings { token, ..self.settings.clone() }))
    }

    /// Speaks to GitHub about a repository, with our own credential.
    pub fn github(&self, repo: &RepoName) -> Result<GitHub, Fault> {
        self.github_as(self.settings.token.clone(), repo)
    }

    /// Speaks to GitHub about a repository, with this credential.
    pub fn github_as(&self, token: Secret, repo: &RepoName) -> Result<GitHub, Fault> {
        Ok(GitHub::new(self.settings.github.clone(), token, repo.clone(), self.client()?))
    }

    /// Returns what is to be installed, and where to. Nothing in the checkout counts as installed.
    pub fn tools(&self, checkout: PathBuf) -> Result<(Wanted, ToolCache), Fault> {
        let EngineSettings { version, environment, tool_cache, .. } = &self.settings.engine;
        let wanted = Wanted::pinned(environment.clone(), self.client()?);
        let wanted = Wanted { version: version.clone(), checkout: Some(checkout), ..wanted };
        Ok((wanted, ToolCache::new(tool_cache)))
    }
}
