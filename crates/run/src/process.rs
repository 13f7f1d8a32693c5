//! What is built once for a whole process, however many events it answers.

use fro_core::{Fault, Redactor, RepoName};
use fro_github::GitHub;

use crate::settings::{RunOptions, Settings};

/// What a process has: the operator's wishes, and what starts engines, with the HTTP client and the redactor. Clones share
/// the client and its connections.
pub type Process = RunOptions<fro_agent::Process>;

impl Process {
    /// Takes the settings; nothing is opened yet.
    pub fn new(settings: Settings) -> Self {
        settings.with_agent(fro_agent::Process::new)
    }

    /// Returns this process with other settings, as when the repository's own file adds to them. The client stays:
    /// how requests travel is not the repository's to say.
    #[must_use]
    pub fn with(&self, settings: Settings) -> Self {
        settings.with_agent(|agent| self.agent.with(agent))
    }

    /// Knows every credential of the settings.
    pub fn redactor(&self) -> &Redactor {
        &self.agent.redactor
    }

    /// Speaks to GitHub about a repository, with our own credential.
    pub fn github(&self, repo: &RepoName) -> Result<GitHub, Fault> {
        self.agent.github(repo)
    }
}
